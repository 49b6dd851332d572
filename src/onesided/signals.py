"""Signals that end a program wait while something is done that must not stop halfway."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: Those that ask a program to end. A system may lack some of them.
ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


@contextmanager
def signals_held() -> Iterator[list[BaseException]]:
    """Collects what the handlers of ending signals raise, and raises the first of it at the end.

    Whoever clears the list goes on as if nothing had come. A handler that raises nothing acts at
    once. Other threads are never interrupted, so there is nothing to hold there.
    """
    held: list[BaseException] = []
    if threading.current_thread() is not threading.main_thread():
        yield held
        return
    # Those that are ignored or deadly have no handler here.
    before = {number: handler for number in ENDING if callable(handler := signal.getsignal(number))}

    def hold(number: int, frame: FrameType | None) -> None:
        try:
            before[number](number, frame)
        except BaseException as interruption:
            held.append(interruption)

    try:
        for number in before:
            signal.signal(number, hold)
        yield held
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if held:
            raise held[0]
