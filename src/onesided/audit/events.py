"""Learning an event O that is likely on D and unlikely on D′, from runs on both.

A score gives each output a number; the event is "the score is at least c". Scores are estimated
log-likelihood ratios, fitted on one half of the runs. They are for whole outputs, for single
numbers in them, or for all numbers as if they were independent. Others are a weighted sum of
answers about them, and the leaves of a tree that asks for one number after the other. The other
half decides which score and which c promise the largest loss, so that a score which only remembers
its runs does not win.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onesided.audit.outputs import Observations
from onesided.audit.scores import (
    ColumnScore,
    Score,
    SumOfScores,
    TokenScore,
    WeightedScore,
)
from onesided.audit.trees import TreeScore
from onesided.data.histogram import Floats

MOST_COLUMNS = 8
"""Single numbers that are tried as scores: those that differ most between D and D′."""

CAUTION = 3.5
"""How many standard deviations of luck are discounted when events are compared."""


@dataclass(frozen=True)
class Event:
    """O = {outputs with score ≥ threshold}; `promise` is the loss it showed while being learnt."""

    score: Score
    threshold: float
    promise: float

    def hits(self, observed: Observations) -> int:
        """How many of the outputs are in O."""
        return int(np.count_nonzero(self.score.of(observed) >= self.threshold))


def learn(here: Observations, there: Observations) -> Event:
    """The most promising event for the ordered pair whose outputs are `here` and `there`."""
    half, other = len(here) // 2, len(there) // 2
    choosing = here[half:], there[other:]
    events = [_best_threshold(score, *choosing) for score in _scores(here[:half], there[:other])]
    return max(events, key=lambda event: event.promise)


def _scores(here: Observations, there: Observations) -> Iterator[Score]:
    yield TokenScore.fitted(here, there)
    numbers = Observations.joined([here, there]).features
    different = _different(numbers)
    fractional = np.any((numbers != np.rint(numbers)) & np.isfinite(numbers), axis=0)
    for bits in (False, True) if fractional.any() else (False,):
        columns = [
            ColumnScore.fitted(here, there, column, bits)
            for column in (np.flatnonzero(fractional) if bits else different).tolist()
        ]
        yield from sorted(columns, key=lambda score: -score.spread)[:MOST_COLUMNS]
        yield SumOfScores(tuple(columns))
        if not bits:
            telling = sorted(columns, key=lambda score: -score.information)
            yield WeightedScore.fitted(here, there, telling)
    if different.size:
        yield TreeScore.fitted(here, there, different)


def _different(numbers: Floats) -> NDArray[np.int64]:
    """The columns that are not constant, and of those that order the outputs alike the first."""
    found: dict[bytes, int] = {}
    for column in np.flatnonzero(np.any(numbers != numbers[:1], axis=0)).tolist():
        _, ranks = np.unique(numbers[:, column], return_inverse=True)
        if ranks.any():
            found.setdefault(ranks.astype(np.int32).tobytes(), column)
    return np.array(list(found.values()), dtype=np.int64)


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
