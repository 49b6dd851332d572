"""The statistical audit finds what is broken, keeps to its time, and repeats itself."""

from __future__ import annotations

from fractions import Fraction
from time import sleep

import numpy as np
import pytest

from onesided.audit import Effort, Relation, Setting, StatisticalAudit, target
from onesided.audit.neighbours import Candidate, are_neighbours, patterns, random_pairs, varied
from onesided.audit.statistical import FEWEST
from onesided.mechanisms.one_sided import OneSided
from onesided.mechanisms.published.osdp_laplace import OsdpLaplace
from onesided.randomness import seeded
from support.audited import at, quick_audit

FEW_BINS = Setting(most_bins=2)


class TestMustFind:
    def test_the_buckets_of_dawa_reference_lose_more_than_twice_their_budget(self):
        effort = Effort(search=300, random=0, climbs=0, learn=6_000, test=10_000)
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
        doubles = at(OsdpLaplace(), 1)
        assert quick_audit().claim(doubles, 1, setting=FEW_BINS).rejected
        assert not target("osdp-laplace", 1).by_runs(quick_audit()).rejected  # as real numbers

    def test_duplicates_leave_together_when_coins_are_hashed_from_contents(self):
        report = target("content-coins", 1).by_runs(quick_audit())
        assert report.at_least > 5
        assert report.pair[1] == (("a", False), ("a", False))

    def test_coins_of_units_are_not_rejected(self):
        assert not target("unit-coins", 1).by_runs(quick_audit()).rejected


class TestReports:
    def test_the_same_seed_gives_the_same_report_on_any_number_of_processes(self):
        effort = Effort(search=40, random=2, climbs=2, learn=300, test=1_200)
        mechanism = at(OneSided(), 1)
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
        mechanism = at(OneSided(), 1)
        report = StatisticalAudit(seconds=2, seed=3).claim(mechanism, 1, setting=FEW_BINS)
        assert report.seconds < 6
        if report.in_time:
            again = StatisticalAudit(effort=report.effort, seed=3).claim(
                mechanism, 1, setting=FEW_BINS
            )
            assert (again.hits, again.neighbour_hits) == (report.hits, report.neighbour_hits)

    def test_a_slow_mechanism_is_not_run_often_where_time_is_short(self):
        class Slow:
            runs = 0

            def release(self, data, rng):
                self.runs += 1
                sleep(0.05)
                return 0

        slow = Slow()
        report = StatisticalAudit(seconds=0.01).claim(slow, 1, setting=FEW_BINS)
        assert not report.in_time
        assert slow.runs <= 1 + 2 * FEWEST + 2  # to see how slow it is, to learn, to test

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
            assert are_neighbours(data, neighbour, Relation.ONE_SIDED)
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
            assert are_neighbours(data, neighbour, Relation.ADD_REMOVE)
            assert np.abs(data.all - neighbour.all).sum() == 1
            assert data.n is None

    def test_climbing_changes_one_thing(self):
        start = next(iter(patterns(Setting(most_bins=4))))
        assert isinstance(varied(start, seeded(1)), Candidate)
