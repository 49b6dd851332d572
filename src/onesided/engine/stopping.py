"""Work that waits for a server, and that a signal ends there before it interrupts anything here."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from onesided.signals import signals_held

Result = TypeVar("Result")
_SECONDS_BETWEEN_ATTEMPTS = 0.1


def stoppable(work: Callable[[], Result], cancel: Callable[[], None]) -> Result:
    """What `work` gives, unless a signal interrupts: `cancel` is called until `work` has ended.

    `work` gets a thread of its own, since in the main thread a driver would take the signal itself
    and report an error like any other. The interruption waits for the end of that thread: whoever
    sees it closes the connection, which crashes the process where a thread still uses it.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    answer: Future[Result] = Future()
    with signals_held() as held:
        thread = threading.Thread(target=_settle, args=(answer, work))
        thread.start()
        while thread.is_alive():
            if held:
                # A server forgets what reaches it before the statement does: ask until it ends.
                cancel()
            thread.join(_SECONDS_BETWEEN_ATTEMPTS)
    return answer.result()


def _settle(answer: Future[Result], work: Callable[[], Result]) -> None:
    try:
        answer.set_result(work())
    except BaseException as error:  # told to whoever waits for the answer
        answer.set_exception(error)
