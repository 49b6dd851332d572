"""Sums and means of bounded values, one-sided: a sum can only grow with another unit.

Each unit's total in a bin is clipped to [0, B] and rounded down to a public grid before it is
added up, so one non-sensitive unit moves the sums by at most k·B, upwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from onesided.data import Histogram, Interval, Measured, Measurement
from onesided.data.histogram import Counts
from onesided.errors import InputError, MechanismRefused
from onesided.loss import Loss, Number, positive, quantity
from onesided.mechanisms.noise import CONFIDENCE, geometric_mean, geometric_quantile
from onesided.mechanisms.one_sided import add_median, subtract_noise
from onesided.randomness import Randomness


@dataclass(frozen=True, init=False)
class GridTotals:
    """Per bin, the sum over *non-sensitive* units of their totals in steps of a public grid.

    - `steps`: Σ ⌊min(max(v, 0), B) / step⌋ over the units' totals v in the bin.
    - `ceiling`: B in steps, the most that one unit may add to a bin.
    - `step`: what one step is worth.
    - `k`: the most bins that one unit may touch.
    - `nonnegative`: the schema says that values are ≥ 0, so that clipping only ever lowers a sum.
    - `open_domain`: as for a histogram; bins are the keys that occurred.
    """

    steps: Counts
    ceiling: int
    step: Fraction
    k: int
    nonnegative: bool
    open_domain: bool

    def __init__(
        self,
        steps: Counts,
        *,
        ceiling: int,
        step: Number = 1,
        k: int = 1,
        nonnegative: bool = False,
        open_domain: bool = False,
    ) -> None:
        checked = Histogram(steps, steps, k=k, total_public=False, open_domain=open_domain)
        if isinstance(ceiling, bool) or not isinstance(ceiling, int) or ceiling < 1:
            raise InputError("The bound of a sum must be at least one step of its grid.")
        values = (checked.nonsensitive, ceiling, quantity(step, "step"), checked.k)
        for name, value in zip(("steps", "ceiling", "step", "k"), values, strict=True):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "nonnegative", nonnegative)
        object.__setattr__(self, "open_domain", open_domain)


def release_sum(
    totals: GridTotals, epsilon: Number, rng: Randomness, *, correct: bool = True
) -> Measurement:
    """S − G in steps, G geometric of rate ε/(k·B), clipped at 0: the pair (0, ε).

    `correct` adds the median of G to positive sums. The interval speaks about the sum over
    non-sensitive units of clipped and rounded values; `parts["lower"]` bounds the true sum over
    all units from below for certain where the schema says that values are not negative.
    """
    exact = positive(epsilon)
    rate = exact / (totals.k * totals.ceiling)
    floor = np.maximum(subtract_noise(totals.steps, rate, rng), 0)
    keys = np.flatnonzero(floor) if totals.open_domain else None
    if keys is not None:
        floor = floor[keys]
    value = add_median(floor, rate) if correct else floor
    worth = float(totals.step)
    reach = geometric_quantile(rate, 1 - CONFIDENCE)
    covered = Interval(
        Measured.NONSENSITIVE, floor * worth, (floor + reach) * worth, float(CONFIDENCE)
    )
    certain = Interval(Measured.ALL, floor * worth, None, 1.0)
    return Measurement(
        value=value * worth,
        loss=Loss(0, exact),
        noise=f"one-sided geometric of rate {rate} in steps of {totals.step} on each sum",
        intervals=(covered, certain) if totals.nonnegative else (covered,),
        keys=keys,
        parts={"lower": floor * worth},
    )


def expected_sum_error(epsilon: Number, *, ceiling: int, step: Number, k: int) -> float:
    """E[G] in the unit of the values: about k·B/ε, without what clipping and rounding take."""
    rate = positive(epsilon) / (k * ceiling)
    return geometric_mean(rate) * float(quantity(step, "step"))


def release_mean(
    totals: GridTotals, data: Histogram | GridTotals, epsilon: Number, rng: Randomness
) -> Measurement:
    """Sum over count of the non-sensitive units, ε/2 for each: the pair (0, ε), no certain bound.

    NaN where the noisy count is 0. With an open domain the keys are those that the count lists.
    `data` counts units, or (as totals of its own) rows of which a unit has a bounded number.
    """
    counts = data if isinstance(data, GridTotals) else _units(data)
    if totals.steps.shape != counts.steps.shape or totals.k != counts.k:
        raise MechanismRefused("A mean needs a sum and a count over the same bins.")
    half = positive(epsilon) / 2
    count = release_sum(counts, half, rng)
    sums = release_sum(replace_domain(totals), half, rng)
    listed = slice(None) if count.keys is None else count.keys
    value, most = sums.value[listed], float(totals.step * totals.ceiling)
    return Measurement(
        value=_ratio(value, count.value, most),
        loss=sums.loss + count.loss,
        noise=f"sum: {sums.noise}; count: {count.noise}",
        intervals=(_ratio_interval(sums.intervals[0], count.intervals[0], listed, most),),
        keys=count.keys,
        parts={"sum": value, "count": count.value},
    )


def replace_domain(totals: GridTotals) -> GridTotals:
    """The same totals as if every key were declared: for use inside a release that lists keys."""
    return GridTotals(
        totals.steps,
        ceiling=totals.ceiling,
        step=totals.step,
        k=totals.k,
        nonnegative=totals.nonnegative,
    )


def _units(data: Histogram) -> GridTotals:
    """Counts of non-sensitive units as totals: each unit adds one step."""
    return GridTotals(data.nonsensitive, ceiling=1, k=data.k, open_domain=data.open_domain)


def _ratio_interval(
    sums: Interval, counts: Interval, listed: slice | NDArray[np.int64], most: float
) -> Interval:
    """[y/(z + p), (y + q)/z], from s ∈ [y, y + q] and c ∈ [z, z + p]; both must hold."""
    assert sums.upper is not None
    assert counts.upper is not None
    lower = sums.lower[listed] / np.maximum(counts.upper, 1)
    upper = sums.upper[listed] / np.maximum(counts.lower, 1)
    return Interval(
        Measured.NONSENSITIVE,
        np.minimum(lower, most),
        np.where(counts.lower > 0, np.minimum(upper, most), most),
        float(2 * CONFIDENCE - 1),
    )


def _ratio(sums: NDArray[np.float64], counts: Counts, most: float) -> NDArray[np.float64]:
    """sum / count, which cannot exceed the bound `most` of a single value."""
    safe = np.maximum(counts, 1)
    return np.where(counts > 0, np.minimum(sums / safe, most), np.nan)
