"""The algebra of losses: what composes with what, and what each ε may never do."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.errors import InputError
from onesided.loss import Loss, positive, rational, show

rationals = st.fractions(min_value=0, max_value=20, max_denominator=1000)
losses = st.builds(Loss, rationals, rationals)
any_losses = st.builds(Loss, rationals, rationals, fixed_n=st.booleans())


@given(any_losses, any_losses, any_losses)
def test_sequential_composition_is_a_commutative_monoid(a: Loss, b: Loss, c: Loss) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + Loss.zero() == a
    assert Loss.sequential([a, b, c]) == a + b + c


@given(any_losses, any_losses)
def test_a_sum_never_costs_more_than_the_summed_epsilons(a: Loss, b: Loss) -> None:
    together = (a + b).epsilon
    assert max(a.epsilon, b.epsilon) <= together <= a.epsilon + b.epsilon


@given(rationals, rationals)
def test_one_sided_and_sensitive_only_cost_less_than_the_sum(s: Fraction, t: Fraction) -> None:
    assert (Loss(s, 0) + Loss(0, t)).epsilon == s + max(s, t)


@given(losses, losses)
def test_parallel_is_the_least_upper_bound(a: Loss, b: Loss) -> None:
    both = Loss.parallel(a, b)
    assert both == Loss.parallel(b, a)
    assert both.sensitive == max(a.sensitive, b.sensitive)
    assert both.nonsensitive == max(a.nonsensitive, b.nonsensitive)
    assert Loss.parallel(a, a) == a
    assert both.epsilon <= (a + b).epsilon


def test_parallel_refuses_releases_that_used_the_number_of_units() -> None:
    with pytest.raises(InputError, match="parallel"):
        Loss.parallel(Loss(0, 1), Loss(1, 1, fixed_n=True))


@given(any_losses, any_losses)
def test_across_policies_is_at_least_the_cost_under_one(a: Loss, b: Loss) -> None:
    apart = Loss.across_policies(a, b)
    assert apart.epsilon >= (a + b).epsilon
    assert apart.sensitive == a.sensitive + b.sensitive
    assert apart.nonsensitive == max(a.sensitive, a.nonsensitive) + max(b.sensitive, b.nonsensitive)
    assert Loss.across_policies(a) == a


@given(any_losses)
def test_a_guarantee_survives_relaxation_unchanged(a: Loss) -> None:
    assert a.under_relaxation().epsilon == a.epsilon
    assert a.under_relaxation().extended_epsilon == a.extended_epsilon
    assert a.under_relaxation().under_relaxation() == a.under_relaxation()


@given(any_losses)
def test_osdp_lies_between_the_extended_epsilon_and_twice_it(a: Loss) -> None:
    if a.fixed_n:
        assert a.extended_epsilon is None
    else:
        assert a.extended_epsilon is not None
        assert a.extended_epsilon <= a.epsilon <= 2 * a.extended_epsilon


@given(rationals)
def test_ordinary_privacy_is_the_all_sensitive_case(epsilon: Fraction) -> None:
    assert Loss.differential_privacy(epsilon).epsilon == 2 * epsilon
    assert Loss.replace_one(epsilon).epsilon == epsilon
    assert Loss.replace_one(epsilon).extended_epsilon is None


def test_twenty_times_a_twentieth_fits_a_budget_of_one() -> None:
    spent = Loss.sequential([Loss(0, 0.05)] * 20)
    assert spent.epsilon == 1
    assert spent.fits(Fraction(1))
    assert not (spent + Loss(0, "1e-9")).fits(Fraction(1))


@given(st.floats(min_value=1e-9, max_value=1e6))
def test_a_float_means_the_decimal_it_prints(value: float) -> None:
    assert rational(value) == Fraction(repr(value))
    assert float(rational(value)) == value


@given(rationals)
def test_show_loses_nothing(value: Fraction) -> None:
    assert Fraction(show(value)) == value


@pytest.mark.parametrize(
    "bad", ["", "one", "nan", float("nan"), float("inf"), None, True, "1/0", []]
)
def test_what_is_not_a_number_is_refused(bad: object) -> None:
    with pytest.raises(InputError, match="finite number"):
        rational(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [0, -1, "0.0", -1e-9])
def test_epsilon_must_be_positive(bad: object) -> None:
    with pytest.raises(InputError, match="greater than 0"):
        positive(bad)  # type: ignore[arg-type]


def test_a_loss_cannot_be_negative() -> None:
    with pytest.raises(InputError, match="negative"):
        Loss(-1, 0)


@given(any_losses)
def test_a_loss_survives_being_written_as_json(loss: Loss) -> None:
    assert Loss.from_json(json.loads(json.dumps(loss.to_json()))) == loss
