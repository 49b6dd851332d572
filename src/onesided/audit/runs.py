"""Running a mechanism many times: on one core or several, with the same result on any number."""

from __future__ import annotations

import hashlib
import multiprocessing
import pickle
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from time import monotonic
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.audit.outputs import Observations
from onesided.audit.protocol import Auditable, observe
from onesided.errors import InputError
from onesided.randomness import Randomness, seeded

CHUNK = 500
"""Runs that are done in one piece; each piece has a stream of randomness of its own."""

BUFFERED = 2048
"""Values that are drawn at a time for mechanisms that ask for fewer."""

Progress = Callable[[str, float], None]
"""Is told which phase an audit is in, and which share of that phase is done."""


@dataclass(frozen=True)
class Job:
    """`runs` runs of `mechanism` on `data`, with the stream of randomness called `label`."""

    mechanism: Auditable
    data: Any
    runs: int
    label: str

    def __call__(self) -> Observations:
        source = BufferedRandomness(stream(self.label))
        return observe(self.mechanism, self.data, self.runs, source)


def stream(label: str) -> Randomness:
    """Randomness that is named by a text: the same text, the same draws."""
    return seeded(int.from_bytes(hashlib.sha256(label.encode()).digest()[:8], "big"))


class BufferedRandomness(Randomness):
    """The same draws from `source`, made in large pieces and handed out in small ones.

    A mechanism on few bins asks for a few values at a time, which costs more than the values do.
    """

    def __init__(self, source: Randomness) -> None:
        self._source = source
        self._buffers: dict[tuple[int, int], _Buffer] = {}
        self._words = _Buffer(source.words)

    @property
    def description(self) -> str:
        return self._source.description

    @property
    def seeded(self) -> bool:
        return self._source.seeded

    def words(self, count: int) -> NDArray[np.uint64]:
        return self._words.take(count)

    def geometric(self, rate: Fraction, size: int) -> NDArray[np.int64]:
        key = (rate.numerator, rate.denominator)
        if key not in self._buffers:
            self._buffers[key] = _Buffer(partial(self._source.geometric, rate))
        return self._buffers[key].take(size)

    def generator(self) -> np.random.Generator:
        return self._source.generator()

    def spawn(self, count: int) -> list[Randomness]:
        return self._source.spawn(count)


class _Buffer:
    """Values that were drawn and not yet handed out; each is handed out once."""

    def __init__(self, draw: Callable[[int], NDArray[Any]]) -> None:
        self._draw = draw
        self._values = draw(0)
        self._next = 0

    def take(self, count: int) -> NDArray[Any]:
        if count > BUFFERED:
            return self._draw(count)
        if self._next + count > self._values.size:
            self._values, self._next = self._draw(BUFFERED), 0
        taken = self._values[self._next : self._next + count].copy()
        self._next += count
        return taken


class Deadline:
    """A number of seconds from now on, of which several phases of work have their shares.

    `missed` says whether some work was left undone for lack of time.
    """

    def __init__(self, seconds: float | None) -> None:
        self._started = monotonic()
        self._seconds = seconds
        self.missed = False

    @property
    def elapsed(self) -> float:
        return monotonic() - self._started

    def passed(self, share: float) -> bool:
        """Whether this share of the time is over."""
        return self._seconds is not None and self.elapsed > share * self._seconds

    def missed_at(self, share: float) -> bool:
        """The same, asked by whoever leaves something undone then."""
        self.missed |= self.passed(share)
        return self.passed(share)


class Workers:
    """Runs jobs, in this process or in several; used as a context."""

    def __init__(self, count: int = 1) -> None:
        if count < 1:
            raise InputError("The number of workers must be at least 1.")
        self._pool: ProcessPoolExecutor | None = None
        self._count = count

    def __enter__(self) -> Workers:
        if self._count > 1:
            # Fresh processes: forking one that has threads, as numpy may, is not safe.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._count, mp_context=context)
            with _never_interrupted():
                for _ in range(self._count):
                    # They load the package while this one goes on with something else.
                    self._pool.submit(_get_ready)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def pairwise(
        self, jobs: Iterable[tuple[Job, Job]]
    ) -> Iterator[tuple[Observations, Observations]]:
        """The results of pairs of jobs, in their order; no pair is begun long before its turn."""
        if self._pool is None:
            yield from ((first(), second()) for first, second in jobs)
            return
        begun: deque[tuple[Future[Observations], Future[Observations]]] = deque()
        try:
            for first, second in jobs:
                begun.append((self._pool.submit(_run, first), self._pool.submit(_run, second)))
                if len(begun) == self._count:
                    yield _both(begun.popleft())
            while begun:
                yield _both(begun.popleft())
        finally:
            # Whoever has seen enough does not wait for the rest.
            for future in (each for both in begun for each in both):
                future.cancel()


def can_travel(mechanism: Auditable) -> bool:
    """Whether a mechanism can be handed to another process."""
    try:
        pickle.dumps(mechanism)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


def chunks(mechanism: Auditable, data: Any, runs: int, label: str, chunk: int = CHUNK) -> list[Job]:
    """`runs` runs in pieces of at most `chunk`."""
    sizes = [chunk] * (runs // chunk) + ([runs % chunk] if runs % chunk else [])
    return [Job(mechanism, data, size, f"{label}/{number}") for number, size in enumerate(sizes)]


def _both(
    futures: tuple[Future[Observations], Future[Observations]],
) -> tuple[Observations, Observations]:
    return futures[0].result(), futures[1].result()


@contextmanager
def _never_interrupted() -> Iterator[None]:
    """Processes begun here do not see Ctrl-C, which a terminal sends to all: this one ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield  # a system without signal masks
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _get_ready() -> None:
    """Done when a new process has loaded this module."""


def _run(job: Job) -> Observations:
    return job()
