"""Neighbouring buckets that differ by no more than noise: together they are known better.

Which buckets there are is drawn, along a fixed tree, so that many lie side by side that are alike.
Everything here is post-processing of their noisy totals, so floating point does no harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts
from onesided.mechanisms.believed import (
    empty_to_full,
    is_more_than_noise,
    odds_of_emptiness,
)
from onesided.mechanisms.cutting import joined

Floats = NDArray[np.float64]

PRICE = 1.0
"""How much likelier, as a logarithm, totals must be of two levels than of one for both to stay:
as much as one number more that is fitted gains by chance (Akaike's rule)."""

BESIDE_FULL = 32.0
"""How many times as likely as others a bucket is full that seems to continue a run of full ones."""


@dataclass(frozen=True)
class Runs:
    """Buckets in runs that have one level each: the `run` of each bucket, from 0.

    - `sizes`: the bins of each run;
    - `totals`: its level times its bins;
    - `scales`: those of the noise on `totals`;
    - `believed`: whether it is more than noise.
    """

    run: Counts
    sizes: Counts
    totals: NDArray[Any]
    scales: Floats
    believed: NDArray[np.bool_]

    @classmethod
    def alone(cls, totals: Counts, sizes: Counts, scale: float) -> Runs:
        """Every bucket a run of its own; the noise on `totals` has the `scale`."""
        believed = is_more_than_noise(totals, sizes, scale, odds_of_emptiness(totals, sizes))
        scales = np.full(totals.size, scale)
        return cls(np.arange(totals.size), sizes, totals, scales, believed)

    @classmethod
    def along(cls, totals: Counts, sizes: Counts, scale: float) -> Runs:
        """Buckets that are numbered along a line, joined with neighbours that are alike.

        The mean t/w of a bucket has a variance in proportion to 1/w², so the level of a run is
        Σ w·t / Σ w². Its noise is that on the total of one bucket, spread over √Σ w² bins: the
        run is believed if such a bucket would be, and as likely to be empty as any of its own.
        Buckets that may be empty beside full ones stay alone.
        """
        if not scale:
            return cls.alone(totals, sizes, scale)
        widths = sizes.astype(np.float64)
        run = joined(totals / sizes, widths**2 / (2 * scale**2), PRICE)
        level = _levels(run, totals, widths)[0][run]
        own = odds_of_emptiness(totals, sizes)
        in_doubt = ~is_more_than_noise(totals, sizes, scale, own)
        gap = in_doubt & _may_be_gap(totals, sizes, level, scale)
        _, run = np.unique(np.where(gap, -1 - np.arange(run.size), run), return_inverse=True)
        levels, spread_over = _levels(run, totals, widths)
        bins = np.bincount(run, weights=sizes).astype(np.int64)
        odds = np.sqrt(bins / bins.sum())
        np.maximum.at(odds, run, own)
        believed = is_more_than_noise(levels * spread_over, spread_over, scale, odds)
        return cls(run, bins, levels * bins, scale * bins / spread_over, believed)


def _levels(run: Counts, totals: Counts, widths: Floats) -> tuple[Floats, Floats]:
    """The level of each run, by least squares, and √Σ w²."""
    squares = np.bincount(run, weights=widths**2)
    return np.bincount(run, weights=totals * widths) / squares, np.sqrt(squares)


def _may_be_gap(totals: Counts, sizes: Counts, level: Floats, scale: float) -> NDArray[np.bool_]:
    """Which buckets must not be given the `level` of their run, as they may be empty.

    If w bins of the level L are empty, each is wrong by L; if they are full and released as 0, by
    1. Noise of `scale` s makes a total t of an empty bucket e^((|t − w·L| − |t|)/s) times as likely
    as of a full one, and there are o empty buckets for each full one, as negative totals tell, or
    fewer by `BESIDE_FULL` here.
    """
    high = np.maximum(level, 0.0)
    likelier = (np.abs(totals - sizes * high) - np.abs(totals)) / scale
    odds = empty_to_full(totals, np.zeros_like(totals))
    with np.errstate(divide="ignore"):
        return np.asarray(likelier + np.log(odds * high) > log(BESIDE_FULL))
