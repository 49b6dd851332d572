"""What the audits of sums, means, remainders and `auto` find, and what they find nothing in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from onesided.audit import (
    Auditable,
    Effort,
    ExactAudit,
    ExactReport,
    NotEnumerableError,
    StatisticalAudit,
    Step,
    Target,
    histogram_world,
    loss_claims,
    target,
)
from onesided.audit.amounts import MeanOfAmounts, SpreadOfAmounts, SumOfAmounts, amount_world
from onesided.audit.distinct import DistinctValues
from onesided.audit.steps import AfterLook
from onesided.audit.targets import amounts_target, target_of, values_target
from onesided.data import Histogram
from onesided.loss import Loss
from onesided.mechanisms.auto import Auto
from onesided.mechanisms.auto.auto import Chosen
from onesided.mechanisms.auto.look import Look
from onesided.mechanisms.auto.probe import ProbePlan, ProbeResult
from onesided.mechanisms.base import Mechanism, PublicShape
from onesided.mechanisms.residual import Residual
from support.audited import TOO_LITTLE_NOISE, at

ONE = Fraction(1)


def exact_reports(claim: Target, audit: ExactAudit) -> Iterator[ExactReport]:
    for small in claim.small():
        with suppress(NotEnumerableError):
            yield audit.claim(small)


def rejected(claim: Target, audit: ExactAudit) -> bool:
    return any(each.rejected for each in exact_reports(claim, audit))


# Sums and means


class SumOfAnything(SumOfAmounts):
    """Clipping is left out."""

    def clipped(self, amount: int) -> int:
        return max(amount, 0)


class MeanOfAnything(MeanOfAmounts):
    """Clipping is left out."""

    def clipped(self, amount: int) -> int:
        return max(amount, 0)


class MeanOfFoundKeys(MeanOfAmounts):
    """The noise follows the number of keys that occur, sensitive ones too."""

    def release(self, data, rng):
        keys = max(len(data.keys), 1)
        return MeanOfAmounts(self.epsilon / keys).release(data, rng)


class EveryValue(DistinctValues):
    """More pairs of a unit count than are paid for."""

    def counted(self, unit, most):
        return unit


class ValuesWithoutRepetition(DistinctValues):
    """Values that several units have are left out, so that another unit can take one away."""

    def numbers(self, data):
        alone = [unit for unit, is_sensitive in data.units if not is_sensitive]
        pairs = [pair for unit in alone for pair in self.counted(unit, data.most)]
        groups = [group for group, value in pairs if pairs.count((group, value)) == 1]
        return np.array([groups.count(key) for key in data.keys.tolist()], dtype=np.int64)


def test_numbers_of_values_keep_their_promise_and_pay_no_more_than_they_must() -> None:
    reports = list(exact_reports(target("distinct", ONE), ExactAudit()))
    assert [each.most_units for each in reports] == [2, 2, 2]
    for report in reports:
        assert report.verified
        assert all(finding.attained for finding in report.findings)


@pytest.mark.parametrize(
    "wrong",
    [EveryValue(ONE), ValuesWithoutRepetition(ONE), DistinctValues(2 * ONE)],
    ids=lambda each: type(each).__name__,
)
def test_wrong_numbers_of_values_are_rejected(wrong: DistinctValues) -> None:
    assert rejected(values_target("figure", wrong, ONE), ExactAudit(most_units=2))


def test_the_look_for_a_bound_keeps_its_promise_and_pays_no_more_than_it_must() -> None:
    reports = list(exact_reports(target("bound", ONE), ExactAudit()))
    assert [each.most_units for each in reports] == [3, 2]  # of the third there are too many
    for report in reports:
        assert report.verified
    wrong = SpreadOfAmounts(2 * ONE)
    assert rejected(amounts_target("bound", wrong, ONE), ExactAudit(most_units=1))


ONE_UNIT = ExactAudit(most_units=1)
WRONG_AMOUNTS = [
    SumOfAnything(ONE),
    SumOfAmounts(2 * ONE),
    MeanOfAnything(ONE),
    MeanOfAmounts(TOO_LITTLE_NOISE),
]


def test_a_sum_keeps_its_promise_and_pays_no_more_than_it_must() -> None:
    reports = list(exact_reports(target("sum", ONE), ExactAudit()))
    assert [each.most_units for each in reports] == [3, 2, 2]
    for report in reports:
        assert report.verified
        assert all(finding.attained for finding in report.findings)


def test_a_mean_keeps_its_promise() -> None:
    reports = list(exact_reports(target("mean", ONE), ONE_UNIT))
    assert len(reports) == 3
    assert all(report.verified for report in reports)


@pytest.mark.parametrize("wrong", WRONG_AMOUNTS, ids=lambda each: type(each).__name__)
def test_a_wrong_figure_of_amounts_is_rejected(wrong: SumOfAmounts) -> None:
    assert rejected(amounts_target("figure", wrong, ONE), ONE_UNIT)


def test_noise_that_follows_the_number_of_found_keys_is_rejected() -> None:
    world = amount_world([((0, 1),), ((1, 1),)], None, 1, "found")
    claims = loss_claims(Loss(0, ONE))
    assert not ExactAudit().claims(MeanOfAmounts(ONE), world, claims).rejected
    assert ExactAudit().claims(MeanOfFoundKeys(ONE), world, claims).rejected


@pytest.mark.parametrize(
    ("figure", "is_wrong"),
    [(SumOfAmounts(ONE), False), (SumOfAnything(ONE), True)],
    ids=["sound", "not clipped"],
)
def test_runs_of_a_sum_are_judged_alike(figure: Auditable, is_wrong: bool) -> None:
    claim = amounts_target("sum", figure, ONE)
    effort = Effort(search=20, random=0, climbs=0, learn=200, test=400, pairs=8)
    assert claim.by_runs(StatisticalAudit(effort=effort)).rejected == is_wrong


# A remainder needs three units: two by which bins are seen apart, and one that moves between them.


@dataclass(frozen=True, kw_only=True)
class MeasuresAll(Residual):
    """The remainder is measured of all units instead of the sensitive ones, which costs 1.25 ε."""

    def complete(self, data, seen, budget, total, rng):
        everyone = Histogram(data.all, 0 * data.all, k=data.k, total_public=data.total_public)
        return super().complete(everyone, seen, budget, total, rng)


LARGE = Fraction(8)
"""Here bins that expect a unit each are not merged."""


@pytest.mark.parametrize(
    ("chosen", "units", "is_rejected"),
    [
        (Residual(merge=1), 3, False),
        (MeasuresAll(merge=1), 2, False),
        (MeasuresAll(merge=1), 3, True),
    ],
)
def test_a_remainder_of_all_units_shows_with_three_of_them(
    chosen: Mechanism, units: int, is_rejected: bool
) -> None:
    claims = loss_claims(chosen.loss(LARGE, fixed_n=True))
    report = ExactAudit(most_units=units, most_paths=300).claims(
        at(chosen, LARGE), histogram_world(total_public=True), claims
    )
    assert report.rejected == is_rejected
    assert is_rejected == (report.finding(Step.REPLACE_SENSITIVE).loss > LARGE)


def test_targets_are_listed_with_three_units_where_that_can_be_paid_for() -> None:
    units = {name: {each.most_units for each in target(name, 1).small()} for name in LISTED}
    assert units == LISTED


LISTED = {"residual": {3}, "one-sided": {3}, "laplace": {3}, "dawa": {2}, "unit-coins": {3}}


# `auto`: both of its steps, the second one by its own choice


STEPS = ExactAudit(most_units=1, most_paths=300)


@dataclass(frozen=True, kw_only=True)
class AsksLouder(Auto):
    """The questions of the probe at sixteen times their rate."""

    def probe(self, data, epsilon, rng):
        return ProbePlan(PublicShape.of(data), 16 * epsilon).ask(data, rng)


@dataclass(frozen=True)
class AnswersPlainly(Chosen):
    def measure(self, data, rng, listed=None):
        return replace(super().measure(data, rng, listed), value=data.all.astype(np.float64))


@dataclass(frozen=True, kw_only=True)
class AnswersWithoutNoise(Auto):
    def choose(self, probe, public, epsilon, rng):
        return AnswersPlainly(**vars(super().choose(probe, public, epsilon, rng)))


def topped_up_at_twice_the_rate(self: Look, data, budget, rng):
    return TOPPED_UP(self, data, 2 * budget, rng)


TOPPED_UP = Look.topped_up


def test_what_auto_chooses_for_itself_is_listed() -> None:
    """That it keeps its promise there is asked of every mechanism alike."""
    looks, choices = [], set()
    for small in target("auto", 1).small():
        (looks.append if small.about.startswith("look") else choices.add)(small.about)
    assert len(looks) == 2
    assert len(choices) >= 3


@pytest.mark.parametrize("planted", [AsksLouder(), AnswersWithoutNoise()], ids=repr)
def test_auto_that_gives_too_much_away_is_rejected(planted: Auto) -> None:
    assert rejected(target_of(planted, 1), STEPS)


def test_auto_that_tops_up_at_twice_the_rate_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Look, "topped_up", topped_up_at_twice_the_rate)
    assert rejected(target("auto", 1), STEPS)


MOVED = (Histogram([1, 3], [0, 2]), Histogram([0, 4], [0, 2]))
CHANGED = (Histogram([1, 3], [0, 2]), Histogram([1, 3], [1, 2]))


@pytest.mark.soak
@pytest.mark.parametrize(
    ("chosen", "pair", "is_rejected"),
    [
        (AnswersWithoutNoise(), MOVED, True),
        (AsksLouder(), CHANGED, True),
        (Auto(), MOVED, False),
        (Auto(), CHANGED, False),
    ],
    ids=["without noise", "louder questions", "sound, moved", "sound, changed"],
)
def test_runs_of_auto_make_its_own_choices(
    chosen: Auto, pair: tuple[Histogram, Histogram], is_rejected: bool
) -> None:
    effort = Effort(search=20, random=0, climbs=0, learn=100, test=200)
    report = target_of(chosen, 1).by_runs(StatisticalAudit(effort=effort), [pair])
    assert report.rejected == is_rejected


@pytest.mark.soak
@pytest.mark.parametrize("is_planted", [False, True])
def test_runs_of_what_auto_has_chosen_show_a_loud_top_up(
    is_planted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_planted:
        monkeypatch.setattr(Look, "topped_up", topped_up_at_twice_the_rate)
    effort = Effort(search=20, random=0, climbs=0, learn=3_000, test=6_000)
    probe = ProbeResult(np.array([-3, -2]), None, 2)
    after = AfterLook(Auto(), ONE, probe)
    stated = after.choice(PublicShape.of(CHANGED[0])).terms.loss
    report = StatisticalAudit(effort=effort).claim(after, stated.epsilon, pairs=[CHANGED])
    assert report.rejected == is_planted
