"""Sums and means of bounded values, one-sided: a sum can only grow with another unit.

Each unit's total in a bin is clipped to [0, B] and rounded down to a public grid before it is
added up, so one non-sensitive unit moves the sums by at most k·B, upwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import hypot, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.data import Covers, Histogram, Interval, Measured, Measurement, MeasurementTerms
from onesided.data.histogram import Counts, Floats
from onesided.errors import InputError, MechanismRefused
from onesided.loss import Loss, Number, positive, quantity
from onesided.mechanisms.noise import CONFIDENCE, geometric_mean, geometric_quantile
from onesided.mechanisms.one_sided import add_median, subtract_noise
from onesided.randomness import Randomness

LARGEST = 2**62
"""Released integers stay below it, in steps too: a sum of 2⁵³ with noise of the least rate does."""

LARGEST_STEP = 2**32
"""Sums of larger steps are floating-point numbers, as integers would end too soon."""


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


def sum_terms(
    epsilon: Number, *, ceiling: int, step: Number = 1, k: int = 1, nonnegative: bool = False
) -> MeasurementTerms:
    """What can be said of `release_sum` before the data are read; k as in `GridTotals`."""
    exact, whole = positive(epsilon), _is_whole(positive(step, "step"))
    covered = Covers(Measured.NONSENSITIVE, upper=True, confidence=float(CONFIDENCE), whole=whole)
    certain = Covers(Measured.ALL, upper=False, confidence=1.0, whole=whole)
    return MeasurementTerms(
        loss=Loss(0, exact),
        noise=_noise(exact / (k * ceiling), positive(step, "step")),
        whole=whole,
        covers=(covered, certain) if nonnegative else (covered,),
    )


def release_sum(
    totals: GridTotals, epsilon: Number, rng: Randomness, *, correct: bool = True
) -> Measurement:
    """S − G in steps, G geometric of rate ε/(k·B), clipped at 0: the pair (0, ε).

    `correct` adds the median of G to positive sums. The interval speaks about the sum over
    non-sensitive units of clipped and rounded values; `parts["lower"]` bounds the true sum over
    all units from below for certain where the schema says that values are not negative.
    """
    rate = _rate(totals, positive(epsilon))
    floor = _floor(totals, rate, rng)
    keys = np.flatnonzero(floor) if totals.open_domain else None
    if keys is not None:
        floor = floor[keys]
    lower = _worth(floor, totals.step)
    reach = geometric_quantile(rate, 1 - CONFIDENCE)
    covered = Interval(
        Measured.NONSENSITIVE, lower, _worth(floor + reach, totals.step), float(CONFIDENCE)
    )
    certain = Interval(Measured.ALL, lower, None, 1.0)
    return Measurement(
        value=_worth(add_median(floor, rate) if correct else floor, totals.step),
        intervals=(covered, certain) if totals.nonnegative else (covered,),
        keys=keys,
        parts={"lower": lower},
    )


def _rate(totals: GridTotals, epsilon: Fraction) -> Fraction:
    """That of the noise: one unit moves the sums by at most k·B steps in all."""
    return epsilon / (totals.k * totals.ceiling)


def _noise(rate: Fraction, step: Fraction) -> str:
    return f"one-sided geometric of rate {rate} in steps of {step} on each sum"


def _floor(totals: GridTotals, rate: Fraction, rng: Randomness) -> Counts:
    """(S − G)₊ in steps, for every bin."""
    return np.maximum(subtract_noise(totals.steps, rate, rng), 0)


def _is_whole(step: Fraction) -> bool:
    """Whether sums are released as integers; those of very large steps would not fit."""
    return step.denominator == 1 and step <= LARGEST_STEP


def _worth(steps: Counts, step: Fraction) -> NDArray[Any]:
    """What so many steps come to: integers where the step is one, at most the largest there are."""
    if not _is_whole(step):
        return steps * float(step)
    return np.minimum(steps, LARGEST // step.numerator) * step.numerator


def expected_sum_error(epsilon: Number, *, ceiling: int, step: Number, k: int) -> float:
    """E|G − m| in the unit of the values, m the median that is added: about ln 2·k·B/ε.

    It is about the sums of non-sensitive units, and without what clipping and rounding take.
    """
    rate = positive(epsilon) / (k * ceiling)
    return log(2) * geometric_mean(rate) * float(quantity(step, "step"))


def expected_mean_error(
    epsilon: Number, *, ceiling: int, step: Number, k: int, counted: int, count: float
) -> float:
    """That of a mean over `count` values of non-sensitive units, which is taken to be half of B.

    The errors of sum and count are independent of each other. A mean lies between 0 and B, so that
    it is never further off than half of B.
    """
    half, most = positive(epsilon) / 2, float(ceiling * quantity(step, "step"))
    if not count:
        return most / 2
    sums = expected_sum_error(half, ceiling=ceiling, step=step, k=k)
    counts = expected_sum_error(half, ceiling=counted, step=1, k=k)
    return min(hypot(sums, counts * most / 2) / count, most / 2)


def mean_terms(
    epsilon: Number, *, ceiling: int, step: Number = 1, k: int = 1, counted: int = 1
) -> MeasurementTerms:
    """What can be said of `release_mean` before the data are read.

    `counted` is the most that one unit adds to the count of a bin: 1, or its rows.
    """
    half = positive(epsilon) / 2
    sums = sum_terms(half, ceiling=ceiling, step=step, k=k)
    counts = sum_terms(half, ceiling=counted, k=k)
    both = float(2 * CONFIDENCE - 1)
    return MeasurementTerms(
        loss=sums.loss + counts.loss,
        noise=f"sum: {sums.noise}; count: {counts.noise}",
        whole=False,
        covers=(Covers(Measured.NONSENSITIVE, upper=True, confidence=both, whole=False),),
    )


def release_mean(
    totals: GridTotals, data: Histogram | GridTotals, epsilon: Number, rng: Randomness
) -> Measurement:
    """Sum over count of the non-sensitive units, ε/2 for each: the pair (0, ε), no certain bound.

    NaN where the noisy count is 0. With an open domain the keys are those that the count lists, and
    the sum of every key gets noise: how many keys there are is in nothing that is said.
    `data` counts units, or (as totals of its own) rows of which a unit has a bounded number.
    """
    counts = data if isinstance(data, GridTotals) else _units(data)
    if totals.steps.shape != counts.steps.shape or totals.k != counts.k:
        raise MechanismRefused("A mean needs a sum and a count over the same bins.")
    half = positive(epsilon) / 2
    count = release_sum(counts, half, rng)
    rate = _rate(totals, half)
    listed = slice(None) if count.keys is None else count.keys
    floor = _floor(totals, rate, rng)[listed]
    value, worth = _worth(add_median(floor, rate), totals.step), float(totals.step)
    reach = geometric_quantile(rate, 1 - CONFIDENCE)
    covered = Interval(
        Measured.NONSENSITIVE, floor * worth, (floor + reach) * worth, float(CONFIDENCE)
    )
    most = float(totals.step * totals.ceiling)
    return Measurement(
        value=_ratio(value, count.value, most),
        intervals=(_ratio_interval(covered, count.intervals[0], most),),
        keys=count.keys,
        parts={"sum": value, "count": count.value},
    )


def _units(data: Histogram) -> GridTotals:
    """Counts of non-sensitive units as totals: each unit adds one step."""
    return GridTotals(data.nonsensitive, ceiling=1, k=data.k, open_domain=data.open_domain)


def _ratio_interval(sums: Interval, counts: Interval, most: float) -> Interval:
    """[y/(z + p), (y + q)/z], from s ∈ [y, y + q] and c ∈ [z, z + p]; both must hold."""
    assert sums.upper is not None
    assert counts.upper is not None
    lower = sums.lower / np.maximum(counts.upper, 1)
    upper = sums.upper / np.maximum(counts.lower, 1)
    return Interval(
        Measured.NONSENSITIVE,
        np.minimum(lower, most),
        np.where(counts.lower > 0, np.minimum(upper, most), most),
        float(2 * CONFIDENCE - 1),
    )


def _ratio(sums: NDArray[Any], counts: Counts, most: float) -> Floats:
    """sum / count, which cannot exceed the bound `most` of a single value."""
    safe = np.maximum(counts, 1)
    return np.where(counts > 0, np.minimum(sums / safe, most), np.nan)
