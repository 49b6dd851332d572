"""How many sensitive units bins expect, as their numbers in localities tell."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts
from onesided.mechanisms.pieces import OUTLIER, Pieces

Floats = NDArray[np.float64]

LOCALITY = 64
"""Bins over which the share of sensitive units is taken for the same."""

BEYOND_DOUBT = 2.0
"""By how many standard errors a number must exceed 0 to be taken for one."""

TOLD_APART = 1e-9
"""How much of a shape, squared, another must leave for numbers to be explained by both."""


def localities(bins: int, at_least: int = 16) -> Counts:
    """For each bin the number of its locality: `LOCALITY` neighbours, or fewer where bins are.

    There are `at_least` so many localities, or as many as bins.
    """
    return np.arange(bins) // max(1, min(LOCALITY, bins // at_least))


def localities_of(found: Pieces) -> Counts:
    """For each bin the number of its locality: few bins that stand alone are the last one together.

    Full bins may well have another share of sensitive units than what is around them. Where many
    bins stand alone, or none, that would tell nothing.
    """
    place = localities(found.means.size)
    if not found.few_alone:
        return place
    apart = np.where(found.several, place, place[-1] + 1)
    return np.asarray(np.unique(apart, return_inverse=True)[1])


@dataclass(frozen=True)
class Located:
    """Noisy numbers of sensitive units by locality, and the scale of their noise."""

    numbers: Floats
    scale: float


def sensitive_means(found: Pieces, sensitive: float, local: Located | None) -> Floats:
    """What bins expect of `sensitive` units in all.

    Few bins that stand alone have as many of them as the last of the `local` numbers tells, and
    others what is left (`_by_locality`).
    """
    place = localities_of(found)
    if local is None or not found.few_alone:
        return _by_locality(found.means, place, sensitive, local)
    several, others = found.several, found.means[~found.several]
    expected = sensitive * float(others.sum()) / max(found.units, 1.0)
    told = _drawn_towards(expected, float(local.numbers[-1]), local.scale)
    alone = min(max(told, 0.0), sensitive)
    elsewhere = Located(local.numbers[:-1], local.scale)
    means = np.empty(found.means.size)
    means[~several] = alone * others / max(float(others.sum()), 1.0)
    means[several] = _by_locality(
        found.means[several], place[several], sensitive - alone, elsewhere
    )
    return means


def _drawn_towards(expected: float, answer: float, scale: float) -> float:
    """An `answer` with noise of a `scale`, drawn towards what is `expected`.

    All the way where noise alone would set them as far apart: that has the variance 2s².
    """
    noise = 2 * scale**2
    apart = answer - expected
    variance = max(apart**2 - noise, 0.0)
    return expected + apart * variance / (variance + noise)


def _by_locality(means: Floats, place: Counts, sensitive: float, local: Located | None) -> Floats:
    """What bins expect of `sensitive` units in all, which lie like the others in each locality.

    Unless the localities tell that they do not: then so many lie evenly (`_beside_others`).

    Each of the `local` numbers t, with noise of scale s, is drawn towards e, what the share of
    sensitive units in all lets expect: e + (t − e)·v/(v + 2s²) with v = e²·(Σ(t − e)² − 2s²)₊/Σe²,
    the variance of all that is no noise, less twice the standard deviation √(20·l)·s² that this sum
    has over l localities by noise alone; or its own (t − e)² − 2s² where that is beyond doubt.
    """
    sizes = np.bincount(place)
    others = np.bincount(place, weights=means).astype(np.float64)
    total = others.sum()
    expected = sensitive * (others / total if total else sizes / sizes.sum())
    beside = 0.0
    if local is not None:
        noise = 2 * local.scale**2
        apart = (local.numbers - expected) ** 2 - noise
        told = max(apart.sum() - 2 * sqrt(20 * apart.size) * local.scale**2, 0.0)
        pooled = told / max(np.sum(expected**2), 1.0) * expected**2
        # The largest of l noises lies ln l scales further out than a single one.
        beyond_doubt = apart > ((OUTLIER + log(apart.size)) * local.scale) ** 2
        variance = np.where(beyond_doubt, np.maximum(apart, pooled), pooled)
        trust = variance / (variance + noise)
        expected = np.maximum(expected + (local.numbers - expected) * trust, 0)
        expected *= sensitive / max(expected.sum(), 1.0)
        beside = _beside_others(local, others, sizes, expected)
    even = expected / sizes
    alike = expected / np.where(others > 0, others, 1)
    evenly = np.clip(beside / np.where(even > 0, even, 1), 0, 1)[place]
    like_others = np.where(others[place] > 0, means * alike[place], even[place])
    return np.asarray((1 - evenly) * like_others + evenly * even[place], dtype=np.float64)


def _beside_others(local: Located, others: Floats, sizes: Counts, expected: Floats) -> float:
    """How many sensitive units bins have that do not lie like the others, beyond doubt.

    The numbers of sensitive units are fitted by α·`others` + β·`sizes`, α ≥ 0, with least squares;
    it is β less `BEYOND_DOUBT` of its standard errors. Shares of sensitive units differ by ratios,
    so a number may be off by its noise and by as much as is `expected`: a locality with a full bin
    counts no more than the others.
    """
    off = np.sqrt(2 * local.scale**2 + expected**2)
    others, even, numbers = others / off, sizes / off, local.numbers / off
    squares = float(others @ others)
    alone = even - (others @ even / squares) * others if squares else np.zeros(others.size)
    told = float(alone @ alone)
    # Where one has the other's shape, but for rounding, they cannot be told apart.
    if others.size <= 2 or told <= TOLD_APART * float(even @ even):
        return 0.0
    beta = float(alone @ numbers) / told
    alpha = float(others @ (numbers - beta * even)) / squares
    if alpha < 0:
        alpha, beta = 0.0, float(even @ numbers) / float(even @ even)
    left = numbers - alpha * others - beta * even
    by_noise = 2 * float(np.mean((local.scale / off) ** 2))
    variance = max(float(left @ left) / (others.size - 2), by_noise)
    return max(beta - BEYOND_DOUBT * sqrt(variance / told), 0.0)
