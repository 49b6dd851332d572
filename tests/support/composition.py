"""Accounts as hypothesis makes them up, and what they cost by the rules of composition alone."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st

from onesided.ledger.base import Spending
from onesided.loss import Loss
from support.ledgers import BASE, STRICTER

Charged = tuple[Spending, int]

amounts = st.fractions(min_value=0, max_value=4, max_denominator=6)
parts = st.sampled_from([None, ("day", "mon"), ("day", "tue"), ("hall", "a"), ("hall", "b")])
policies = st.sampled_from([BASE, STRICTER, "policy-strictest"])


@st.composite
def charges(draw: st.DrawFn) -> Charged:
    """A spending and the snapshot it is charged on."""
    part, policy, coins = draw(parts), draw(policies), draw(st.booleans())
    fixed_n = part is None and not coins and draw(st.booleans())
    loss = Loss(0 if coins else draw(amounts), draw(amounts), fixed_n=fixed_n)
    spending = Spending(
        loss=loss,
        policy_id=policy,
        policy_sql=policy,
        part=part,
        relaxed=policy != BASE,
        shared_coins=coins,
    )
    return spending, draw(st.integers(1, 2))


def _one_policy(charged: Iterable[Charged]) -> Loss:
    """Sum of pairs; samples with the same coins count by their largest ε."""
    charged = list(charged)
    independent = [spending.loss for spending, _ in charged if not spending.shared_coins]
    coins: dict[int, list[Loss]] = {}
    for spending, snapshot in charged:
        if spending.shared_coins:
            coins.setdefault(snapshot, []).append(spending.loss)
    largest = [Loss.parallel(*samples) for samples in coins.values()]
    return Loss.sequential([*independent, *largest])


def _one_part(charged: list[Charged]) -> Loss:
    """The base policy as it is, each stricter one as its relaxation sees its sum."""
    sums = {
        policy: _one_policy(each for each in charged if each[0].policy_id == policy)
        for policy in {spending.policy_id for spending, _ in charged}
    }
    return Loss.sequential(
        loss if policy == BASE else loss.under_relaxation() for policy, loss in sums.items()
    )


def composed(charged: list[Charged]) -> Loss:
    """All of it: parts of a column in parallel, columns and the whole table one after another."""
    columns: dict[str | None, dict[str | None, list[Charged]]] = {}
    for each in charged:
        column, value = each[0].part or (None, None)
        columns.setdefault(column, {}).setdefault(value, []).append(each)
    whole = _one_part(columns.pop(None, {}).get(None, []))
    in_parallel = (
        Loss.parallel(*(_one_part(part) for part in values.values())) for values in columns.values()
    )
    return Loss.sequential([whole, *in_parallel])
