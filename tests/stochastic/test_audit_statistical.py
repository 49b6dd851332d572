"""The statistical audit finds what is broken, and rejects what is sound as rarely as it says.

Seeds are fixed. The long versions run a hundred seeds against mechanisms with too little noise and
a thousand against sound ones.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from onesided.audit import Auditable, Effort, Relation, Setting, StatisticalAudit, target
from onesided.audit.neighbours import Candidate, patterns, random_pairs, varied
from onesided.data import Histogram
from onesided.mechanisms.base import Mechanism
from onesided.mechanisms.laplace import Laplace
from onesided.mechanisms.one_sided import OneSided
from onesided.mechanisms.osdp_laplace import OsdpLaplace
from onesided.mechanisms.residual import Residual
from onesided.mechanisms.rr import RandomizedResponse
from onesided.randomness import seeded
from support.audited import TOO_LITTLE_NOISE, at, quick_audit

CONFIDENCE = 0.99
QUICK_SEEDS, CONTROL_SEEDS, SOUND_SEEDS = 10, 100, 1_000
LEAST_CONTROLS_CAUGHT = 0.95
LEAST_P_VALUE = 1e-3
"""How surprising the number of false rejections may be, if each had probability 1 − CONFIDENCE."""

LIGHT = Effort(search=40, random=0, climbs=0, learn=4_000, test=8_000)
FEW_BINS = Setting(most_bins=2)
BIN_BY_BIN: list[Mechanism] = [OneSided(), RandomizedResponse(), Laplace()]

#: The pair for which the exact audit finds that residual's loss is attained.
RESIDUAL_PAIR = (Histogram([2], [1]), Histogram([2], [2]))
RESIDUAL_EPSILON = Fraction(2)
RESIDUAL_EFFORT = Effort(search=20, random=0, climbs=0, learn=4_000, test=5_000)
RESIDUAL_QUICK_EFFORT = Effort(search=20, random=0, climbs=0, learn=1_000, test=2_000)


def rejected(mechanism: Auditable, seed: int, epsilon: Fraction = Fraction(1)) -> bool:
    audit = StatisticalAudit(effort=LIGHT, seed=seed, confidence=CONFIDENCE)
    return audit.claim(mechanism, epsilon, setting=FEW_BINS).rejected


def residual_rejected(factor: Fraction, seed: int, effort: Effort = RESIDUAL_EFFORT) -> bool:
    mechanism = at(Residual(), RESIDUAL_EPSILON * factor)
    audit = StatisticalAudit(effort=effort, seed=seed, confidence=CONFIDENCE)
    return audit.claim(mechanism, RESIDUAL_EPSILON, pairs=[RESIDUAL_PAIR]).rejected


def as_rare_as_allowed(rejections: int, seeds: int) -> bool:
    return stats.binom.sf(rejections - 1, seeds, 1 - CONFIDENCE) >= LEAST_P_VALUE


class TestMustFind:
    def test_the_buckets_of_dawa_reference_lose_more_than_twice_their_budget(self):
        effort = Effort(search=150, random=0, climbs=0, learn=6_000, test=10_000)
        report = target("dawa-reference", 1).by_runs(quick_audit(effort=effort))
        assert report.at_least > 2
        assert report.pair.bins <= 32

    def test_suppress_exceeds_epsilon(self):
        assert target("suppress", 1).by_runs(quick_audit()).at_least > 5

    def test_the_hybrid_as_described_exceeds_epsilon(self):
        assert target("hybrid-paper", 1).by_runs(quick_audit()).rejected

    @pytest.mark.parametrize("name", ["all-ns", "truman", "non-truman"])
    def test_access_control_exceeds_every_epsilon_that_runs_can_refute(self, name: str):
        assert target(name, 1).by_runs(quick_audit()).at_least > 6

    def test_the_low_bits_of_doubles_give_laplace_noise_away(self):
        report = target("float-laplace", 1).by_runs(quick_audit())
        assert report.at_least > 3
        assert report.neighbour_hits < 10

    def test_the_low_bits_give_the_continuous_mechanism_of_the_paper_away_too(self):
        doubles = at(OsdpLaplace(), 1, bin_by_bin=True)
        assert quick_audit().claim(doubles, 1, setting=FEW_BINS).rejected
        assert not target("osdp-laplace", 1).by_runs(quick_audit()).rejected  # as real numbers

    def test_duplicates_leave_together_when_coins_are_hashed_from_contents(self):
        report = target("content-coins", 1).by_runs(quick_audit())
        assert report.at_least > 5
        assert report.pair[1] == (("a", False), ("a", False))

    def test_coins_of_units_are_not_rejected(self):
        assert not target("unit-coins", 1).by_runs(quick_audit()).rejected


class TestControls:
    @pytest.mark.parametrize("chosen", BIN_BY_BIN, ids=lambda each: each.name)
    def test_too_little_noise_is_caught_and_enough_is_not(self, chosen: Mechanism):
        weak = at(chosen, TOO_LITTLE_NOISE, bin_by_bin=True)
        sound = at(chosen, 1, bin_by_bin=True)
        assert sum(rejected(weak, seed) for seed in range(QUICK_SEEDS)) >= QUICK_SEEDS - 1
        assert as_rare_as_allowed(
            sum(rejected(sound, seed) for seed in range(QUICK_SEEDS)), QUICK_SEEDS
        )

    def test_residual_with_too_little_noise_is_caught(self):
        assert residual_rejected(TOO_LITTLE_NOISE, 0, RESIDUAL_QUICK_EFFORT)

    @pytest.mark.soak
    @pytest.mark.parametrize("chosen", BIN_BY_BIN, ids=lambda each: each.name)
    def test_many_seeds(self, chosen: Mechanism):
        weak = at(chosen, TOO_LITTLE_NOISE, bin_by_bin=True)
        sound = at(chosen, 1, bin_by_bin=True)
        caught = sum(rejected(weak, seed) for seed in range(CONTROL_SEEDS))
        wronged = sum(rejected(sound, seed) for seed in range(SOUND_SEEDS))
        assert caught >= LEAST_CONTROLS_CAUGHT * CONTROL_SEEDS
        assert as_rare_as_allowed(wronged, SOUND_SEEDS)

    @pytest.mark.soak
    def test_residual_with_many_seeds(self):
        caught = sum(residual_rejected(TOO_LITTLE_NOISE, seed) for seed in range(CONTROL_SEEDS))
        wronged = sum(residual_rejected(Fraction(1), seed) for seed in range(CONTROL_SEEDS))
        assert caught >= LEAST_CONTROLS_CAUGHT * CONTROL_SEEDS
        assert as_rare_as_allowed(wronged, CONTROL_SEEDS)


class TestReports:
    def test_the_same_seed_gives_the_same_report_on_any_number_of_processes(self):
        effort = Effort(search=40, random=2, climbs=2, learn=300, test=1_200)
        mechanism = at(OneSided(), 1, bin_by_bin=True)
        reports = [
            StatisticalAudit(effort=effort, seed=5, workers=workers).claim(
                mechanism, 1, setting=FEW_BINS
            )
            for workers in (1, 2)
        ]
        assert (reports[0].hits, reports[0].neighbour_hits) == (
            reports[1].hits,
            reports[1].neighbour_hits,
        )
        assert str(reports[0].pair) == str(reports[1].pair)

    def test_a_time_limit_is_kept_and_the_effort_reported_repeats_the_result(self):
        mechanism = at(OneSided(), 1, bin_by_bin=True)
        report = StatisticalAudit(seconds=2, seed=3).claim(mechanism, 1, setting=FEW_BINS)
        assert report.seconds < 6
        if report.in_time:
            again = StatisticalAudit(effort=report.effort, seed=3).claim(
                mechanism, 1, setting=FEW_BINS
            )
            assert (again.hits, again.neighbour_hits) == (report.hits, report.neighbour_hits)

    def test_a_mechanism_of_ones_own_needs_one_method(self):
        class Mine:
            def release(self, data, rng):
                return data.nonsensitive.sum() - rng.geometric(Fraction(2), 1)[0]

        report = quick_audit().claim(Mine(), 1, setting=FEW_BINS)
        assert report.rejected
        assert 1.5 < report.at_least < 2


class TestNeighbours:
    @pytest.mark.parametrize("by_bin", [False, True])
    def test_one_sided_pairs_replace_one_sensitive_unit(self, by_bin: bool):
        setting = Setting(most_bins=8, by_bin=by_bin)
        for candidate in [*patterns(setting), *random_pairs(setting, 50, seeded(1))]:
            data, neighbour = candidate.pair()
            assert data.all.sum() == neighbour.all.sum()
            removed = data.sensitive - neighbour.sensitive
            added = neighbour.all - data.all
            assert np.abs(added).sum() in (0, 2)
            assert removed.sum() in (0, 1)
            assert removed.max() <= 1
            assert (neighbour.nonsensitive - data.nonsensitive).min() >= 0
            if by_bin:
                mask = data.only_sensitive
                assert not data.sensitive[~mask].any()
                assert not data.nonsensitive[mask].any()

    def test_added_and_removed_units_are_one(self):
        setting = Setting(relation=Relation.ADD_REMOVE)
        for candidate in patterns(setting):
            data, neighbour = candidate.pair()
            assert np.abs(data.all - neighbour.all).sum() == 1
            assert data.n is None

    def test_climbing_changes_one_thing(self):
        start = next(iter(patterns(Setting(most_bins=4))))
        assert isinstance(varied(start, seeded(1)), Candidate)
