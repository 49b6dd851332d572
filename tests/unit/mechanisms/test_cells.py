"""Cells in order: blocks agree with cells, sums never fall, and noise reaches as far as said."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from onesided.data import Histogram
from onesided.mechanisms.cells import (
    Blocks,
    NoisyCells,
    never_falling,
    sums_of_geometric,
    sums_of_two_sided,
)
from onesided.mechanisms.ranks import BEYOND_LEAST, BEYOND_MOST, UP_TO_LEAST, UP_TO_MOST, Ranks
from onesided.mechanisms.ranks_of_all import RanksOfAll
from onesided.randomness import seeded

TAIL = 0.05


@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(1), Fraction(20)])
@pytest.mark.parametrize("parts", [1, 7, 60])
def test_sums_of_noise_stay_within_their_bounds(rate: Fraction, parts: int) -> None:
    rng, runs = seeded(parts), 4_000
    low, high = sums_of_geometric(float(rate), np.array([parts]), TAIL)
    drawn = rng.geometric(rate, runs * parts).reshape(runs, parts).sum(axis=1)
    assert np.mean(drawn < low) <= TAIL
    assert np.mean(drawn > high) <= TAIL
    reach = sums_of_two_sided(float(rate), np.array([parts]), TAIL)
    drawn = rng.two_sided_geometric(rate, runs * parts).reshape(runs, parts).sum(axis=1)
    assert np.mean(drawn > reach) <= TAIL


def test_bounds_are_not_far_from_the_noise() -> None:
    low, high = sums_of_geometric(0.1, np.array([50]), TAIL)
    spread = 50**0.5 / 0.1
    assert high - low < 6 * spread


@pytest.mark.parametrize("cells", [1, 5, 64, 65, 1_000])
@pytest.mark.parametrize("size", [None, 1, 7])
def test_without_noise_estimates_are_the_counts(cells: int, size: int | None) -> None:
    counts = np.random.default_rng(cells).integers(0, 9, (2, cells))
    for blocks in (Blocks(cells, size), Blocks.usual(cells)):
        for two_sided in (False, True):
            seen = NoisyCells.of(blocks, counts, Fraction(10**6), seeded(1), two_sided=two_sided)
            np.testing.assert_allclose(seen.up_to, np.cumsum(counts, axis=1))
            for low, high in seen.bounds(TAIL):
                np.testing.assert_allclose(low, high)


def test_a_sequence_that_falls_is_evened_out() -> None:
    assert never_falling(np.array([1.0, 3.0, 2.0, 5.0, -1.0])).tolist() == [
        1,
        2.25,
        2.25,
        2.25,
        2.25,
    ]
    assert never_falling(np.array([-4.0, 1.0])).tolist() == [0, 1]


@pytest.mark.parametrize("chosen", [Ranks(), Ranks(block=5), RanksOfAll(), RanksOfAll(block=5)])
def test_bounds_hold_for_sensitive_units_anywhere(chosen: Ranks | RanksOfAll) -> None:
    """Two sums a cell, of which each bound may fail in one of eighty runs."""
    nonsensitive = np.array([0, 9, 30, 0, 0, 5, 60, 1, 0, 0, 2, 0])
    everyone = nonsensitive + np.array([40, 0, 0, 8, 0, 0, 0, 0, 70, 0, 0, 1])
    up_to = np.cumsum(everyone)
    sums = {UP_TO_LEAST: up_to, UP_TO_MOST: up_to}
    sums |= {BEYOND_LEAST: up_to[-1] - up_to, BEYOND_MOST: up_to[-1] - up_to}
    data = Histogram(everyone, nonsensitive, total_public=False)
    missed, runs = dict.fromkeys(sums, 0.0), 200
    for seed in range(runs):
        found = chosen.release(data, epsilon=1, rng=seeded(seed))
        assert np.all(found.value >= -1e-9)
        for name, truth in sums.items():
            bound = found.parts[name]
            wrong = bound > truth if name in (UP_TO_LEAST, BEYOND_LEAST) else bound < truth
            missed[name] += float(np.mean(wrong)) / runs
    assert max(missed.values()) <= 1 / 80
