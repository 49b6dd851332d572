"""Counts at two levels: found where they are, and told from even bins and from even blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from onesided.mechanisms.easel import Easel
from onesided.mechanisms.grain import TwoLevels
from onesided.mechanisms.pieces import Pieces, Roughness
from onesided.mechanisms.two_levels import two_levels
from onesided.randomness import seeded

BINS, RATE, THRESHOLD = 1024, 1 / 40, 40


def released(
    counts: np.ndarray, share: float, seed: int, threshold: int = THRESHOLD
) -> tuple[Pieces, Roughness]:
    """One piece of all bins, of which the probe saw as many as it would; and exact answers."""
    dice = seeded(seed).generator()
    others = dice.binomial(counts, share)
    probe = others - dice.geometric(1 - np.exp(-RATE), counts.size) + 1
    found = Pieces.of(np.zeros(BINS, int), np.array([others.mean()]), probe, RATE)
    exact = Roughness.of(counts, found, threshold)
    return found, Roughness(*exact.values[:1], exact.deviations, threshold, (200.0,) * 4)


def around(found: Pieces, mean: float, dice: np.random.Generator) -> Easel:
    """Bins that expect so many units."""
    return Easel(found, mean - found.means, dice)


@pytest.mark.parametrize(("full", "low", "high"), [(1 / 16, 20, 2000), (1 / 2, 0, 200)])
def test_two_levels_are_found(full: float, low: int, high: int) -> None:
    """Few full bins on even ground, and empty ones between full ones."""
    dice = seeded(1).generator()
    counts = dice.poisson(np.where(np.arange(BINS) % round(1 / full) == 0, high, low))
    found, rough = released(counts, 0.5, 2)
    grain = two_levels(around(found, counts.mean(), dice), rough)
    assert grain is not None
    assert grain.levels is not None
    assert grain.levels.full == pytest.approx(full, rel=0.2)
    assert grain.levels.low * counts.mean() == pytest.approx(low, abs=5)


def test_levels_are_found_where_bins_of_a_piece_expect_more_sensitive_units_than_others() -> None:
    dice = seeded(1).generator()
    counts = dice.poisson(np.where(np.arange(BINS) % 16 == 0, 2000, 20))
    found, rough = released(counts, 0.1, 2)
    unequal = np.where(np.arange(BINS) // 64 % 2 == 0, 1.2, 0.8)
    easel = Easel(found, counts.mean() * unequal - found.means, dice)
    grain = two_levels(easel, rough)
    assert grain is not None
    assert grain.levels is not None
    assert grain.levels.low * counts.mean() == pytest.approx(20, abs=5)


def test_even_counts_need_no_two_levels() -> None:
    dice = seeded(1).generator()
    counts = dice.poisson(300.0, BINS)
    found, rough = released(counts, 0.5, 2)
    assert two_levels(around(found, 300.0, dice), rough) is None


def test_two_levels_must_agree_with_the_number_of_bins_that_the_probe_saw() -> None:
    dice = seeded(1).generator()
    counts = dice.poisson(np.where(np.arange(BINS) % 16 == 0, 2000, 20))
    found, rough = released(counts, 0.5, 2)
    assert two_levels(around(found, counts.mean(), dice), rough) is not None
    all_seen = replace(found, seen=BINS)
    assert two_levels(around(all_seen, counts.mean(), dice), rough) is None


def test_full_blocks_beside_empty_ones_are_no_two_levels_of_bins() -> None:
    dice = seeded(1).generator()
    counts = dice.poisson(np.where(np.arange(BINS) // 128 % 2 == 0, 400, 0))
    found, rough = released(counts, 0.5, 2)
    assert two_levels(around(found, counts.mean(), dice), rough) is None


@pytest.mark.parametrize("full", [1e-3, 0.1, 0.5, 0.93])
def test_levels_are_one_on_average_and_spread_evenly(full: float) -> None:
    levels = TwoLevels(full, 0.25).spread(BINS, seeded(3).generator())
    assert np.mean(levels > 1) == pytest.approx(full, abs=1 / BINS)
    assert full * TwoLevels(full, 0.25).high + (1 - full) * 0.25 == pytest.approx(1)
    apart = np.diff(np.flatnonzero(levels > 1))
    assert apart.size == 0 or np.ptp(apart) <= 1


def test_no_units_in_pieces_have_no_levels() -> None:
    dice = seeded(1).generator()
    found, rough = released(np.zeros(BINS, int), 0.5, 2)
    assert two_levels(around(found, 0.0, dice), rough) is None


def test_holes_are_considered_where_nothing_tells_them_from_full_bins_on_even_ground() -> None:
    """Counts far below the threshold, a fifth of them 0: what is visible says nothing of that."""
    dice = seeded(1).generator()
    counts = dice.poisson(np.where(np.arange(BINS) % 5 == 0, 0, 2000))
    found, rough = released(counts, 0.002, 2, threshold=5000)
    grain = two_levels(around(found, counts.mean(), dice), rough)
    assert grain is not None
    assert grain.levels is not None
    assert grain.levels.low == 0
    assert grain.levels.full == pytest.approx(0.8, abs=0.1)
