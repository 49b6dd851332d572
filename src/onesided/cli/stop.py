"""What signals do to a command that runs: the first one interrupts it, and the next ones nothing.

Where tidying up does not come to its end, one that comes `PATIENCE` seconds after the first ends
the process at once. What is left behind then is removed by the next start.

An exception that a signal raises can be lost on its way: a destructor cannot raise it, a library
reports it as an error of its own, and PyArrow drops it while it looks for pandas. The signal is
therefore remembered, raised again where nothing is on its way out, and asked for at the end.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType

import click

from onesided.errors import Interrupted
from onesided.signals import ENDING

PATIENCE = 5.0
AGAIN = 1.0
ALARM: int = getattr(signal, "SIGALRM", 0)
_LOADER = "<frozen importlib._bootstrap>"
NOTHING_CHARGED = "Interrupted before anything was charged."


class Stop:
    """Handles the ending signals for the time of one command."""

    def __init__(self) -> None:
        self._number: int | None = None
        self._came: float | None = None
        self._raises = False
        self._finished = False
        self._process = os.getpid()

    @classmethod
    def of_this_command(cls) -> Stop:
        """The one that was installed for the command that runs."""
        context = click.get_current_context(silent=True)
        return (context and context.find_object(cls)) or cls()

    @property
    def exit_code(self) -> int | None:
        """What a shell shows for the signal that came; None where none did."""
        return None if self._number is None else 128 + self._number

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._process:  # a fork, which has nothing to tidy up
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        self._came = self._came or monotonic()
        if monotonic() - self._came > PATIENCE and not self._raises:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        if self._number is None and not self._finished:
            self._number = number
        if self._raises:
            _wake_up(AGAIN)
            if _is_loading(frame):
                return
            self._raises = False
            raise KeyboardInterrupt

    def _ask_again(self, number: int, frame: FrameType | None) -> None:
        """Where no interruption is on its way out it was lost, or is held: send it once more."""
        if self._number is None or self._finished:
            return
        if _is_on_its_way() or _is_loading(frame):
            _wake_up(AGAIN)
            return
        self._raises = True
        signal.raise_signal(self._number)

    def begin(self) -> None:
        """Raise from now on where a signal comes, and for one that is there already."""
        self._raises = True
        self.check()

    def check(self) -> None:
        """Raise what got lost on its way."""
        if self._number is not None:
            raise KeyboardInterrupt

    def finish(self) -> None:
        """All is done: a signal that comes from now on changes nothing."""
        self._finished = True
        self._raises = False
        if self._number is not None:
            _wake_up(0)

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
    def installed(self, *, to_the_end: bool = False) -> Iterator[None]:
        """Handle the signals within the block, and leave them as they were.

        With `to_the_end` of the process they are ignored from then on: nothing is left to be done.
        """
        before = {}
        for number in ENDING if _may_handle() else ():
            handler = signal.getsignal(number)
            # Whoever had us ignore a signal wants us to go on.
            if handler not in (signal.SIG_IGN, None):
                before[number] = handler
        clock = signal.getsignal(ALARM) if before and ALARM else None
        report = sys.unraisablehook

        def unraisable(lost: sys.UnraisableHookArgs) -> None:
            """Python would print what a destructor cannot raise."""
            if not isinstance(lost.exc_value, KeyboardInterrupt):
                report(lost)

        sys.unraisablehook = unraisable
        try:
            if clock is not None:
                signal.signal(ALARM, self._ask_again)
            for number in before:
                signal.signal(number, self)
            yield
        finally:
            self.finish()
            for number, handler in before.items():
                signal.signal(number, signal.SIG_IGN if to_the_end else handler)
            if clock is not None:
                signal.signal(ALARM, clock)
            sys.unraisablehook = report


def _wake_up(seconds: float) -> None:
    if ALARM and _may_handle():
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _is_on_its_way() -> bool:
    """Whether what runs now tidies up behind an interruption."""
    error = sys.exc_info()[1]
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _is_loading(frame: FrameType | None) -> bool:
    """Whether a module is being loaded: a native one that is interrupted ends the process."""
    while frame is not None:
        if frame.f_code.co_filename == _LOADER:
            return True
        frame = frame.f_back
    return False


def _may_handle() -> bool:
    """Python lets the main thread alone handle signals."""
    return threading.current_thread() is threading.main_thread()
