"""What `auto` adds to its probe bin by bin, and what the probe tells of it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.data import Histogram
from onesided.experiments.metrics import mre
from onesided.mechanisms.base import PublicShape
from onesided.mechanisms.candidate import Before
from onesided.mechanisms.completing import (
    LEAST_NEIGHBOURHOODS,
    Completed,
    neighbourhoods,
)
from onesided.mechanisms.localities import LOCALITY
from onesided.mechanisms.noise import two_sided_mean_size
from onesided.mechanisms.one_sided import subtract_noise
from onesided.mechanisms.probe import probe_rate
from onesided.randomness import seeded

LEVEL = 300
EPSILON = Fraction(1, 10)


def completed(data: Histogram, seed: int) -> tuple[np.ndarray, Fraction]:
    """What is released at a = ε/2 after a probe, and the rate of the noise on sensitive units."""
    chosen, public, rng = Completed(), PublicShape.of(data), seeded(seed)
    rate = probe_rate(EPSILON, public)
    before = Before(subtract_noise(data.nonsensitive, rate, rng), rate, None)
    left = chosen.loss(EPSILON, public)
    return chosen.measure(data, before, left, rng).value, left.sensitive


@pytest.mark.parametrize("share", [0.0, 1 / 150])
def test_where_the_probe_saw_nothing_its_noise_is_not_added(share: float) -> None:
    everyone = seeded(1).generator().poisson(np.full(2048, LEVEL))
    data = Histogram(everyone, np.rint(everyone * share).astype(int))
    value, rate = completed(data, 2)
    assert mre(everyone, value) < 1.05 * two_sided_mean_size(rate) / LEVEL


def test_what_the_probe_saw_is_never_taken_back() -> None:
    everyone = np.repeat([0, LEVEL, 50 * LEVEL], 100)
    value, _ = completed(Histogram(everyone, everyone), 3)
    assert mre(everyone[:100], value[:100]) == 0
    assert mre(everyone[200:], value[200:]) < 0.01


def test_unseen_bins_among_seen_ones_stay_empty() -> None:
    """Every other bin is full and seen: those between are empty, whatever their neighbours are."""
    everyone = np.where(np.arange(1024) % 2, 50 * LEVEL, 0)
    value, _ = completed(Histogram(everyone, everyone // 2), 4)
    assert mre(everyone, value) < 0.02


@given(st.lists(st.integers(1, 40), min_size=1, max_size=3))
def test_neighbourhoods_are_a_few_bins_each_and_hold_all(shape: list[int]) -> None:
    found = neighbourhoods(tuple(shape))
    sizes = np.bincount(found.reshape(-1))
    assert found.shape == tuple(shape)
    assert sizes.min() > 0
    assert sizes.max() <= max(min(LOCALITY, found.size // LEAST_NEIGHBOURHOODS), 1)


def test_neighbours_in_a_plane_are_near_in_both_directions() -> None:
    rows, columns = np.nonzero(neighbourhoods((64, 64)) == 5)
    assert np.ptp(rows) == np.ptp(columns) == 7


def test_bins_beside_each_other_in_a_plane_tell_of_each_other() -> None:
    """A slope on a map, and the same counts in an order in which no neighbours are alike."""
    levels = LEVEL * (1 + np.arange(64)[:, None] / 32) * np.ones(64)
    counts = seeded(5).generator().poisson(levels)
    mixed = seeded(6).generator().permutation(counts.reshape(-1)).reshape(counts.shape)
    alike, unlike = (
        np.mean([mre(each, completed(Histogram(each, each // 2), seed)[0]) for seed in range(4)])
        for each in (counts, mixed)
    )
    assert alike < 0.8 * unlike
