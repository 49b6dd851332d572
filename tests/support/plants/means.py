"""Means over groups that nobody declared: what the keys that occur used to decide."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from onesided.data import Measurement
from onesided.errors import InputError, ReleaseFailed
from onesided.mechanisms import sums
from onesided.mechanisms.sums import GridTotals
from onesided.randomness import Randomness
from onesided.session import kernel
from onesided.session.questions import sums as questions
from onesided.session.questions.sums import Means
from onesided.session.table import Reading
from support.plants.planting import replaced

_RELEASE, _RATE, _RECEIPT, _RUN = (
    sums.release_mean,
    sums._rate,
    kernel.receipt,
    Means.run,
)


@contextmanager
def noise_follows_the_number_of_keys() -> Iterator[None]:
    """The totals as a closed histogram: k is at most the number of keys that occur."""
    closed: dict[int, GridTotals] = {}
    said: list[str] = []

    def rate(totals: GridTotals, epsilon: Fraction) -> Fraction:
        return _RATE(closed.get(id(totals), totals), epsilon)

    def release(totals: GridTotals, data: Any, epsilon: Any, rng: Randomness) -> Measurement:
        if not totals.open_domain or not len(totals.steps):
            return _RELEASE(totals, data, epsilon, rng)
        same = GridTotals(totals.steps, ceiling=totals.ceiling, step=totals.step, k=totals.k)
        closed[id(totals)] = same
        try:
            noise = sums._noise(_RATE(same, Fraction(epsilon) / 2), totals.step)
            said.append(f"sum: {noise}")
            return _RELEASE(totals, data, epsilon, rng)
        finally:
            closed.clear()

    def receipt(terms: Any, charge: Any) -> dict[str, Any]:
        written = _RECEIPT(terms, charge)
        if said:
            count = str(written["noise"]).partition("; count: ")[2]
            written["noise"] = f"{said.pop()}; count: {count}"
        return written

    with replaced(
        (sums, "_rate", rate), (questions, "release_mean", release), (kernel, "receipt", receipt)
    ):
        yield


@contextmanager
def no_row_is_a_failure() -> Iterator[None]:
    """A histogram without a bin was refused, after the charge."""

    def release(totals: GridTotals, data: Any, epsilon: Any, rng: Randomness) -> Measurement:
        if not len(totals.steps):
            raise InputError("A histogram needs at least one bin.")
        return _RELEASE(totals, data, epsilon, rng)

    with replaced((questions, "release_mean", release)):
        yield


@contextmanager
def a_key_unlike_itself_is_a_failure() -> Iterator[None]:
    """Sum and count came from two statements whose keys were compared, and NaN is not NaN."""

    def run(question: Means, reading: Reading) -> bytes:
        amounts = (question.amount, question._counted)
        found = [reading.totals(question.groups, (each.total,))[0] for each in amounts]
        if not found[0].equals(found[1]):
            raise ReleaseFailed(
                "The data changed between two statements, and the charge stands; open them again."
            )
        return _RUN(question, reading)

    with replaced((Means, "run", run)):
        yield
