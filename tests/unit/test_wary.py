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
from onesided.experiments.metrics import mre
from onesided.mechanisms.ahp import AHP
from onesided.mechanisms.base import Mechanism
from onesided.mechanisms.buckets.deviation import bucket_deviations
from onesided.mechanisms.dawa import Dawa
from onesided.mechanisms.given_buckets import GivenBuckets
from onesided.mechanisms.noise import two_sided_mean_size
from onesided.mechanisms.wary import SHARES, WELL_MEASURED, Wary, share_for
from onesided.randomness import seeded

BINS = 1024
INNER = [Dawa(), AHP()]


def error(chosen: Mechanism, counts: np.ndarray, epsilon: str, runs: int = 4) -> float:
    data, rng = Histogram(counts, np.zeros_like(counts)), seeded(4)
    values = (chosen.release(data, epsilon=epsilon, rng=rng).value for _ in range(runs))
    return float(np.mean([mre(counts, value) for value in values]))


@pytest.mark.parametrize("inner", INNER, ids=lambda inner: inner.name)
def test_noise_stays_out_of_empty_bins(inner: Dawa | AHP) -> None:
    assert error(Wary(inner=inner), np.zeros(BINS, int), "1/10") <= 0.01


@pytest.mark.parametrize("inner", INNER, ids=lambda inner: inner.name)
def test_a_few_full_bins_are_not_spread_over_empty_ones(inner: Dawa | AHP) -> None:
    counts = np.zeros(BINS, int)
    counts[::50] = 600
    wary = Wary(inner=inner, deviation_share=share_for(counts.sum(), Fraction(1, 100)))
    assert error(wary, counts, "1/50") <= 0.1 < error(inner, counts, "1/50")


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


def one_bucket(**shares: Fraction) -> Wary:
    return Wary(inner=GivenBuckets(buckets=np.zeros(64, dtype=np.int64)), **shares)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("part", ["pool_deviations", "pool_shortfalls"])
def test_answers_have_the_noise_that_their_share_pays_for(part: str, k: int) -> None:
    """Equal bins have no deviation and no shortfall, so noise is all there is."""
    counts, budget, rng = np.full(64, 1000), Fraction(1, 10), seeded(3)
    share = Fraction(1, 4) if part == "pool_deviations" else Fraction(1, 8)
    wary = one_bucket(deviation_share=Fraction(1, 4), shortfall_share=Fraction(1, 8))
    runs = (wary.run(counts, k, budget, rng) for _ in range(800))
    noise = [int(run.parts[part].sum()) for run in runs]
    assert np.abs(noise).mean() == pytest.approx(two_sided_mean_size(budget * share / k), rel=0.15)


def test_bins_that_are_empty_among_full_ones_are_told_by_what_they_lack() -> None:
    """One in eight is; to the deviation alone that looks like log-normal counts."""
    counts = np.where(np.arange(BINS) % 8, 400, 0)
    shares = {"deviation_share": Fraction(1, 8), "shortfall_share": Fraction(7, 8)}
    inner = GivenBuckets(buckets=np.zeros(BINS, dtype=np.int64))
    guarded = error(Wary(inner=inner, **shares), counts, "1/50")
    unguarded = error(Wary(inner=inner), counts, "1/50")
    assert guarded == pytest.approx(7 / 8)
    assert unguarded > 10


def test_a_single_given_bucket_has_the_public_number_of_units_at_no_cost() -> None:
    counts, buckets = np.array([3, 5, 4]), np.zeros(3, dtype=np.int64)
    found = GivenBuckets(buckets=buckets).run(counts, 1, Fraction(0), seeded(1), 12)
    np.testing.assert_array_equal(found.value, [4, 4, 4])


def test_given_buckets_come_to_the_public_number_of_units() -> None:
    buckets = np.array([0, 0, 1, 2])
    inner = GivenBuckets(buckets=buckets)
    runs = [
        inner.run(np.array([50, 50, 9, 80]), 1, Fraction(1, 4), seeded(s), 189) for s in range(9)
    ]
    totals = np.array([run.parts["bucket_totals"] for run in runs])
    assert np.all(np.abs(totals.sum(axis=1) - 189) <= 1)
    assert np.unique(totals[:, 0]).size > 1


@pytest.mark.parametrize(
    ("units", "share"),
    [(10**9, SHARES[0]), (WELL_MEASURED * 40, SHARES[1]), (1, SHARES[-1]), (-5, SHARES[-1])],
)
def test_deviations_cost_the_less_the_more_units_there_are(units: int, share: Fraction) -> None:
    assert share_for(units, Fraction(1, 10)) == share
    assert share_for(units, Fraction(1, 10), SHARES[1]) >= SHARES[1]


QUARTERS = {"deviation_share": Fraction(1, 4), "shortfall_share": Fraction(1, 4)}
PAYING = {
    "dawa": (Wary(inner=Dawa()), 40, 800),
    "ahp": (Wary(inner=AHP(partition_share=Fraction(1, 2))), 120, 6_000),
    "dawa with shortfalls": (Wary(inner=Dawa(), **QUARTERS), 120, 12_000),
    "given buckets": (
        Wary(inner=GivenBuckets(buckets=np.zeros(2, dtype=np.int64)), **QUARTERS),
        80,
        3_000,
    ),
}


@pytest.mark.soak
@pytest.mark.parametrize("too_little", [False, True], ids=["enough noise", "two thirds of it"])
@pytest.mark.parametrize("form", PAYING)
def test_all_that_wary_buckets_release_costs_what_they_state(form: str, too_little: bool) -> None:
    """Exactly, on two bins; ε is large so that few values of the noise are likely."""
    chosen, epsilon, paths = PAYING[form]
    run = AtEpsilon(chosen, Fraction(epsilon) * (Fraction(3, 2) if too_little else 1))
    claims = loss_claims(chosen.loss(Fraction(epsilon)))
    report = ExactAudit(most_units=1, most_paths=paths).claims(run, histogram_world((2,)), claims)
    assert report.verified is not too_little
    # With a third question what is likely leaves too little of the budget to show a certain excess.
    assert report.rejected is (too_little and form == "dawa")


def test_bins_get_whole_units_or_nothing() -> None:
    counts = seeded(4).generator().poisson(np.repeat([1.2, 30.0], 512))
    given = Wary(inner=Dawa()).run(counts, 1, Fraction(1), seeded(5)).value
    assert given.any()
    assert not np.any((given > 0) & (given < 1))
