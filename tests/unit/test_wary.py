"""Buckets that are not taken at their word: what their deviations do, and what they cost."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.audit import ExactAudit
from onesided.audit.exact import loss_claims
from onesided.audit.protocol import AtEpsilon
from onesided.audit.world import histogram_world
from onesided.data import Histogram
from onesided.experiments.metrics import mre
from onesided.mechanisms.ahp import AHP
from onesided.mechanisms.base import Mechanism
from onesided.mechanisms.dawa import Dawa
from onesided.mechanisms.deviation import bucket_deviations
from onesided.mechanisms.noise import two_sided_mean_size
from onesided.mechanisms.wary import (
    DEVIATION_SHARE,
    FALSE_ALARM,
    Wary,
    alarm_thresholds,
    likely_shares,
    pools,
)
from onesided.randomness import seeded

BINS = 1024
INNER = [Dawa(), AHP()]


def error(chosen: Mechanism, counts: np.ndarray, epsilon: str, runs: int = 4) -> float:
    data, rng = Histogram(counts, np.zeros_like(counts)), seeded(4)
    values = (chosen.release(data, epsilon=epsilon, rng=rng).value for _ in range(runs))
    return float(np.mean([mre(counts, value) for value in values]))


@pytest.mark.parametrize("inner", INNER, ids=lambda inner: inner.name)
def test_noise_stays_out_of_empty_bins(inner: Dawa | AHP) -> None:
    assert error(Wary(inner=inner), np.zeros(BINS, int), "1/10") <= FALSE_ALARM


@pytest.mark.parametrize("inner", INNER, ids=lambda inner: inner.name)
def test_a_few_full_bins_are_not_spread_over_empty_ones(inner: Dawa | AHP) -> None:
    counts = np.zeros(BINS, int)
    counts[::50] = 600
    wary, bold = error(Wary(inner=inner), counts, "1/50"), error(inner, counts, "1/50")
    assert wary <= 0.1 < bold


def test_sums_of_the_largest_counts_do_not_overflow() -> None:
    counts = np.where(np.arange(4096) % 2, 2**53, 0)
    deviation = bucket_deviations(counts, np.zeros(4096, dtype=int))
    assert 0 < deviation[0] < 2**62


def test_even_buckets_keep_their_counts() -> None:
    even = seeded(2).generator().poisson(300, BINS)
    assert error(Wary(inner=Dawa()), even, "1/20") < 1.2 * error(Dawa(), even, "1/20")


def test_several_dimensions_and_several_bins_for_a_unit() -> None:
    counts = seeded(2).generator().poisson(50, (16, 20))
    data = Histogram(counts, counts, k=3)
    for inner in INNER:
        assert Wary(inner=inner).release(data, epsilon=1, rng=seeded(1)).value.shape == (16, 20)


@pytest.mark.parametrize("k", [1, 3])
def test_deviations_have_the_noise_that_their_share_pays_for(k: int) -> None:
    """One bucket of all bins, so that the deviation is known; 30 % less noise would show."""
    counts, budget, rng = np.full(64, 1000), Fraction(1, 10), seeded(3)
    runs = (Wary(inner=Dawa()).run(counts, k, budget, rng) for _ in range(800))
    noise = [int(run.parts["pool_deviations"].sum()) for run in runs if run.buckets.max() == 0]
    expected = two_sided_mean_size(budget * DEVIATION_SHARE / k)
    assert len(noise) > 200
    assert np.abs(noise).mean() == pytest.approx(expected, rel=0.2)


@pytest.mark.soak
@pytest.mark.parametrize("too_little", [False, True], ids=["enough noise", "two thirds of it"])
def test_all_that_wary_buckets_release_costs_what_they_state(too_little: bool) -> None:
    """Exactly, on two bins; ε is large so that few values of the noise are likely."""
    chosen, epsilon = Wary(inner=Dawa()), Fraction(40)
    run = AtEpsilon(chosen, epsilon * Fraction(3, 2) if too_little else epsilon)
    claims = loss_claims(chosen.loss(epsilon))
    report = ExactAudit(most_units=1, most_paths=800).claims(run, histogram_world((2,)), claims)
    assert report.rejected is too_little
    assert report.verified is not too_little


@given(
    st.lists(st.tuples(st.integers(-50, 10**6), st.integers(2, 64)), min_size=1, max_size=60),
    st.floats(1, 1e6),
)
def test_pools_hold_buckets_of_like_means_and_enough_of_them(
    buckets: list[tuple[int, int]], least: float
) -> None:
    totals, sizes = (np.array(column) for column in zip(*buckets, strict=True))
    pool = pools(totals, sizes, least)
    assert set(pool) == set(range(pool.max() + 1))
    assert np.all(np.diff(pool[np.argsort(totals / sizes, kind="stable")]) >= 0)
    if pool.max() > 0:
        assert totals.sum() >= least


@pytest.mark.parametrize("spread", [0.1, 0.5, 1.0])
def test_the_share_of_the_mean_is_the_value_of_least_relative_error(spread: float) -> None:
    counts = 1000 * np.exp(spread * seeded(1).generator().standard_normal(200_000))
    deviation = np.abs(counts - np.median(counts)).sum()
    share = likely_shares(np.array([deviation]), np.array([counts.sum()]))[0]
    tried = counts.mean() * share * np.array([0.9, 1.0, 1.1])
    below, best, above = (float(np.mean(np.abs(counts - each) / counts)) for each in tried)
    assert best < min(below, above)


def test_the_share_falls_with_the_deviation() -> None:
    shares = likely_shares(np.array([-5.0, 0, 10, 50, 100, 300]), np.full(6, 100.0))
    assert shares[0] == shares[1] == 1
    assert np.all(np.diff(shares[1:5]) < 0)
    assert shares[4] == shares[5] < 1e-6
    assert likely_shares(np.array([0.0]), np.array([-3.0]))[0] < 1e-6


@pytest.mark.parametrize("rate", [1e-6, 0.01, 1.0, 500.0])
def test_the_alarm_thresholds_solve_their_equation(rate: float) -> None:
    sizes, totals = np.array([1, 8, 4096, 100]), np.array([5, 9, 7, -3])
    thresholds = alarm_thresholds(totals, sizes, rate)
    expected = np.exp(-rate * thresholds) * (thresholds + 1 / rate) / 2
    empty = np.minimum(2 * 100 + sizes, sizes.sum())
    allowed = FALSE_ALARM * sizes.sum() * sizes / empty
    solved = np.isclose(expected, allowed, rtol=1e-3)
    assert np.all(solved | ((thresholds == 0) & (expected < allowed)))


def test_full_buckets_need_less_to_be_believed() -> None:
    sizes = np.full(100, 4)
    full, half_empty = np.full(100, 900), np.where(np.arange(100) % 2, 900, -20)
    assert alarm_thresholds(full, sizes, 0.01)[0] < alarm_thresholds(half_empty, sizes, 0.01)[0]
