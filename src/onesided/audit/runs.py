"""Running a mechanism many times: on one core or several, with the same result on any number."""

from __future__ import annotations

import hashlib
import multiprocessing
import pickle
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from time import monotonic
from types import TracebackType
from typing import Any

from onesided.audit.outputs import Observations
from onesided.audit.protocol import Auditable, observe
from onesided.errors import InputError
from onesided.randomness import Randomness, seeded

CHUNK = 500
"""Runs that are done in one piece; each piece has a stream of randomness of its own."""

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
        return observe(self.mechanism, self.data, self.runs, stream(self.label))


def stream(label: str) -> Randomness:
    """Randomness that is named by a text: the same text, the same draws."""
    return seeded(int.from_bytes(hashlib.sha256(label.encode()).digest()[:8], "big"))


class Deadline:
    """A moment after which no further work is begun."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else monotonic() + seconds

    @property
    def passed(self) -> bool:
        return self._end is not None and monotonic() > self._end


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
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def results(self, jobs: Sequence[Job]) -> Iterable[Observations]:
        """The results of `jobs`, in their order."""
        if self._pool is None or len(jobs) < 2:
            return (job() for job in jobs)
        return self._pool.map(_run, jobs)


def can_travel(mechanism: Auditable) -> bool:
    """Whether a mechanism can be handed to another process."""
    try:
        pickle.dumps(mechanism)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


def chunks(mechanism: Auditable, data: Any, runs: int, label: str) -> list[Job]:
    """`runs` runs in pieces."""
    sizes = [CHUNK] * (runs // CHUNK) + ([runs % CHUNK] if runs % CHUNK else [])
    return [Job(mechanism, data, size, f"{label}/{number}") for number, size in enumerate(sizes)]


def _run(job: Job) -> Observations:
    return job()
