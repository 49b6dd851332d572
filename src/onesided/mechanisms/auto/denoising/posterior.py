"""The counts of least relative error, given noisy ones: empirical Bayes, as post-processing.

What counts there are is estimated from all noisy ones together (the distribution under which they
are most likely, by expectation maximisation), and then each count from its own noisy one and from
what its neighbours let expect. Nothing here reads data, so floating point does no harm.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts, Floats
from onesided.mechanisms.auto.denoising.noise import LEAST, Noise
from onesided.mechanisms.auto.denoising.smoothing import Expected, Quick
from onesided.mechanisms.auto.denoising.zeros import Boxes, odds_of_empty

FINE = 1 / 8
"""How far apart noisy counts must lie for noise to tell them apart, in its scales."""

SUPPOSED = np.concatenate([[0.0], np.arange(2 * FINE, 3, FINE), np.arange(3, 27, 2 * FINE)])
"""The counts that are supposed, in scales of the noise: finely where noise hides counts."""

FAR = 25.0
"""Counts of so many scales of the noise are no empty bins beyond any doubt: e^(−25)."""

ROUNDS = 40
"""Rounds of expectation maximisation; the last ones move next to nothing."""

FIRST_EMPTY = 0.5
"""The share of empty bins that is supposed at first. Counts far below the noise are not told from 0
by anything, and 0 is never wrong by more than the count itself."""

WELL_POSSIBLE = 2.0
"""By how much the logarithm of its likelihood may fall short of the largest, and bins that hold
less than the noise's scale are still taken for empty: two standard errors."""

BEYOND_CHANCE = 5.0
"""By how much the logarithm of all likelihoods must rise before what is expected of bins counts at
all: e⁵ is odds of 150 to 1."""

ANY_COUNT = 0.5
"""How many bins more are supposed than others tell of, with any count alike (Jeffreys' prior), so
that none is ruled out."""


@dataclass(frozen=True)
class Likely:
    """The counts of least expected error, and those `if_none_is_empty`.

    For the latter what seems empty is supposed to hold a few units, so that less is given up.
    """

    counts: Counts
    if_none_is_empty: Counts


def likely_counts(
    noisy: Counts,
    noise: Noise,
    *,
    least: Counts | None = None,
    box: Counts | None = None,
    expected: Expected | None = None,
) -> Likely:
    """Given `noisy` = x + `noise` for counts x ≥ 0, the x̂ of least expected Σ|x̂ − x|/max(x, 1).

    That is the median of what x may be, each value v weighted with its probability over max(v, 1).
    No x is below `least`, where that is known. Bins of one `box` are about as likely to be empty;
    otherwise all are. What is `expected` of bins, in their order, counts as much as it is
    worth.
    """
    values = noisy.reshape(-1)
    bounds = np.zeros_like(values) if least is None else least.reshape(-1)
    boxes = np.zeros_like(values) if box is None else box.reshape(-1)
    told = Expected.nothing(values.size) if expected is None else expected
    estimate = np.tile(np.maximum(values - noise.median, 0), (2, 1))
    is_far = values > FAR * noise.scale
    far, drowned = np.flatnonzero(is_far & (told.variances < inf)), np.flatnonzero(~is_far)
    if far.size:
        unbiased = values[far] - noise.mean
        drawn = _drawn_to_expected(estimate[0, far], unbiased, noise.variance, told.at(far))
        estimate[:, far] = np.rint(np.maximum(drawn, bounds[far]))
    if drowned.size:
        here = Boxes(boxes[drowned], np.bincount(boxes))
        estimate[:, drowned] = _medians(
            values[drowned], noise, bounds[drowned], here, told.at(drowned)
        )
    return Likely(*(each.reshape(noisy.shape) for each in estimate))


def _drawn_to_expected(
    alone: Counts, unbiased: NDArray[Any], variance: float, expected: Expected
) -> Floats:
    """Counts far above 0, estimated `alone`, drawn to what is `expected` of them.

    As far as it predicts the noisy ones, `unbiased` and with noise of such a `variance`, better
    than nothing would: any value among them alike.
    """
    beyond = expected.variances + variance
    density = np.exp(-((unbiased - expected.means) ** 2) / (2 * beyond)) / np.sqrt(2 * pi * beyond)
    any_value = 1 / max(float(np.ptp(unbiased)), FAR * sqrt(variance))
    share = _share_that_predicts(density, np.full(density.size, any_value))
    trust = share * density / (share * density + (1 - share) * any_value)
    told = unbiased + (expected.means - unbiased) * variance / beyond
    drawn: Floats = alone + (told - alone) * trust
    return drawn


def _share_that_predicts(one: Floats, other: Floats) -> float:
    """The share of bins in which `one` way to predict their noisy counts is the right one.

    The most likely share, given how likely these were to either; 0 unless it explains them better
    than the `other` does alone, by more than chance.
    """
    one, other = np.maximum(one, LEAST), np.maximum(other, LEAST)
    share = 0.5
    for _ in range(ROUNDS):
        share = float(np.mean(share * one / (share * one + (1 - share) * other)))
    gain = float(np.sum(np.log1p(share * (one / other - 1))))
    return share * one.size / (one.size + 1) if gain > BEYOND_CHANCE else 0.0


@dataclass(frozen=True)
class _Likely:
    """The likelihoods of what was measured: if a bin is `empty`, and for each count above 0.

    The latter, `full`, have a row for each that differs, and bins the numbers of their rows.
    """

    empty: Floats
    full: Floats | Quick
    row: Counts

    def at(self, bins: Counts) -> _Likely:
        return replace(self, empty=self.empty[bins], row=self.row[bins])

    def medians(self, supposed: Floats, least: Counts) -> Counts:
        """Of the counts `supposed` above 0, and 0, weighted with what they would be divided by.

        For 0 that is 1, in the first row, or (if none is empty) a number between 1 and the least
        count above 0.
        """
        heaped = np.cumsum(self.full / supposed.astype(self.full.dtype), axis=1)
        first = np.searchsorted(supposed, least)
        excluded = np.where(first > 0, heaped[self.row, np.maximum(first, 1) - 1], 0.0)
        found = []
        for of_empty in (1.0, sqrt(supposed[0])):
            zero = self.empty / of_empty
            half = (heaped[self.row, -1] + np.where(least > 0, excluded, -zero)) / 2
            chosen = supposed[_first_reaching(heaped, self.row, half)]
            found.append(np.where(half > 0, chosen, 0))
        return np.array(found, dtype=np.int64)


def _medians(
    noisy: Counts, noise: Noise, least: Counts, boxes: Boxes, expected: Expected
) -> Counts:
    """For noisy counts that may be of empty bins; two rows, as `_Likely.medians`."""
    # Noisy counts that noise cannot tell apart are treated as one.
    width = max(1, round(noise.scale * FINE))
    places, where, times = np.unique(
        np.floor_divide(noisy, width), return_inverse=True, return_counts=True
    )
    supposed = np.unique(np.rint(SUPPOSED * noise.scale))
    supposed = supposed[supposed <= max(float(noisy.max()), 0.0) + noise.scale]
    if supposed.size == 1:
        return np.zeros((2, noisy.size), dtype=np.int64)
    middles = places * width + (width - 1) / 2
    likelihood = noise.likelihood(middles[:, None] - supposed[None, :])
    prior = _most_likely(likelihood, times)
    if not least.any():
        prior = _plainest(prior, likelihood, times, int(np.searchsorted(supposed, noise.scale)))
    empty, full = likelihood[where, 0], likelihood[:, 1:] * _of_others(prior, likelihood, times)
    odds = odds_of_empty(float(prior[0]), empty, full.sum(axis=1)[where], boxes, ROUNDS // 4)
    alone = _Likely(empty * odds, full, where)
    estimate = alone.medians(supposed[1:], least)
    told = np.flatnonzero(expected.variances < inf)
    if told.size:
        both = _beside(alone.at(told), odds[told], likelihood, expected.at(told), supposed)
        if both is not None:
            estimate[:, told] = both.medians(supposed[1:], least[told])
    return estimate


def _beside(
    alone: _Likely, odds: Floats, likelihood: Floats, expected: Expected, supposed: Floats
) -> _Likely | None:
    """What is `expected` of bins beside what all tell, `alone`; nothing if it is worth nothing.

    The latter has such `odds` of empty bins in it, which are to be shares of one whole here.
    """
    by_others = (alone.empty + alone.full.sum(axis=1)[alone.row]) / (1 + odds)
    chances = expected.chances(supposed)
    chances *= likelihood.astype(np.float32)[alone.row]
    share = _share_that_predicts(chances.sum(axis=1, dtype=np.float64), by_others)
    if not share:
        return None
    of_others = (1 - share) / (1 + odds)
    chances *= np.float32(share)
    full = alone.full.astype(np.float32)[alone.row]
    full *= of_others.astype(np.float32)[:, None]
    full += chances[:, 1:]
    return _Likely(chances[:, 0] + of_others * alone.empty, full, np.arange(len(full)))


def _first_reaching(heaped: Floats | Quick, row: Counts, wanted: Floats) -> Counts:
    """The first column of each bin's `row` of `heaped`, which grows, that is what is `wanted`."""
    low, high = np.zeros_like(row), np.full_like(row, heaped.shape[1] - 1)
    while np.any(low < high):
        middle = (low + high) // 2
        enough = heaped[row, middle] >= wanted
        high = np.where(enough, middle, high)
        low = np.where(enough, low, np.minimum(middle + 1, high))
    return low


def _most_likely(likelihood: Floats, times: Counts) -> Floats:
    """The distribution over columns under which the rows, each seen so many `times`, are likely."""
    size = likelihood.shape[1]
    prior = np.full(size, (1 - FIRST_EMPTY) / size)
    prior[0] += FIRST_EMPTY
    for _ in range(ROUNDS):
        shares = times / (likelihood @ prior)
        prior = prior * (shares @ likelihood)
        prior /= prior.sum()
    return prior


def _of_others(prior: Floats, likelihood: Floats, times: Counts) -> Floats:
    """The distribution of counts above 0 that a row is judged by: what the other bins tell of it.

    A lone noise far above 0 would otherwise speak for itself.
    """
    full = prior[1:] * likelihood[:, 1:]
    own = full / (likelihood @ prior)[:, None]
    others = np.maximum(times.sum() * prior[1:] - own, 0.0) + ANY_COUNT / own.shape[1]
    return np.asarray(others / others.sum(axis=1, keepdims=True))


def _plainest(prior: Floats, likelihood: Floats, times: Counts, small: int) -> Floats:
    """`prior` with as many of the first `small` columns taken for 0 as may well be.

    In few bins noise that is a little above 0 on average looks like small counts, and those cost
    much where bins are empty; 0 in place of small counts costs little.
    """
    best = times @ np.log(likelihood @ prior)
    for last in range(small, 0, -1):
        plain = prior.copy()
        plain[0] += prior[1 : last + 1].sum()
        plain[1 : last + 1] = 0
        if best - times @ np.log(np.maximum(likelihood @ plain, LEAST)) <= WELL_POSSIBLE:
            return plain
    return prior
