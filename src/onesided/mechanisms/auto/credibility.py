"""What to believe of buckets whose totals and deviations are known with noise.

Everything here is post-processing, so floating point does no harm.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts, Floats

BORNE = 0.05
"""By how much bins may be wrong on average because noise is taken for their counts: one in twenty,
as for a confidence of 95 %."""

DOUBT = 2.0
"""By how many standard deviations or scales of its noise a number may well be off: one side of
either exceeds that with a probability of 2 to 7 %."""

WORTHWHILE = 2 / 3
"""Bins that deviate by a larger part of their total are released as 0. The least relative error
that a common value can have is that part, so there is less than a third to be gained."""


def pools(totals: NDArray[Any], sizes: Counts, least: float) -> Counts:
    """The pool of each bucket: those of like means, until their `totals` come to about `least`.

    All buckets are in one pool where there is not even so much altogether.
    """
    order = np.argsort(totals / sizes, kind="stable")
    heaped = np.maximum(np.maximum.accumulate(np.cumsum(totals[order])), 0)
    last = max(int(heaped[-1] // least) - 1, 0) if totals.size else 0
    pool = np.empty(totals.size, dtype=np.int64)
    pool[order] = np.minimum(heaped // least, last)
    _, numbered = np.unique(pool, return_inverse=True)
    return np.asarray(numbered, dtype=np.int64)


def shares_of_means(ratios: Floats) -> Floats:
    """Which part of their mean to give to bins that deviate by such parts of their total.

    Log-normal counts of spread σ deviate by 2Φ(σ) − 1 of their total from the median; the value
    with the least expected relative error, their median under weights 1/x, lies e^(−3σ²/2) below
    their mean. Nothing is given beyond what is `WORTHWHILE`.
    """
    normal = NormalDist()
    inside = np.clip(ratios, 0, WORTHWHILE)
    spreads = np.array([normal.inv_cdf((1 + each) / 2) for each in inside], dtype=np.float64)
    return np.where(ratios <= WORTHWHILE, np.exp(-1.5 * np.square(spreads)), 0.0)


def is_more_than_noise(
    totals: NDArray[Any], sizes: NDArray[Any], scale: float, odds: Floats
) -> NDArray[np.bool_]:
    """Whether to believe that buckets with such noisy `totals` are not empty.

    If w bins with the total t are empty after all, each is wrong by t/w; if they are full and
    released as 0, by 1. Noise of `scale` s exceeds t with probability e^(−t/s)/2, and there are o
    empty buckets for each full one, its `odds`. So t is believed if o·t/w·e^(−t/s)/2 ≤ `BORNE`.
    Where t < w most bins are empty in any case, and 0 is the value of least error.
    """
    t = np.maximum(totals, 0)
    return np.asarray((totals >= sizes) & (odds * t / sizes * np.exp(-t / scale) / 2 <= BORNE))


def odds_of_emptiness(totals: NDArray[Any], sizes: Counts) -> Floats:
    """How many empty buckets there are for each full one, given noisy `totals`.

    As many as the negative totals tell, which half of the empty ones have: among all buckets or
    among those about as wide, as more are found. But √(w/d) at least for w of d bins, for the
    wider a bucket, the more it is like a gap.
    """
    width = np.frexp(sizes)[1].astype(np.int64)
    odds = np.sqrt(sizes / sizes.sum())
    for kind in (np.zeros_like(width), width):
        odds = np.maximum(odds, empty_to_full(totals, kind))
    return np.asarray(odds, dtype=np.float64)


def empty_to_full(totals: NDArray[Any], kind: Counts) -> Floats:
    """How many empty buckets there are for each full one of its kind, as negative totals tell."""
    number = np.bincount(kind)
    empty = np.minimum(1 + 2 * np.bincount(kind, weights=totals < 0), number)
    return np.asarray((empty / (number + 1 - empty))[kind], dtype=np.float64)
