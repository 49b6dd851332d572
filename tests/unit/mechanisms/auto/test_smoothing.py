"""What neighbours tell of a bin: as much as they are alike, and nothing where they are not."""

from __future__ import annotations

from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from onesided.data.metrics import mre
from onesided.mechanisms.auto.denoising.noise import Noise
from onesided.mechanisms.auto.denoising.posterior import likely_counts
from onesided.mechanisms.auto.denoising.smoothing import Expected, expected_from_others
from onesided.randomness import seeded

RATE = Fraction(1, 100)
NOISE = Noise(float(RATE))
BINS = 1024
PLACE = np.arange(BINS)


def noisy(counts: np.ndarray, seed: int) -> np.ndarray:
    return counts + seeded(seed).two_sided_geometric(RATE, counts.size)


def expected(counts: np.ndarray, seed: int = 1) -> Expected:
    return expected_from_others(noisy(counts, seed), NOISE.variance)


def test_bins_that_are_all_alike_tell_of_each_other() -> None:
    found = expected(np.full(BINS, 700))
    np.testing.assert_allclose(found.means, 700, atol=40)
    assert np.median(found.variances) < NOISE.variance / 100


@pytest.mark.parametrize("edge", [512, 331])
def test_what_is_expected_changes_where_counts_do(edge: int) -> None:
    counts = np.where(edge > PLACE, 1_000, 5_000)
    found = expected(counts)
    near = np.abs(PLACE - edge) < 8
    np.testing.assert_allclose(found.means[~near], counts[~near], atol=250)
    assert np.all(np.abs(found.means - counts)[found.variances < np.inf] < 1_000)


@pytest.mark.parametrize(
    "counts",
    [np.where(PLACE % 2 == 0, 100_000, 0), seeded(2).generator().gamma(1, 400, BINS).astype(int)],
    ids=["every other", "uneven"],
)
def test_counts_that_differ_beyond_the_noise_tell_nothing(counts: np.ndarray) -> None:
    assert np.all(expected(counts).variances == np.inf)


def test_a_bin_does_not_speak_for_itself() -> None:
    """All others say 0; how much is measured in one bin moves its neighbours and not itself."""
    counts = np.zeros(64)
    for own in (0.0, 3.0, 100.0):
        counts[20] = own
        found = expected_from_others(counts, 1.0)
        assert found.variances[20] == np.inf or found.means[20] == 0


@pytest.mark.parametrize("bins", [1, 2, 3, 5, 7])
def test_few_bins(bins: int) -> None:
    found = expected_from_others(np.full(bins, 10.0), 4.0)
    told = found.variances < np.inf
    assert found.means.shape == found.variances.shape == (bins,)
    assert told.any() == (bins > 1)
    np.testing.assert_allclose(found.means[told], 10)


def test_where_there_is_no_noise_nothing_is_left_to_tell() -> None:
    found = expected_from_others(np.full(8, 10.0), Noise(1000.0, 1000.0).variance)
    assert np.all(found.variances == np.inf)


@pytest.mark.parametrize(("mean", "deviation"), [(0.0, 5.0), (40.0, 1.0), (17.0, 30.0)])
def test_chances_are_those_of_a_normal_distribution(mean: float, deviation: float) -> None:
    supposed = np.array([0.0, 5.0, 10.0, 20.0, 40.0, 80.0])
    found = Expected(np.array([mean]), np.array([deviation**2])).chances(supposed)[0]
    normal = NormalDist(mean, deviation)
    below = np.array([normal.cdf(edge) for edge in (2.5, 7.5, 15, 30, 60, 160)])
    np.testing.assert_allclose(found, np.diff(below, prepend=0) / below[-1], atol=5e-4)
    assert found.sum() == pytest.approx(1, abs=1e-5)


LEVELS = {
    "waves": 600 + 500 * np.sin(PLACE / 40),
    "steps": 300.0 * (1 + PLACE // 100),
    "far above the noise": 9_000.0 + 3_000 * (PLACE // 256),
    "few full bins": np.where(PLACE % 64 == 0, 5_000.0, 0.0),
    "half full": np.where(PLACE % 2 == 0, 1_200.0, 0.0),
    "uneven": seeded(1).generator().gamma(1, 1_000, BINS),
    "empty": np.zeros(BINS),
}
GAIN = {"waves": 0.6, "steps": 0.6, "far above the noise": 0.8}
"""Far above the noise, counts vary by chance as well."""


@pytest.mark.parametrize("kind", LEVELS)
def test_neighbours_help_where_they_are_alike_and_do_no_harm_elsewhere(kind: str) -> None:
    counts = seeded(3).generator().poisson(LEVELS[kind])
    alone, beside = [], []
    for seed in range(6):
        drawn = noisy(counts, seed)
        told = expected_from_others(drawn, NOISE.variance)
        alone.append(mre(counts, likely_counts(drawn, NOISE).counts))
        beside.append(mre(counts, likely_counts(drawn, NOISE, expected=told).counts))
    assert np.mean(beside) <= GAIN.get(kind, 1.02) * np.mean(alone)


def test_neighbours_that_are_none_are_not_believed() -> None:
    """The same counts in a random order: what lies beside a bin says nothing of it."""
    counts = seeded(3).generator().permutation(LEVELS["steps"]).astype(np.int64)
    drawn = noisy(counts, 5)
    told = expected_from_others(drawn, NOISE.variance)
    alone = mre(counts, likely_counts(drawn, NOISE).counts)
    assert mre(counts, likely_counts(drawn, NOISE, expected=told).counts) <= 1.02 * alone
