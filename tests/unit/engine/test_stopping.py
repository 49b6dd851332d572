"""Ctrl-C while another thread waits for a server: it interrupts once that thread has ended."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from onesided.engine.stopping import stoppable


@contextmanager
def handling_ctrl_c(handler: Any) -> Iterator[None]:
    """Have it, and find it unchanged in the end."""
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        assert signal.signal(signal.SIGINT, before) is handler


@pytest.fixture(autouse=True)
def ctrl_c() -> Iterator[None]:
    """As for a program on a terminal; a shell lets what it runs in the background ignore it."""
    with handling_ctrl_c(signal.default_int_handler):
        yield


def never() -> None:
    raise AssertionError("nothing was interrupted")


def test_an_answer_and_an_error_come_through() -> None:
    assert stoppable(lambda: 7, never) == 7
    with pytest.raises(ZeroDivisionError):
        stoppable(lambda: 1 // 0, never)


def interrupted_after(seconds: float, work: Callable[[], None]) -> None:
    """`work` with Ctrl-C so long after it is asked for, or a little later."""
    asked = threading.Event()

    def interrupt() -> None:
        asked.wait()
        moment = time.perf_counter() + seconds
        while time.perf_counter() < moment:  # a sleep is too coarse
            pass
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        asked.set()
        stoppable(work, lambda: None)
    finally:
        thread.join()


@pytest.mark.parametrize("microseconds", range(0, 600, 20))
def test_work_has_ended_whenever_the_interruption_is_seen(microseconds: int) -> None:
    """Also where Ctrl-C comes while the thread is being started."""
    begun, ended = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        time.sleep(0.004)
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        interrupted_after(microseconds / 1e6, work)
    assert ended.is_set() or not begun.is_set()


def test_a_server_that_misses_the_first_attempts_is_asked_again() -> None:
    attempts: list[float] = []
    third = threading.Event()

    def cancel() -> None:
        attempts.append(time.monotonic())
        if len(attempts) == 3:
            third.set()

    def work() -> None:
        signal.raise_signal(signal.SIGINT)
        assert third.wait(60)
        raise OSError("cancelled")

    with pytest.raises(KeyboardInterrupt):
        stoppable(work, cancel)
    assert len(attempts) >= 3


def test_a_handler_that_goes_on_cancels_nothing() -> None:
    heard: list[int] = []
    with handling_ctrl_c(lambda number, _: heard.append(number)):
        assert stoppable(lambda: signal.raise_signal(signal.SIGINT), never) is None
    assert heard == [signal.SIGINT]


def test_whoever_ignores_ctrl_c_keeps_ignoring_it() -> None:
    with handling_ctrl_c(signal.SIG_IGN):
        assert stoppable(lambda: signal.raise_signal(signal.SIGINT), never) is None


def test_other_threads_work_by_themselves() -> None:
    seen: list[threading.Thread] = []
    thread = threading.Thread(
        target=lambda: stoppable(lambda: seen.append(threading.current_thread()), never)
    )
    thread.start()
    thread.join()
    assert seen == [thread]
