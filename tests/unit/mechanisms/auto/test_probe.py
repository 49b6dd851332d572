"""The probe of `auto`: what it costs, and that its noise is the stated one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from onesided.audit import ExactAudit
from onesided.audit.exact import loss_claims
from onesided.audit.world import histogram_world
from onesided.data import Histogram
from onesided.data.histogram import Counts
from onesided.loss import Loss
from onesided.mechanisms.auto.probe import ProbePlan
from onesided.mechanisms.base import PublicShape
from onesided.randomness import Randomness, seeded
from support.statistics import agrees, chi_square_p_value

EPSILON = Fraction(8)


class Probing:
    """The probe at an ε, for an audit; the number alone where `counts` are left out."""

    def __init__(self, epsilon: Fraction, part: str) -> None:
        self.epsilon, self.part = epsilon, part

    def release(self, data: Histogram, rng: Randomness) -> Counts | int:
        probe = ProbePlan(PublicShape.of(data), self.epsilon).ask(data, rng)
        return probe.value if self.part == "counts" else probe.sensitive


@pytest.mark.one_in(2)
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("too_little", [False, True], ids=["enough noise", "two thirds of it"])
@pytest.mark.parametrize("part", ["counts", "number"])
def test_each_query_costs_what_is_stated(part: str, too_little: bool, k: int) -> None:
    """Exactly, on every small database; a query sees one kind of units alone."""
    epsilon = EPSILON if part == "counts" else 8 * EPSILON
    loss = Loss(0, epsilon / 8) if part == "counts" else Loss(epsilon / 64, 0)
    run = Probing(epsilon * Fraction(3, 2) if too_little else epsilon, part)
    audit = ExactAudit(most_units=1, most_paths=300)
    report = audit.claims(run, histogram_world((2,), k), loss_claims(loss))
    assert report.rejected is too_little
    assert report.verified is not too_little


@pytest.mark.parametrize("k", [1, 5])
def test_the_pair_does_not_depend_on_k_and_rates_do(k: int) -> None:
    plan = ProbePlan(PublicShape((9,), k=k, n=100, total_public=True), Fraction(1))
    assert plan.loss == Loss("1/64", "1/8")
    assert plan.terms.loss == plan.loss
    assert (plan.counts_rate, plan.number_rate) == (Fraction(1, 8 * k), Fraction(1, 64 * k))
    assert str(plan.counts_rate) in plan.terms.noise
    assert str(plan.number_rate) in plan.terms.noise


def test_answers_have_the_stated_noise() -> None:
    data = Histogram(np.full(4000, 60), np.full(4000, 40), total_public=False)
    plan, rng = ProbePlan(PublicShape.of(data), Fraction(1)), seeded(12)
    probe = plan.ask(data, rng)
    down = stats.geom(1 - np.exp(-1 / 8), loc=-1)
    assert agrees(chi_square_p_value(40 - probe.value, down))
    few = Histogram([60], [40], total_public=False)
    numbers = np.array([plan.ask(few, rng).sensitive for _ in range(4000)])
    assert agrees(chi_square_p_value(numbers - 20, stats.dlaplace(1 / 64)))
    assert not agrees(chi_square_p_value(numbers - 20, stats.dlaplace(1.33 / 64)))


def test_of_open_keys_only_seen_ones_are_listed() -> None:
    data = Histogram([400, 90, 12, 0], [400, 0, 12, 0], open_domain=True, total_public=False)
    probe = ProbePlan(PublicShape.of(data), Fraction(4)).ask(data, seeded(1))
    assert probe.keys is not None
    assert set(probe.keys) <= {0, 2}
    assert np.all(probe.value > 0)
