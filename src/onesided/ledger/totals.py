"""What an account has spent: pure arithmetic on pairs, without any storage.

Charges build up in five levels, each the sum or the maximum of the one before:

    coins    samples with the snapshot's coins          maximum per (snapshot, policy, part)
    policy   charges under one policy on one part       sum of pairs, (S, T)
    part     all policies on one part                   sum, a stricter policy as (S, max(S, T))
    column   all parts of one partition column          componentwise maximum
    total    all columns, and the unpartitioned table   sum

Every level can only grow, so a charge needs to know one sum per level and not the charges before.

Samples of one snapshot share their coins also across policies and parts; adding them up there is
more than they cost together, never less.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from onesided.errors import RequestError
from onesided.ledger.base import Spending
from onesided.ledger.chain import canonical, digest
from onesided.loss import Loss


class Level(StrEnum):
    """The levels below the total at which an account keeps sums."""

    COINS = "coins"
    POLICY = "policy"
    PART = "part"
    COLUMN = "column"


@dataclass(frozen=True)
class Booking:
    """The sums after a charge, for the levels that it touches, and the new total."""

    sums: Mapping[Level, Loss]
    total: Loss


def addresses(spending: Spending, snapshot: int) -> dict[Level, str]:
    """The name of the sum that `spending` touches at each level, on snapshot number `snapshot`."""
    part = spending.part or (None, None)
    named: dict[Level, tuple[object, ...]] = {
        Level.POLICY: (spending.policy_id, *part),
        Level.PART: part,
    }
    if spending.shared_coins:
        named[Level.COINS] = (snapshot, spending.policy_id, *part)
    if spending.part:
        named[Level.COLUMN] = (part[0],)
    return {level: digest(canonical([level.value, *name])) for level, name in named.items()}


def book(spending: Spending, sums: Mapping[Level, Loss], total: Loss) -> Booking:
    """Add `spending` to the sums that it touches; a level that is not there stands at (0, 0)."""
    _check(spending)
    before = {level: sums.get(level, Loss.zero()) for level in Level}
    after: dict[Level, Loss] = {}
    added = spending.loss
    if spending.shared_coins:
        after[Level.COINS] = Loss.parallel(before[Level.COINS], spending.loss)
        added = _growth(before[Level.COINS], after[Level.COINS])
    after[Level.POLICY] = before[Level.POLICY] + added
    if spending.relaxed:
        seen_before = before[Level.POLICY].under_relaxation()
        added = _growth(seen_before, after[Level.POLICY].under_relaxation())
    after[Level.PART] = before[Level.PART] + added
    if spending.part:
        after[Level.COLUMN] = Loss.parallel(before[Level.COLUMN], after[Level.PART])
        added = _growth(before[Level.COLUMN], after[Level.COLUMN])
    return Booking(after, total + added)


def _growth(before: Loss, after: Loss) -> Loss:
    """`after` − `before`, where neither component can have become smaller."""
    return Loss(
        after.sensitive - before.sensitive,
        after.nonsensitive - before.nonsensitive,
        fixed_n=after.fixed_n,
    )


def _check(spending: Spending) -> None:
    if spending.part and spending.loss.fixed_n:
        raise RequestError(
            "A release that uses the number of units cannot be booked on one part of a partition; "
            "ask for it on the whole table."
        )
    if spending.shared_coins and (spending.loss.sensitive or spending.loss.fixed_n):
        raise RequestError("A sample drawn with the snapshot's coins has the loss (0, epsilon).")


@dataclass
class Standing:
    """An account's sums in memory, built up charge by charge."""

    total: Loss = field(default_factory=Loss.zero)
    plain_sum: Fraction = Fraction(0)
    sums: dict[str, Loss] = field(default_factory=dict)

    def add(self, spending: Spending, snapshot: int) -> Booking:
        """Book one more charge."""
        where = addresses(spending, snapshot)
        known = {level: self.sums[name] for level, name in where.items() if name in self.sums}
        booking = book(spending, known, self.total)
        self.sums.update({where[level]: loss for level, loss in booking.sums.items()})
        self.total = booking.total
        self.plain_sum += spending.loss.epsilon
        return booking


def total_of(charges: Iterable[tuple[Spending, int]]) -> Loss:
    """The pair of an account that was charged `charges`, each a spending and its snapshot."""
    standing = Standing()
    for spending, snapshot in charges:
        standing.add(spending, snapshot)
    return standing.total
