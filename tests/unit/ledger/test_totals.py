"""The running total equals the composition rules, written out here from the losses alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.errors import RequestError
from onesided.ledger.base import LedgerDamaged, Spending
from onesided.ledger.totals import Standing, total_of
from onesided.loss import Loss
from support.composition import Charged, amounts, charges, composed, parts, policies
from support.ledgers import BASE

accounts = st.lists(charges(), max_size=12)


@given(accounts)
def test_the_running_total_is_the_composition(charged: list[Charged]) -> None:
    assert total_of(charged) == composed(charged)


@given(accounts.flatmap(lambda charged: st.tuples(st.just(charged), st.permutations(charged))))
def test_the_order_of_charges_does_not_matter(orders: tuple[list[Charged], list[Charged]]) -> None:
    assert total_of(orders[0]) == total_of(orders[1])


@given(accounts, charges())
def test_a_charge_never_lowers_the_total_nor_costs_more_than_alone(
    charged: list[Charged], one: Charged
) -> None:
    before, after = total_of(charged), total_of([*charged, one])
    assert before.sensitive <= after.sensitive
    assert before.nonsensitive <= after.nonsensitive
    booked = one[0].loss.under_relaxation() if one[0].relaxed else one[0].loss
    assert after.sensitive - before.sensitive <= booked.sensitive
    assert after.nonsensitive - before.nonsensitive <= booked.nonsensitive


@given(accounts)
def test_no_charge_is_forgotten(charged: list[Charged]) -> None:
    total = total_of(charged)
    for spending, _ in charged:
        assert total.sensitive >= spending.loss.sensitive
        assert total.nonsensitive >= spending.loss.nonsensitive
        assert total.fixed_n or not spending.loss.fixed_n


@given(accounts)
def test_the_plain_sum_is_plain(charged: list[Charged]) -> None:
    standing = Standing()
    for spending, snapshot in charged:
        standing.add(spending, snapshot)
    assert standing.plain_sum == sum((s.loss.epsilon for s, _ in charged), start=Fraction(0))


@given(st.lists(amounts, min_size=1, max_size=6))
def test_topping_up_pays_the_difference_and_repeating_nothing(epsilons: list[Fraction]) -> None:
    samples = [
        Spending(loss=Loss(0, each), policy_id=BASE, policy_sql="", shared_coins=True)
        for each in epsilons
    ]
    assert total_of((each, 1) for each in samples) == Loss(0, max(epsilons))
    on_new_data = [(each, number) for number, each in enumerate(samples)]
    assert total_of(on_new_data) == Loss(0, sum(epsilons))


@st.composite
def choices(draw: st.DrawFn) -> tuple[Spending, Loss]:
    """A reservation anywhere in the account, and a pair that may be chosen for it."""
    half, part, policy = draw(amounts), draw(parts), draw(policies)
    reserved = Spending(
        loss=Loss(half, half),
        policy_id=policy,
        policy_sql=policy,
        part=part,
        relaxed=policy != BASE,
    )
    s = half * draw(st.fractions(0, 1, max_denominator=6))
    t = (2 * half - s) * draw(st.fractions(0, 1, max_denominator=6))
    return reserved, Loss(s, t)


@given(accounts, accounts, choices(), choices())
def test_whatever_is_chosen_a_reservation_covers_it_in_any_order(
    before: list[Charged],
    between: list[Charged],
    one: tuple[Spending, Loss],
    two: tuple[Spending, Loss],
) -> None:
    standing = Standing()
    for spending, snapshot in before:
        standing.add(spending, snapshot)
    for reserved, _ in (one, two):
        spent = standing.spent
        standing.hold(reserved)
        assert standing.spent == spent + reserved.loss.epsilon
    for spending, snapshot in between:
        standing.add(spending, snapshot)
    assert standing.spent == standing.pair.epsilon, "the pair for the promise says the same"
    for reserved, chosen in (two, one):
        spent = standing.spent
        standing.settle(reserved, chosen, 1)
        assert standing.spent <= spent
    booked = [(replace(reserved, loss=chosen), 1) for reserved, chosen in (one, two)]
    assert standing.total == standing.pair == total_of([*before, *between, *booked])
    losses = [spending.loss.epsilon for spending, _ in [*before, *between, *booked]]
    assert standing.plain_sum == sum(losses, start=Fraction(0))


@given(accounts, choices())
def test_a_total_with_reservations_adds_them_outside(
    charged: list[Charged], one: tuple[Spending, Loss]
) -> None:
    reserved, chosen = one
    with_held = total_of(charged, [reserved.loss])
    assert with_held == total_of(charged) + reserved.loss
    assert with_held.epsilon >= total_of([*charged, (replace(reserved, loss=chosen), 1)]).epsilon


def test_a_reservation_has_equal_halves() -> None:
    for loss in (Loss(0, 1), Loss("1/2", "1/4")):
        with pytest.raises(RequestError, match="equal halves"):
            Standing().hold(Spending(loss=loss, policy_id=BASE, policy_sql=""))


def test_what_is_not_held_cannot_be_settled() -> None:
    standing, half = Standing(), Fraction(1, 2)
    reserved = Spending(loss=Loss(half, half), policy_id=BASE, policy_sql="")
    standing.hold(reserved)
    standing.settle(reserved, Loss(0, 1), 1)
    with pytest.raises(LedgerDamaged, match="do not add up"):
        standing.settle(reserved, Loss(0, 1), 1)
