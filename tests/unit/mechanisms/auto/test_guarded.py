"""Buckets that are not taken at their word: what their deviations do, and what they cost."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from onesided.audit import ExactAudit
from onesided.audit.exact import loss_claims
from onesided.audit.protocol import AtEpsilon
from onesided.audit.world import histogram_world
from onesided.data import Histogram
from onesided.data.metrics import mre
from onesided.mechanisms.auto.guarded import POOLED_SCALES, SHARES, GuardedDawa, share_for
from onesided.mechanisms.auto.merging import Segments
from onesided.mechanisms.base import Mechanism
from onesided.mechanisms.dawa import Dawa
from onesided.mechanisms.noise import two_sided_mean_size
from onesided.randomness import seeded

BINS = 1024
SCALE = 100.0


def error(chosen: Mechanism, counts: np.ndarray, epsilon: str, runs: int = 4) -> float:
    data, rng = Histogram(counts, np.zeros_like(counts)), seeded(4)
    values = (chosen.release(data, epsilon=epsilon, rng=rng).value for _ in range(runs))
    return float(np.mean([mre(counts, value) for value in values]))


def test_noise_stays_out_of_empty_bins() -> None:
    assert error(GuardedDawa(), np.zeros(BINS, int), "1/10") <= 0.01


def test_a_few_full_bins_are_not_spread_over_empty_ones() -> None:
    counts = np.zeros(BINS, int)
    counts[::50] = 600
    chosen = GuardedDawa(deviation_share=share_for(float(counts.sum()), Fraction(1, 100)))
    assert error(chosen, counts, "1/50") <= 0.1 < error(Dawa(), counts, "1/50")


def test_even_buckets_keep_their_counts() -> None:
    even = seeded(2).generator().poisson(300, BINS)
    assert error(GuardedDawa(), even, "1/20") < 1.2 * error(Dawa(), even, "1/20")


def test_several_dimensions_and_several_bins_for_a_unit() -> None:
    counts = seeded(2).generator().poisson(50, (16, 20))
    found = GuardedDawa().release(Histogram(counts, counts, k=3), epsilon=1, rng=seeded(1))
    assert found.value.shape == (16, 20)


@pytest.mark.parametrize("k", [1, 3])
def test_deviations_have_the_noise_that_their_share_pays_for(k: int) -> None:
    """Equal bins have no deviation, so noise is all there is."""
    counts, budget, rng = np.full(64, 10_000), Fraction(1, 10), seeded(3)
    chosen = GuardedDawa(deviation_share=Fraction(1, 4))
    runs = [chosen.run(counts, k, budget, rng).parts["pool_deviations"] for _ in range(300)]
    expected = two_sided_mean_size(budget / 4 / k)
    assert np.abs(np.concatenate(runs)).mean() == pytest.approx(expected, rel=0.15)


def test_deviations_cost_the_less_the_more_units_there_are() -> None:
    rate = Fraction(1, 10)
    shares = [share_for(units, rate) for units in (1e9, POOLED_SCALES * 40, 1.0, -5.0)]
    assert shares == [SHARES[0], SHARES[1], SHARES[-1], SHARES[-1]]


@pytest.mark.parametrize("too_little", [False, True], ids=["enough noise", "two thirds of it"])
def test_all_that_is_released_costs_what_is_stated(too_little: bool) -> None:
    """Exactly, on two bins; ε is large so that few values of the noise are likely."""
    chosen, epsilon = GuardedDawa(), Fraction(40)
    run = AtEpsilon(chosen, epsilon * Fraction(3, 2) if too_little else epsilon)
    audit = ExactAudit(most_units=1, most_paths=800)
    report = audit.claims(run, histogram_world((2,)), loss_claims(chosen.loss(epsilon)))
    assert report.verified is not too_little
    assert report.rejected is too_little


def test_bins_get_whole_units_or_nothing() -> None:
    counts = seeded(4).generator().poisson(np.repeat([1.2, 30.0], 512))
    given = GuardedDawa().run(counts, 1, Fraction(1), seeded(5)).value
    assert given.any()
    assert not np.any((given > 0) & (given < 1))


def segments(levels: np.ndarray, sizes: np.ndarray, seed: int) -> Segments:
    noise = seeded(seed).generator().laplace(0, SCALE, sizes.size)
    return Segments.along(np.rint(levels * sizes + noise).astype(np.int64), sizes, SCALE)


def test_buckets_of_one_level_are_known_better_together() -> None:
    sizes = np.full(1000, 8)
    found = segments(np.full(1000, 50.0), sizes, 1)
    together = (found.totals / found.sizes)[found.of]
    assert np.abs(together - 50).mean() < 0.85 * SCALE / 8
    assert found.sizes.sum() == sizes.sum()


def test_levels_that_differ_beyond_noise_stay_apart() -> None:
    found = segments(np.repeat([200.0, 900.0], 16), np.full(32, 8), 2)
    assert not set(found.of[:16]) & set(found.of[16:])


def test_hardly_any_empty_bucket_is_believed() -> None:
    found = segments(np.zeros(4000), np.full(4000, 4), 4)
    assert found.credible[found.of].mean() < 0.01
