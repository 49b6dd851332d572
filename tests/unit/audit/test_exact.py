"""The exact audit: what it verifies, how tightly, and what it rejects."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest

from onesided.audit import (
    Deadline,
    ExactAudit,
    ExactReport,
    NotEnumerableError,
    OutOfTimeError,
    Step,
    Together,
    Verdict,
    histogram_world,
    loss_claims,
    target,
)
from onesided.audit.enumeration import enumerate_law
from onesided.audit.world import (
    partitioned_world,
    policy_by_bin_world,
    repeated_world,
    two_policy_world,
)
from onesided.data import Histogram
from onesided.loss import Loss
from onesided.mechanisms.base import Mechanism
from onesided.mechanisms.hybrid import Hybrid
from onesided.mechanisms.laplace import Laplace
from onesided.mechanisms.one_sided import OneSided
from onesided.mechanisms.published.baselines import Suppress
from onesided.mechanisms.published.hybrid_paper import HybridPaper
from onesided.mechanisms.recipe import NaiveRecipe, Recipe
from onesided.mechanisms.residual import Residual
from support.audited import TOO_LITTLE_NOISE, OneBucket, at

EPSILON = Fraction(1)
SMALL = ExactAudit(most_units=2, most_paths=200)


def audited(chosen: Mechanism, epsilon: Fraction = EPSILON, **world: object) -> ExactReport:
    """A mechanism run at `epsilon` and held to what it states at `EPSILON`."""
    small = histogram_world(**world)  # type: ignore[arg-type]
    public = bool(world.get("total_public", False))
    claims = loss_claims(chosen.loss(EPSILON, fixed_n=public), EPSILON)
    return SMALL.claims(at(chosen, epsilon), small, claims)


@pytest.mark.parametrize(
    "chosen",
    [OneSided(), OneSided(clip=False, correct=False), Laplace(), NaiveRecipe(inner=OneBucket())],
    ids=["one-sided", "one-sided unclipped", "laplace", "naive-recipe"],
)
def test_a_sound_mechanism_is_verified_and_equality_is_attained(chosen: Mechanism):
    report = audited(chosen)
    assert report.verified
    assert {finding.step for finding in report.findings} == set(Step)
    assert all(finding.attained for finding in report.findings)


def test_slack_is_reported_where_equality_is_not_attained():
    # All bins are one bucket, so replacing a unit costs the detection of empty bins alone.
    report = audited(Recipe(inner=OneBucket()))
    osdp = report.finding(Step.REPLACE_SENSITIVE)
    assert report.verified
    assert not osdp.attained
    assert osdp.slack == pytest.approx(0.9)
    assert report.finding(Step.SENSITIVE).attained
    assert report.finding(Step.ADD_NONSENSITIVE).attained


def test_residual_that_reads_n_is_verified_for_replacement_alone():
    report = audited(Residual(), total_public=True)
    (finding,) = report.findings
    assert finding.step is Step.REPLACE_SENSITIVE
    assert finding.verdict is Verdict.VERIFIED
    assert finding.attained


@pytest.mark.parametrize("chosen", [OneSided(), Residual()], ids=lambda each: each.name)
def test_thirty_per_cent_too_little_noise_is_rejected(chosen: Mechanism):
    assert not audited(chosen, total_public=True).rejected
    assert audited(chosen, TOO_LITTLE_NOISE * EPSILON, total_public=True).rejected


def test_a_contribution_bound_of_two_is_verified():
    assert audited(OneSided(), k=2).verified


def test_a_contribution_bound_that_is_ignored_is_rejected():
    class CountsTwice:
        def release(self, data, rng):
            return np.maximum(data.nonsensitive - rng.geometric(EPSILON, data.bins), 0)

    report = SMALL.claims(
        CountsTwice(), histogram_world(k=2), loss_claims(OneSided().loss(EPSILON))
    )
    assert report.finding(Step.ADD_NONSENSITIVE).loss == pytest.approx(2)
    assert report.rejected


def test_suppress_costs_tau_and_not_epsilon():
    tau = 10 * EPSILON
    suppress = at(Suppress(factor=10), EPSILON)
    report = SMALL.claims(suppress, histogram_world(), loss_claims(Loss(0, tau), EPSILON))
    assert report.finding(Step.REPLACE_SENSITIVE).verdict is Verdict.REJECTED
    assert report.finding(Step.REPLACE_SENSITIVE).at_least > 9.99
    assert report.finding(Step.ADD_NONSENSITIVE).attained


def test_what_lies_beyond_the_horizon_is_not_called_unbounded():
    # Held to ε alone, the audit looks at less noise on D′ than would make up for the unit.
    (report,) = target("suppress", EPSILON).exactly()
    assert report.finding(Step.REPLACE_SENSITIVE).loss == pytest.approx(10)


def test_the_hybrid_as_described_costs_half_as_much_again():
    report = SMALL.claims(
        at(HybridPaper(), EPSILON),
        policy_by_bin_world(),
        loss_claims(Loss(EPSILON / 2, EPSILON), EPSILON),
    )
    osdp = report.finding(Step.REPLACE_SENSITIVE)
    assert osdp.verdict is Verdict.REJECTED
    assert osdp.loss == pytest.approx(1.5)
    assert report.finding(Step.SENSITIVE).attained
    assert report.finding(Step.ADD_NONSENSITIVE).attained


def test_the_sound_hybrid_costs_epsilon():
    report = SMALL.claims(
        at(Hybrid(), EPSILON), policy_by_bin_world(), loss_claims(Hybrid().loss(EPSILON), EPSILON)
    )
    assert report.verified
    assert all(finding.attained for finding in report.findings)


@pytest.mark.parametrize("name", ["all-ns", "truman", "non-truman"])
def test_access_control_loses_everything(name: str):
    (report,) = target(name, EPSILON).exactly()
    assert report.rejected
    assert report.finding(Step.REPLACE_SENSITIVE).at_least == inf


def test_coins_of_units_cost_epsilon_and_their_threshold_errs_downwards():
    (report,) = target("unit-coins", EPSILON).exactly()
    osdp = report.finding(Step.REPLACE_SENSITIVE)
    assert report.verified
    assert not osdp.attained  # 1 − threshold/2²⁵⁶ exceeds e^−ε by less than 2⁻²⁵⁶
    assert osdp.loss == pytest.approx(1, abs=1e-12)


def test_coins_of_contents_release_duplicates_together():
    (report,) = target("content-coins", EPSILON).exactly()
    osdp = report.finding(Step.REPLACE_SENSITIVE)
    assert osdp.at_least == inf
    assert osdp.witness is not None
    assert osdp.witness.neighbour == (("a", False), ("a", False))
    assert osdp.witness.output == (("'a'", 1),)  # one of two that say the same


@pytest.mark.parametrize(
    ("world", "composed", "claimed"),
    [
        (
            repeated_world(histogram_world((2,)), 2),
            (OneSided(), Laplace()),
            OneSided().loss(EPSILON) + Laplace().loss(EPSILON),
        ),
        (
            two_policy_world(2),
            (OneSided(), Laplace()),
            Loss.across_policies(OneSided().loss(EPSILON), Laplace().loss(EPSILON)),
        ),
        (
            partitioned_world(),
            (Laplace(), Laplace()),
            Loss.parallel(Laplace().loss(EPSILON), Laplace().loss(EPSILON)),
        ),
    ],
    ids=["sequential", "across policies", "parallel"],
)
def test_what_is_claimed_for_compositions_is_exact(world, composed, claimed):
    together = Together(tuple(at(each, EPSILON) for each in composed))
    report = ExactAudit(most_units=1, most_paths=400).claims(together, world, loss_claims(claimed))
    assert report.verified
    assert report.finding(Step.REPLACE_SENSITIVE).attained
    assert report.finding(Step.EXTENDED).attained


def test_summing_pairs_of_different_policies_would_promise_too_much():
    # Under each policy (0, ε); together a unit that only one of them calls sensitive costs both.
    together = Together((at(OneSided(), EPSILON), at(OneSided(), EPSILON)))
    too_little = loss_claims(Loss(0, EPSILON))
    assert SMALL.claims(together, two_policy_world(), too_little).rejected


def test_sharing_units_between_parts_is_no_partition():
    together = Together((at(Laplace(), EPSILON), at(Laplace(), EPSILON)))
    world = repeated_world(histogram_world((1,)), 2)
    claims = loss_claims(Loss.parallel(Laplace().loss(EPSILON), Laplace().loss(EPSILON)))
    assert ExactAudit(most_paths=400).claims(together, world, claims).rejected


def test_a_mechanism_that_looks_at_the_secret_number_of_sensitive_units_is_rejected():
    class TellsHowMany:
        def release(self, data, rng):
            return int(data.sensitive.sum())

    report = SMALL.claims(TellsHowMany(), histogram_world(), loss_claims(Loss(0, EPSILON)))
    assert report.finding(Step.SENSITIVE).at_least == inf


def test_words_are_split_at_the_threshold_that_the_mechanism_uses():
    class KeepsAThird:
        def release(self, data, rng):
            return bool(rng.words(1)[0] < (1 << 64) // 3)

    data = Histogram([1], [1])
    law = enumerate_law(lambda rng: KeepsAThird().release(data, rng), Fraction(0), Fraction(1))
    assert law.outer[True].log == pytest.approx(np.log(1 / 3), abs=1e-12)
    assert law.outer[False].log == pytest.approx(np.log(2 / 3), abs=1e-12)
    assert 0 < law.unexplored < 1e-10


def test_noise_that_only_steers_later_noise_is_followed_too():
    class Steered:
        """The first noise decides what is shown of two later ones; if these are 0, in vain."""

        def release(self, data, rng):
            first = rng.two_sided_geometric(Fraction(2), 1)[0]
            later = rng.two_sided_geometric(Fraction(3), 2)
            return int(later.sum() if first > 0 else later[0])

    data = Histogram([0], [0])
    law = enumerate_law(lambda rng: Steered().release(data, rng), Fraction(9), Fraction(3))
    q, p = np.exp(-2.0), np.exp(-3.0)
    positive = q / (1 + q)
    shown_zero = (1 - p) / (1 + p)
    sum_zero = shown_zero**2 * (1 + 2 * p**2 / (1 - p**2))
    expected = positive * sum_zero + (1 - positive) * shown_zero
    assert np.exp(law.outer[0].log) == pytest.approx(expected, abs=law.unexplored)
    assert law.unexplored < abs(sum_zero - shown_zero) * positive / 4


def test_residual_that_measures_a_total_of_its_own_is_verified_and_too_little_noise_is_not():
    # Where n is secret a noisy total steers how bins are merged and how far intervals reach. Its
    # share of ε is small, so only a large ε has few enough paths.
    large = Fraction(16)
    audit = ExactAudit(most_units=1, most_paths=2_000)
    claims = loss_claims(Residual().loss(large), large)
    world = histogram_world((1,))
    assert audit.claims(at(Residual(), large), world, claims).verified
    assert audit.claims(at(Residual(), TOO_LITTLE_NOISE * large), world, claims).rejected


def test_an_exact_audit_that_runs_out_of_time_says_so():
    audit = ExactAudit(deadline=Deadline(1e-9))
    with pytest.raises(OutOfTimeError):
        audit.claims(at(OneSided(), EPSILON), histogram_world(), loss_claims(Loss(0, EPSILON)))


def test_every_path_is_followed_once():
    data = Histogram([2, 1], [1, 1])
    law = enumerate_law(
        lambda rng: OneSided().release(data, epsilon=1, rng=rng), Fraction(1), Fraction(1)
    )
    assert law.unexplored == 0
    assert len(law.outer) == 4
    assert sum(np.exp(mass.log) for mass in law.outer.values()) == pytest.approx(1)


def test_floating_point_noise_cannot_be_listed():
    class Floats:
        def release(self, data, rng):
            return data.all + rng.generator().laplace(0.0, 1.0, data.bins)

    with pytest.raises(NotEnumerableError):
        SMALL.claims(Floats(), histogram_world(), loss_claims(Loss(0, EPSILON)))
