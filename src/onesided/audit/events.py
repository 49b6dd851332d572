"""Learning an event O that is likely on D and unlikely on D′, from runs on both.

A score gives each output a number; the event is "the score is at least c". Scores are estimated
log-likelihood ratios, fitted on one half of the runs: for whole outputs, for single numbers in
them, and for all numbers as if they were independent. The other half decides which score and which
c promise the largest loss, so that a score which only remembers its runs does not win.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from onesided.audit.outputs import Observations

Floats = NDArray[np.float64]

MOST_CATEGORIES = 32
"""A number in the output is seen as one of so many values or ranges of values."""

MOST_COLUMNS = 8
"""Single numbers that are tried as scores: those that differ most between D and D′."""

CAUTION = 2.5
"""How many standard deviations of luck are discounted when events are compared."""

SMOOTHING = 0.5


class Score(Protocol):
    """A number for each output, larger where D is the likelier cause."""

    def of(self, observed: Observations) -> Floats: ...


@dataclass(frozen=True)
class Event:
    """O = {outputs with score ≥ threshold}; `promise` is the loss it showed while being learnt."""

    score: Score
    threshold: float
    promise: float

    def hits(self, observed: Observations) -> int:
        """How many of the outputs are in O."""
        return int(np.count_nonzero(self.score.of(observed) >= self.threshold))


@dataclass(frozen=True)
class TokenScore:
    """The log-likelihood ratio of whole outputs that were seen while learning."""

    tokens: NDArray[np.uint64]
    ratios: Floats

    @classmethod
    def fitted(cls, here: Observations, there: Observations) -> TokenScore:
        tokens, codes = np.unique(np.concatenate([here.tokens, there.tokens]), return_inverse=True)
        return cls(tokens, _log_ratios(codes[: len(here)], codes[len(here) :], tokens.size))

    def of(self, observed: Observations) -> Floats:
        position = np.minimum(np.searchsorted(self.tokens, observed.tokens), self.tokens.size - 1)
        known = self.tokens[position] == observed.tokens
        return np.where(known, self.ratios[position], -np.inf)


@dataclass(frozen=True)
class ColumnScore:
    """The log-likelihood ratio of the number in one `column`, by ranges that begin at `edges`.

    With `bits` the place of the lowest set bit of the number is looked at instead.
    """

    column: int
    edges: Floats
    ratios: Floats
    bits: bool

    @classmethod
    def fitted(
        cls, here: Observations, there: Observations, column: int, bits: bool
    ) -> ColumnScore:
        first, second = (_column(each, column, bits) for each in (here, there))
        edges = _edges(np.concatenate([first, second]))
        seen, other = (np.searchsorted(edges, each, side="left") for each in (first, second))
        return cls(column, edges, _log_ratios(seen, other, edges.size + 1), bits)

    def of(self, observed: Observations) -> Floats:
        numbers = _column(observed, self.column, self.bits)
        ratios: Floats = self.ratios[np.searchsorted(self.edges, numbers, side="left")]
        return ratios

    @property
    def spread(self) -> float:
        """How much the column tells."""
        return float(np.ptp(self.ratios))


@dataclass(frozen=True)
class SumOfScores:
    """Scores of single numbers added up, which is right where they are independent."""

    parts: tuple[ColumnScore, ...]

    def of(self, observed: Observations) -> Floats:
        total = np.zeros(len(observed))
        for part in self.parts:
            total += part.of(observed)
        return total


def learn(here: Observations, there: Observations) -> Event:
    """The most promising event for the ordered pair whose outputs are `here` and `there`."""
    half, other = len(here) // 2, len(there) // 2
    choosing = here[half:], there[other:]
    events = [_best_threshold(score, *choosing) for score in _scores(here[:half], there[:other])]
    return max(events, key=lambda event: event.promise)


def _scores(here: Observations, there: Observations) -> Iterator[Score]:
    yield TokenScore.fitted(here, there)
    numbers = Observations.joined([here, there]).features
    fractional = np.any((numbers != np.rint(numbers)) & np.isfinite(numbers))
    for bits in (False, True) if fractional else (False,):
        columns = [
            ColumnScore.fitted(here, there, column, bits)
            for column in np.flatnonzero(np.any(numbers != numbers[0], axis=0)).tolist()
        ]
        yield from sorted(columns, key=lambda score: -score.spread)[:MOST_COLUMNS]
        yield SumOfScores(tuple(columns))


def _best_threshold(score: Score, here: Observations, there: Observations) -> Event:
    first, second = np.sort(score.of(here)), np.sort(score.of(there))
    thresholds = np.unique(np.concatenate([first, second]))
    hits = first.size - np.searchsorted(first, thresholds, side="left")
    other = second.size - np.searchsorted(second, thresholds, side="left")
    low = np.maximum(_wilson(hits, first.size, -CAUTION), 1e-12)
    promises = np.log(low / _wilson(other, second.size, CAUTION))
    best = int(np.argmax(promises))
    return Event(score, float(thresholds[best]), float(promises[best]))


def _wilson(hits: NDArray[np.int64], runs: int, z: float) -> Floats:
    """Wilson's bound of a probability, `z` standard deviations from the estimate."""
    share = hits / runs
    spread = np.sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    bound: Floats = (share + z * z / (2 * runs) + z * spread) / (1 + z * z / runs)
    return bound


def _column(observed: Observations, column: int, bits: bool) -> Floats:
    if column >= observed.features.shape[1]:
        return np.full(len(observed), np.nan)
    numbers = observed.features[:, column]
    return lowest_bits(numbers) if bits else numbers


def lowest_bits(numbers: Floats) -> Floats:
    """The e of the lowest set bit 2ᵉ of each double; NaN for 0 and for what is not finite.

    A sum of a count and floating-point noise is rounded to a grid that depends on the count: the
    low bits of 1 + z are zero where those of z need not be.
    """
    usable = np.isfinite(numbers) & (numbers != 0)
    mantissa, exponent = np.frexp(np.where(usable, numbers, 1.0))
    integers = np.ldexp(mantissa, 53).astype(np.int64)
    lowest = np.log2((integers & -integers).astype(np.float64)) + exponent - 53
    return np.where(usable, lowest, np.nan)


def _edges(numbers: Floats) -> Floats:
    """Upper ends of ranges: the values themselves where they are few, else quantiles; NaN apart."""
    finite = np.sort(numbers[~np.isnan(numbers)])
    values = np.unique(finite)
    if values.size <= MOST_CATEGORIES:
        return values
    positions = np.linspace(0, finite.size - 1, MOST_CATEGORIES).astype(np.int64)
    return np.unique(finite[positions])


def _log_ratios(here: NDArray[np.int64], there: NDArray[np.int64], categories: int) -> Floats:
    first, second = (
        np.bincount(codes, minlength=categories) + SMOOTHING for codes in (here, there)
    )
    ratios: Floats = np.log(first / first.sum()) - np.log(second / second.sum())
    return ratios
