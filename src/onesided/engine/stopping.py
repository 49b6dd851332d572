"""Work that waits for a server, and that Ctrl-C ends there before it interrupts anything here."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

Result = TypeVar("Result")
_SECONDS_BETWEEN_ATTEMPTS = 0.1


def stoppable(work: Callable[[], Result], cancel: Callable[[], None]) -> Result:
    """What `work` gives, unless Ctrl-C comes: then `cancel` is called until `work` has ended.

    `work` gets a thread of its own, since in the main thread a driver would take the signal itself
    and report an error like any other. The interruption waits for the end of that thread: whoever
    sees it closes the connection, which crashes the process where a thread still uses it.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    answer: Future[Result] = Future()
    with _interruptions_held() as held:
        thread = threading.Thread(target=_settle, args=(answer, work))
        thread.start()
        while thread.is_alive():
            if held:
                # A server forgets what reaches it before the statement does: ask until it ends.
                cancel()
            thread.join(_SECONDS_BETWEEN_ATTEMPTS)
    if held:
        raise held[0]
    return answer.result()


def _settle(answer: Future[Result], work: Callable[[], Result]) -> None:
    try:
        answer.set_result(work())
    except BaseException as error:  # told to whoever waits for the answer
        answer.set_exception(error)


@contextmanager
def _interruptions_held() -> Iterator[list[BaseException]]:
    """Collects what the handler of Ctrl-C raises, so that nothing is raised within."""
    held: list[BaseException] = []
    before = signal.getsignal(signal.SIGINT)
    if not callable(before):  # ignored, or deadly
        yield held
        return

    def hold(number: int, frame: FrameType | None) -> None:
        try:
            before(number, frame)
        except BaseException as interruption:
            held.append(interruption)

    signal.signal(signal.SIGINT, hold)
    try:
        yield held
    finally:
        signal.signal(signal.SIGINT, before)
