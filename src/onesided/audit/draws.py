"""Everything that one draw can bring: outcomes with their probabilities.

Which outcomes must be distinguished may depend on what the mechanism does with them. A `Trial` runs
it on values for one draw, everything before fixed and everything later given, and says what came
out.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.audit.exponentials import Weight, one_minus_exponential, one_plus_exponential
from onesided.errors import InputError

WORD = 1 << 64
FAR = 1 << 40
"""Noise far beyond every count of a small database."""

NEAR = 8
"""If one-sided noise of this size makes the same difference as FAR noise, it is clipped there."""

MOST_OUTCOMES = 1 << 16
"""A single draw with more outcomes than this is not followed."""

Trial = Callable[[NDArray[Any]], Hashable]


class NotEnumerableError(InputError):
    """The mechanism draws something whose outcomes cannot be listed."""


class TooManyPathsError(InputError):
    """The tree has more paths than was allowed."""


class OutOfTimeError(InputError):
    """The audit was not done when its time was over."""


AUDITORS_OWN = (NotEnumerableError, TooManyPathsError, OutOfTimeError, MemoryError)
"""What the audit raises itself, or the machine: no outcome of a mechanism. What stops a program,
such as Ctrl-C, is none either, and no `Exception`."""


@dataclass(frozen=True)
class Outcome:
    """One result of one draw: the `values`, their probability, and the exponent of the noise."""

    values: NDArray[Any]
    weight: Weight
    noise: Fraction = Fraction(0)


def _noise(rate: Fraction, size: int, horizon: Fraction, *, two_sided: bool) -> Iterator[Outcome]:
    """Vectors z of `size` integers with rate·Σ|zᵢ| ≤ horizon; none negative if one-sided."""
    factors = frozenset(
        [(one_minus_exponential(rate), size)]
        + ([(one_plus_exponential(rate), -size)] if two_sided else [])
    )
    for vector, norm in _vectors(size, int(horizon / rate), two_sided):
        exponent = rate * norm
        yield Outcome(vector, Weight(exponent=exponent, factors=factors), exponent)


def two_sided(rate: Fraction, size: int, horizon: Fraction, trial: Trial) -> Iterator[Outcome]:
    """Two-sided noise; entries that the mechanism does not use are left at 0."""
    answers = [
        {_with_one(size, position, noise, trial) for noise in (-FAR, 0, FAR)}
        for position in range(size)
    ]
    used = [position for position, each in enumerate(answers) if len(each) > 1]
    for outcome in _noise(rate, len(used), horizon, two_sided=True):
        values = np.zeros(size, dtype=np.int64)
        values[used] = outcome.values
        yield Outcome(values, outcome.weight, outcome.noise)


def one_sided(rate: Fraction, size: int, horizon: Fraction, trial: Trial) -> Iterator[Outcome]:
    """One-sided noise, where entries that are clipped have finitely many outcomes.

    An entry is clipped from m on if the mechanism does the same for noise m as for noise FAR: then
    "m or more", of probability e^(−rate·m), is one outcome. The other entries go to the horizon.
    """
    clipped = [_clipped_from(size, position, trial) for position in range(size)]
    open_ended = [position for position, m in enumerate(clipped) if m is None]
    inside = frozenset([(one_minus_exponential(rate), 1)])
    sides = [
        [(g, Weight(exponent=rate * g, factors=inside)) for g in range(m)]
        + [(m, Weight(exponent=rate * m))]
        for m in clipped
        if m is not None
    ]
    closed = [position for position, m in enumerate(clipped) if m is not None]
    finite = list(_joint(sides)) if sides else [Outcome(np.zeros(0), Weight())]
    for outer in _noise(rate, len(open_ended), horizon, two_sided=False):
        for each in finite:
            values = np.zeros(size, dtype=np.int64)
            values[open_ended], values[closed] = outer.values, each.values
            yield Outcome(values, outer.weight * each.weight, outer.noise)


def _clipped_from(size: int, position: int, trial: Trial) -> int | None:
    far = _with_one(size, position, FAR, trial)
    if _with_one(size, position, NEAR, trial) != far:
        return None
    return next(m for m in range(NEAR + 1) if _with_one(size, position, m, trial) == far)


def _with_one(size: int, position: int, noise: int, trial: Trial) -> Hashable:
    """What the mechanism does when one entry of a draw is `noise` and all others are 0."""
    values = np.zeros(size, dtype=np.int64)
    values[position] = noise
    return trial(values)


@lru_cache(maxsize=64)
def _vectors(size: int, norm: int, two_sided: bool) -> list[tuple[NDArray[np.int64], int]]:
    """All integer vectors with Σ|zᵢ| ≤ norm, and that sum."""
    partial: list[tuple[tuple[int, ...], int]] = [((), 0)]
    for _ in range(size):
        longer = []
        for head, used in partial:
            rest = norm - used
            low = -rest if two_sided else 0
            longer += [((*head, value), used + abs(value)) for value in range(low, rest + 1)]
        if len(longer) > MOST_OUTCOMES:
            raise TooManyPathsError("One draw has too many outcomes; ask for a smaller horizon.")
        partial = longer
    return [(np.array(vector, dtype=np.int64), used) for vector, used in partial]


def coins(exponents: list[Fraction]) -> Iterator[Outcome]:
    """True with probability e^(−exponent), each for itself."""
    sides = [
        [(True, Weight(exponent=each))]
        + ([(False, Weight(factors=frozenset([(one_minus_exponential(each), 1)])))] if each else [])
        for each in exponents
    ]
    return _joint(sides)


def uniform(bound: int, size: int) -> Iterator[Outcome]:
    _refuse_too_many(float(bound) ** size)
    return _joint([[(value, Weight(Fraction(1, bound))) for value in range(bound)]] * size)


def binomials(sizes: list[int], p: Fraction) -> Iterator[Outcome]:
    return _joint(
        [[(k, Weight(comb(n, k) * p**k * (1 - p) ** (n - k))) for k in range(n + 1)] for n in sizes]
    )


def _joint(sides: list[list[tuple[Any, Weight]]]) -> Iterator[Outcome]:
    """Independent draws together."""
    _refuse_too_many(prod(float(len(side)) for side in sides))
    for choice in product(*sides):
        weight = Weight()
        for _, each in choice:
            weight *= each
        yield Outcome(np.array([value for value, _ in choice]), weight)


def _refuse_too_many(outcomes: float) -> None:
    if outcomes > MOST_OUTCOMES:
        raise NotEnumerableError("One draw has too many outcomes to list; audit it by runs.")


def words(count: int, trial: Trial) -> Iterator[Outcome]:
    """Raw words U·2⁶⁴ that a mechanism compares, each, with a threshold of its own.

    The threshold is found by bisection on what the mechanism does. The words next to it, where
    further bits decide, are left unexplored: a mass of 2⁻⁶³ at most.
    """
    sides = []
    for position in range(count):
        threshold = _threshold(count, position, trial)
        if threshold is None:
            sides.append([(0, Weight())])
            continue
        below, above = Fraction(threshold - 1, WORD), Fraction(WORD - threshold - 1, WORD)
        sides.append([(0, Weight(below)), (WORD - 1, Weight(above))])
    for outcome in _joint(sides):
        yield Outcome(outcome.values.astype(np.uint64), outcome.weight)


def _threshold(count: int, position: int, trial: Trial) -> int | None:
    """The least word that is answered like the largest; None if all words are answered alike."""

    def answer(word: int) -> Hashable:
        values = np.zeros(count, dtype=np.uint64)
        values[position] = word
        return trial(values)

    low, high = 0, WORD - 1
    last = answer(high)
    if answer(low) == last:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if answer(middle) == last else (middle, high)
    return high
