"""What is made of noisy counts: the noise's distribution, and less relative error than before."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from onesided.data.metrics import mre
from onesided.mechanisms.auto.denoising.noise import Noise
from onesided.mechanisms.auto.denoising.posterior import likely_counts
from onesided.mechanisms.auto.denoising.smoothing import Expected
from onesided.randomness import seeded

BINS = 1024


def with_noise(counts: np.ndarray, both: Fraction, down: Fraction, seed: int) -> np.ndarray:
    rng = seeded(seed)
    noise = rng.two_sided_geometric(both, counts.size) - rng.geometric(down, counts.size)
    return counts + noise


@pytest.mark.parametrize(
    ("both", "down"), [(0.5, 0.5), (0.3, 0.9), (2.0, 0.1), (0.7, 0.7 * (1 + 1e-9))]
)
def test_the_distribution_of_the_noise(both: float, down: float) -> None:
    reach = np.arange(400)
    two_sided = np.exp(-both * np.abs(np.arange(-399, 400)))
    exact = np.convolve(two_sided, np.exp(-down * reach)[::-1])
    values = np.arange(-399 - 399, 400)
    near = np.abs(values) <= 60
    found = Noise(both, down).likelihood(values[near].astype(float))
    np.testing.assert_allclose(found / found.sum(), exact[near] / exact[near].sum(), rtol=1e-4)


@pytest.mark.parametrize("both", [0.01, 0.5, 3.0])
def test_noise_on_both_sides_alone(both: float) -> None:
    values = np.arange(-60.0, 61.0)
    found = Noise(both).likelihood(values)
    np.testing.assert_allclose(found, np.maximum(np.exp(-both * np.abs(values)), 1e-300))
    assert Noise(both).median == 0


@pytest.mark.parametrize(("both", "down"), [("1/20", "1/15"), ("1/100", "1/30"), ("2", "1/50")])
def test_the_median_of_the_noise(both: str, down: str) -> None:
    exact = Fraction(both), Fraction(down)
    noise = with_noise(np.zeros(20_000, dtype=int), *exact, seed=5)
    scale = 1 / float(min(exact))
    known = Noise(*map(float, exact)).median
    assert known == pytest.approx(np.median(noise), abs=0.15 * scale)


LEVELS = {
    "empty": np.zeros(BINS),
    "few full bins": np.where(np.arange(BINS) % 64 == 0, 5000.0, 0.0),
    "half full": np.where(np.arange(BINS) % 2 == 0, 300.0, 0.0),
    "even": np.full(BINS, 200.0),
    "uneven": seeded(1).generator().gamma(1, 300, BINS),
}


@pytest.mark.parametrize("kind", LEVELS)
def test_the_error_is_about_that_of_the_better_of_noise_and_nothing(kind: str) -> None:
    counts = seeded(2).generator().poisson(LEVELS[kind])
    both, down = Fraction(1, 20), Fraction(1, 15)
    noisy = with_noise(counts, both, down, 3)
    found = mre(counts, likely_counts(noisy, Noise(float(both), float(down))).counts)
    better = min(mre(counts, np.maximum(noisy, 0)), mre(counts, np.zeros(BINS)))
    assert found <= 1.1 * better
    if kind in ("few full bins", "half full"):
        assert found < 0.3 * better


@pytest.mark.parametrize("epsilon", ["1/1000000000", "1", "1000"])
def test_any_scale_of_noise_gives_counts(epsilon: str) -> None:
    rate = Fraction(epsilon) / 2
    counts = np.array([0, 0, 1, 7, 10**6])
    found = likely_counts(with_noise(counts, rate, rate, 4), Noise(float(rate), float(rate))).counts
    assert found.dtype == np.int64
    assert found.min() >= 0
    if rate > 100:
        np.testing.assert_array_equal(found, counts)


def test_one_bin_alone() -> None:
    assert likely_counts(np.array([-3]), Noise(0.1, 0.1)).counts.tolist() == [0]
    noise = Noise(0.1, 0.1)
    assert likely_counts(np.array([[10_000]]), noise).counts.tolist() == [[10_000 - noise.median]]


def test_rates_too_small_to_be_told_from_one_another() -> None:
    found = Noise(1e-17, 1e-17).likelihood(np.array([-1e17, 0.0, 1e17]))
    assert np.all(np.isfinite(found))
    np.testing.assert_allclose(found * 1e-17, [1.5 * np.exp(-1), 0.5, 0.5 * np.exp(-1)], rtol=1e-3)


def test_counts_far_above_the_noise_are_not_released_too_low() -> None:
    both, down = Fraction(1, 20), Fraction(1, 15)
    counts = np.full(4096, 5000)
    found = likely_counts(with_noise(counts, both, down, 6), Noise(float(both), float(down))).counts
    assert np.median(found) == pytest.approx(5000, abs=3)


@pytest.mark.parametrize(
    ("levels", "gain"),
    [
        (np.where(np.arange(BINS) % 8 == 0, 300, 900), 0.8),
        (seeded(1).generator().gamma(3, 300, BINS), 0.8),
        (np.where(np.arange(BINS) % 64 == 0, 5000, 0), 1.02),
    ],
    ids=["all full", "all full, uneven", "few full"],
)
def test_less_is_given_up_where_no_bin_is_supposed_to_be_empty(
    levels: np.ndarray, gain: float
) -> None:
    """Counts of a few scales of the noise; where most bins are empty, that is seen all the same."""
    counts, noise = seeded(3).generator().poisson(levels), Noise(1 / 200)
    drawn = [counts + seeded(s).two_sided_geometric(Fraction(1, 200), BINS) for s in range(10)]
    cautious = np.mean([mre(counts, likely_counts(each, noise).counts) for each in drawn])
    bold = np.mean([mre(counts, likely_counts(each, noise).if_none_is_empty) for each in drawn])
    assert bold <= gain * cautious


def test_what_is_not_believed_of_counts_far_above_the_noise_moves_none_of_them() -> None:
    both, down = Fraction(1, 20), Fraction(1, 40)
    counts = 5000 + 300 * np.arange(BINS)
    noisy, noise = with_noise(counts, both, down, 7), Noise(float(both), float(down))
    wrong = Expected(seeded(8).generator().permutation(counts).astype(float), np.full(BINS, 100.0))
    np.testing.assert_array_equal(
        likely_counts(noisy, noise, expected=wrong).counts, noisy - noise.median
    )


def test_small_counts_are_not_given_up_for_a_bin_that_might_be_empty() -> None:
    """Few bins, none of them empty, some of four to five scales of the noise."""
    counts = np.where(np.arange(64) % 8 == 0, 900, 6000)
    drawn = [counts + seeded(seed).two_sided_geometric(Fraction(1, 200), 64) for seed in range(40)]
    likely = np.mean([mre(counts, likely_counts(noisy, Noise(1 / 200)).counts) for noisy in drawn])
    assert likely < 1.3 * np.mean([mre(counts, noisy) for noisy in drawn])


def test_few_empty_bins_are_not_taken_for_small_counts() -> None:
    """Noise in few bins is above 0 on average as often as below."""
    few = [seeded(seed).two_sided_geometric(Fraction(1, 5), 28) for seed in range(60)]
    assert np.mean([likely_counts(noisy, Noise(1 / 5)).counts > 0 for noisy in few]) < 0.01


def test_small_counts_are_found_in_many_bins() -> None:
    many = [6 + seeded(seed).two_sided_geometric(Fraction(1, 5), 2_000) for seed in range(10)]
    assert np.mean([likely_counts(noisy, Noise(1 / 5)).counts > 0 for noisy in many]) > 0.8


def test_no_count_is_below_what_is_known() -> None:
    noise = Noise(1 / 100, 1 / 100)
    noisy = np.concatenate([seeded(8).two_sided_geometric(Fraction(1, 100), 512), [30, 30]])
    least = np.zeros_like(noisy)
    least[-1] = 150
    found = likely_counts(noisy, noise, least=least).counts
    assert found[-2] == 0
    assert 150 <= found[-1] < 500


BLOCK = np.arange(BINS) // 64
RATE = Fraction(1, 2)


def measured(counts: np.ndarray, seed: int, block: np.ndarray | None) -> np.ndarray:
    noisy = counts + seeded(seed).two_sided_geometric(RATE, counts.size)
    return likely_counts(noisy, Noise(float(RATE)), box=block).counts


def test_neighbours_tell_whether_a_bin_is_empty() -> None:
    """All full bins are in one block: there they are found, and elsewhere noise is not."""
    counts = np.where(BLOCK == 3, 12, 0)
    told = np.mean([mre(counts, measured(counts, seed, BLOCK)) for seed in range(20)])
    alone = np.mean([mre(counts, measured(counts, seed, None)) for seed in range(20)])
    assert told < 0.4 * alone


def test_neighbours_tell_nothing_where_full_bins_are_anywhere() -> None:
    counts = np.where(seeded(9).generator().random(BINS) < 0.1, 12, 0)
    told = np.mean([mre(counts, measured(counts, seed, BLOCK)) for seed in range(20)])
    alone = np.mean([mre(counts, measured(counts, seed, None)) for seed in range(20)])
    assert told < 1.1 * alone


@pytest.mark.parametrize("full", [4, 16, 48])
def test_bins_that_are_far_from_empty_do_not_fill_the_others_of_their_block(full: int) -> None:
    """Counts that noise does not reach are beside empty ones, as many of them in every block."""
    counts = np.where(np.arange(BINS) % 64 < full, 10_000, 0)
    for seed in range(4):
        assert not measured(counts, seed, BLOCK)[counts == 0].any()


@pytest.mark.parametrize(("alike", "expected"), [(1, 0), (40, 1)])
def test_a_lone_noise_does_not_speak_for_itself(alike: int, expected: int) -> None:
    """One bin of many that is 13 scales above the others is noise; forty of them are counts."""
    rate = Fraction(1, 20)
    noisy = seeded(6).two_sided_geometric(rate, BINS)
    noisy = np.where(noisy > 80, 0, noisy)
    noisy[:alike] = 260
    found = likely_counts(noisy, Noise(float(rate))).counts
    assert np.count_nonzero(found) == expected * alike


def test_counts_above_the_noise_are_not_given_up_if_no_bin_is_empty() -> None:
    """Some counts are within the noise: if they were 0, others might be, and giving them up is less
    wrong; if none is empty it is not."""
    cautious, bold = [], []
    for kind in range(4):
        counts = seeded(7 + kind).generator().gamma(2, 1_000, 256).astype(np.int64) + 100
        for seed in range(20):
            noisy = counts + seeded(seed).two_sided_geometric(Fraction(1, 200), 256)
            found = likely_counts(noisy, Noise(1 / 200))
            cautious.append(mre(counts, found.counts))
            bold.append(mre(counts, found.if_none_is_empty))
    assert np.mean(bold) < 0.8 * np.mean(cautious)


def test_most_empty_bins_stay_empty_even_if_none_is_supposed_to_be() -> None:
    counts = np.where(np.arange(BINS) % 4 == 0, 2_000, 0)
    found = likely_counts(
        counts + seeded(4).two_sided_geometric(Fraction(1, 200), BINS), Noise(1 / 200)
    ).if_none_is_empty
    assert np.mean(found[counts == 0] > 0) < 0.05
