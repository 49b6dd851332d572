"""How many values the units of each bin have, one-sided: another unit can only add some."""

from __future__ import annotations

from dataclasses import replace

from onesided.data import Measurement, MeasurementTerms
from onesided.data.histogram import Counts
from onesided.loss import Number, positive
from onesided.mechanisms.sums import GridTotals, expected_sum_error, release_sum, sum_terms
from onesided.randomness import Randomness

DISTINCT = "one-sided-distinct"
"""What the receipt calls it."""


def distinct_terms(epsilon: Number, *, most: int) -> MeasurementTerms:
    """What can be said of `release_distinct` before the data are read."""
    noise = f"one-sided geometric of rate {positive(epsilon) / most} on each number of values"
    return replace(sum_terms(epsilon, ceiling=most, nonnegative=True), noise=noise)


def release_distinct(
    values: Counts, epsilon: Number, rng: Randomness, *, most: int, open_domain: bool
) -> Measurement:
    """D − G, G geometric of rate ε/m, clipped at 0 and corrected by its median: the pair (0, ε).

    - `values`: D, the number of values in each bin that some non-sensitive unit has.
    - `most`: m, of how many pairs of a bin and a value a unit has at most.
    - `open_domain`: bins are those that occurred, sensitive ones included.
    """
    # No unit moves all of the numbers together by more than m, whatever the number of bins.
    totals = GridTotals(values, ceiling=most, nonnegative=True, open_domain=open_domain)
    return release_sum(totals, epsilon, rng)


def expected_distinct_error(epsilon: Number, *, most: int) -> float:
    """The mean error of a number of values of non-sensitive units, where it is far above 0."""
    return expected_sum_error(epsilon, ceiling=most, step=1, k=1)
