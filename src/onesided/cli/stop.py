"""What signals do to a command that runs: the first one interrupts it, and later ones nothing.

An exception that a signal raises can be lost on its way, as where it meets a library that reports
it as an error of its own. The signal is therefore remembered, and asked for where it matters.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from onesided.errors import Interrupted
from onesided.signals import ENDING

NOTHING_CHARGED = "Interrupted before anything was charged."


class Stop:
    """Handles the ending signals for the time of one command."""

    def __init__(self) -> None:
        self._number: int | None = None
        self._raised = False
        self._finished = False
        self._process = os.getpid()

    @property
    def exit_code(self) -> int | None:
        """What a shell shows for the signal that came; None where none did."""
        return None if self._number is None else 128 + self._number

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._process:  # a fork, which has nothing to tidy up
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        if not (self._raised or self._finished):
            self._raised = True
            self._number = number
            raise KeyboardInterrupt

    def check(self) -> None:
        """Raise what got lost on its way."""
        if self._number is not None:
            raise KeyboardInterrupt

    def finish(self) -> None:
        """All is done: a signal that comes from now on changes nothing."""
        self._finished = True

    @contextmanager
    def telling(self, sentence: Callable[[], str]) -> Iterator[None]:
        """Whoever interrupts the block is told `sentence`, unless it says one itself."""
        try:
            yield
            self.check()
        except Interrupted:
            raise
        except BaseException as error:
            if self._number is None and not isinstance(error, KeyboardInterrupt):
                raise
            raise Interrupted(sentence()) from None

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Handle the signals within the block, and leave them as they were."""
        before = {}
        for number in ENDING if _may_handle() else ():
            handler = signal.getsignal(number)
            # Whoever had us ignore a signal wants us to go on.
            if handler not in (signal.SIG_IGN, None):
                before[number] = handler
        report = sys.unraisablehook

        def unraisable(lost: sys.UnraisableHookArgs) -> None:
            """Within a destructor nothing can be raised, and Python would only print it."""
            if isinstance(lost.exc_value, KeyboardInterrupt):
                self._raised = False  # the next signal may interrupt; this one is remembered
            else:
                report(lost)

        sys.unraisablehook = unraisable
        try:
            for number in before:
                signal.signal(number, self)
            yield
        finally:
            self.finish()
            for number, handler in before.items():
                signal.signal(number, handler)
            sys.unraisablehook = report


def ignore_signals() -> None:
    """Nothing is left to be interrupted but the end of the process."""
    if _may_handle():
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)


def _may_handle() -> bool:
    """Python lets the main thread alone handle signals."""
    return threading.current_thread() is threading.main_thread()
