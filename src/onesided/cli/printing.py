"""Standard output: what is printed arrives, or whoever printed it is told that it did not."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import click


class ReaderGone(Exception):
    """Nobody reads any more, as after `| head`; there is nobody to be told either."""


class NotPrinted(Exception):
    """Standard output is closed, or what it leads to is full."""


def say(text: str) -> None:
    """A text and a line end on standard output, now."""
    if sys.stdout is None:
        raise NotPrinted
    try:
        click.echo(text)
    except BrokenPipeError:
        raise ReaderGone from None
    except OSError:
        raise NotPrinted from None


def note(text: str) -> None:
    """A text on standard error, where there is one to be read."""
    with suppress(OSError):
        click.echo(text, err=True)


def silence() -> None:
    """Drop what could not be printed: the interpreter would try it again at its end, and fail."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fill_closed_streams() -> None:
    """Lead closed standard streams nowhere: the next file to be opened would be one of them."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
