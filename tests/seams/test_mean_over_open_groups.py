"""A mean over groups that nobody declared: which keys occur decides nothing but through noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from onesided.data import Histogram
from onesided.mechanisms.sums import GridTotals, mean_terms, release_mean, release_sum
from onesided.randomness import Randomness, seeded
from onesided.randomness.entropy import SeededEntropy
from support.terms import assert_fits

HALF = Fraction(1, 2)
CEILING = 8
MAX_GROUPS = 4


class Recording(Randomness):
    """Seeded, and it keeps the rates that were asked for."""

    def __init__(self) -> None:
        super().__init__(SeededEntropy((1,)))
        self.rates: list[Fraction] = []

    def geometric(self, rate: Fraction, size: int) -> NDArray[np.int64]:
        self.rates.append(rate)
        return super().geometric(rate, size)


def open_groups(units: list[int]) -> tuple[GridTotals, Histogram]:
    """Ten steps from each of the non-sensitive `units` of the keys that occur."""
    totals = GridTotals(10 * np.array(units), ceiling=CEILING, k=MAX_GROUPS, open_domain=True)
    counts = Histogram(units, units, k=MAX_GROUPS, total_public=False, open_domain=True)
    return totals, counts


@pytest.mark.parametrize("units", [[], [10], [10, 0], [10, 0, 0, 0, 0, 0]])
def test_the_noise_does_not_follow_the_number_of_keys(units: list[int]) -> None:
    """Keys with no non-sensitive unit are those that sensitive units alone hold."""
    rng = Recording()
    release_mean(*open_groups(units), HALF, rng)
    assert set(rng.rates) == {HALF / 2 / MAX_GROUPS, HALF / 2 / (MAX_GROUPS * CEILING)}


@pytest.mark.parametrize("units", [[], [10], [10, 0]])
def test_a_mean_and_a_sum_of_no_rows_are_answers(units: list[int]) -> None:
    found = release_mean(*open_groups(units), HALF, seeded(1))
    assert_fits(found, mean_terms(HALF, ceiling=CEILING, k=MAX_GROUPS), len(units))
    assert found.keys is not None
    assert set(found.keys) <= {0}
    assert release_sum(open_groups(units)[0], HALF, seeded(1)).keys is not None
