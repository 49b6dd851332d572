"""Neighbouring buckets that differ by no more than noise are merged: a segment is known better.

Which buckets there are is drawn, along a fixed tree, so that many lie side by side that are alike.
Everything here is post-processing of their noisy totals, so floating point does no harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts, Floats
from onesided.mechanisms.auto.credibility import (
    BORNE,
    empty_to_full,
    is_more_than_noise,
    odds_of_emptiness,
)


@dataclass(frozen=True)
class Segments:
    """Neighbouring buckets that have one level: the segment `of` each bucket, from 0.

    - `sizes`: the bins of each segment;
    - `totals`: its level times its bins;
    - `scales`: those of the noise on `totals`;
    - `credible`: whether it is more than noise.
    """

    of: Counts
    sizes: Counts
    totals: NDArray[Any]
    scales: Floats
    credible: NDArray[np.bool_]

    @classmethod
    def along(cls, totals: Counts, sizes: Counts, scale: float) -> Segments:
        """Buckets that are numbered along a line, merged with neighbours that are alike.

        The mean t/w of a bucket has a variance in proportion to 1/w², so the level of a segment is
        Σ w·t / Σ w². Its noise is that on the total of one bucket, spread over √Σ w² bins: the
        segment is credible if such a bucket would be, and as likely to be empty as any of its own.
        Buckets that may be empty beside full ones stay alone.
        """
        widths = sizes.astype(np.float64)
        segment = segments_of(totals / sizes, widths**2 / (2 * scale**2))
        level = _levels(segment, totals, widths)[0][segment]
        own = odds_of_emptiness(totals, sizes)
        in_doubt = ~is_more_than_noise(totals, sizes, scale, own)
        gap = in_doubt & _may_be_gap(totals, sizes, level, scale)
        alone = np.where(gap, -1 - np.arange(segment.size), segment)
        _, segment = np.unique(alone, return_inverse=True)
        levels, spread_over = _levels(segment, totals, widths)
        bins = np.bincount(segment, weights=sizes).astype(np.int64)
        odds = np.sqrt(bins / bins.sum())
        np.maximum.at(odds, segment, own)
        credible = is_more_than_noise(levels * spread_over, spread_over, scale, odds)
        return cls(segment, bins, levels * bins, scale * bins / spread_over, credible)


def segments_of(means: Floats, precisions: Floats) -> Counts:
    """For each of the `means` the number of its segment.

    Neighbours are in one segment unless two levels make the means more than e times as likely as
    one: so much is gained by chance from one number more that is fitted (Akaike's rule). The
    variance of a mean is 1 over its precision. In each round those merge that are nearest.
    """
    weighted = means * precisions
    begins = np.ones(means.size, dtype=np.bool_)
    # Segments of equal buckets double in length from round to round.
    for _ in range(means.size.bit_length()):
        starts = np.flatnonzero(begins)
        weights = np.add.reduceat(precisions, starts)
        levels = np.add.reduceat(weighted, starts) / weights
        left, right = weights[:-1], weights[1:]
        apart = np.diff(levels) ** 2 * left * right / (2 * (left + right))
        before, after = np.append(np.inf, apart[:-1]), np.append(apart[1:], np.inf)
        ends = (apart < 1) & (apart < before) & (apart <= after)
        if not ends.any():
            break
        begins[starts[1:][ends]] = False
    return np.cumsum(begins) - 1


def _levels(segment: Counts, totals: Counts, widths: Floats) -> tuple[Floats, Floats]:
    """The level of each segment, by least squares, and √Σ w²."""
    squares = np.bincount(segment, weights=widths**2)
    return np.bincount(segment, weights=totals * widths) / squares, np.sqrt(squares)


def _may_be_gap(totals: Counts, sizes: Counts, level: Floats, scale: float) -> NDArray[np.bool_]:
    """Which buckets must not be given the `level` of their segment, as they may be empty.

    If w bins of the level L are empty, each is wrong by L; if they are full and released as 0, by
    1. Noise of `scale` s makes a total t of an empty bucket e^((|t − w·L| − |t|)/s) times as likely
    as of a full one, and there are o empty buckets for each full one, as negative totals tell. As
    the bucket seems to continue a full segment, it must be so by a factor of 1 / `BORNE`.
    """
    high = np.maximum(level, 0.0)
    likelier = (np.abs(totals - sizes * high) - np.abs(totals)) / scale
    odds = empty_to_full(totals, np.zeros_like(totals))
    with np.errstate(divide="ignore"):
        return np.asarray(likelier + np.log(odds * high) > -log(BORNE))
