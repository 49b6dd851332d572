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

A reservation is a charge whose pair is chosen later, after a first look at the data. It is held
and not booked. Held is (h, h), of which the account's ε grows by 2h, and the choice is some (s, t)
with s ≤ h and s + max(s, t) ≤ 2h. Booking the choice never costs more than what was held:

    On its way up the levels, (s, t) becomes a growth (a, b) of the total (S, T). A relaxation
    turns t into at most max(s, t), a maximum over parts lets less through, and nothing else
    happens; so a ≤ s ≤ h and a + b ≤ s + max(s, t) ≤ 2h. The account's ε is S + max(S, T), which
    is max(2S, S + T). It becomes max(2S + 2a, S + T + a + b), which is at most its value + 2h.

This is so from every state (S, T), hence in every order of charges and settlements: what all sums
come to, plus 2h for each open reservation, never exceeds the budget. The held pairs are added
outside of all levels: (h, h) bounds the ε of the choice and not its t, so within a maximum over
parts it could hide what the choice then costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction

from onesided.errors import RequestError
from onesided.ledger.base import LedgerDamaged, Spending
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


@dataclass(frozen=True)
class Held:
    """All open reservations: their ε, and how many of them use the number of units."""

    epsilon: Fraction = Fraction(0)
    fixed_n: int = 0

    @property
    def pair(self) -> Loss:
        """The sum of the held pairs.

        Since its halves are equal, it adds to the ε of any pair exactly its own ε.
        """
        return Loss(self.epsilon / 2, self.epsilon / 2, fixed_n=self.fixed_n > 0)

    def plus(self, loss: Loss) -> Held:
        """With one more reservation."""
        return Held(self.epsilon + loss.epsilon, self.fixed_n + loss.fixed_n)

    def minus(self, loss: Loss) -> Held:
        """Without a reservation that was settled."""
        return Held(self.epsilon - loss.epsilon, self.fixed_n - loss.fixed_n)


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


def check_held(spending: Spending) -> None:
    """Refuse what cannot be reserved."""
    _check(spending)
    loss = spending.loss
    if spending.shared_coins or loss.sensitive != loss.nonsensitive:
        raise RequestError("What is reserved is a pair of equal halves, and no sample.")


def check_choice(held: Loss, chosen: Loss) -> None:
    """Refuse a pair for which the reservation does not suffice; see the argument above."""
    if (
        chosen.sensitive > held.sensitive
        or chosen.epsilon > held.epsilon
        or chosen.fixed_n > held.fixed_n
    ):
        raise ValueError(f"a reservation of {held} does not cover {chosen}")


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
    """An account's sums, or those of them that a charge touches; built up charge by charge."""

    total: Loss = field(default_factory=Loss.zero)
    held: Held = field(default_factory=Held)
    plain_sum: Fraction = Fraction(0)
    sums: dict[str, Loss] = field(default_factory=dict)

    @property
    def pair(self) -> Loss:
        """What was booked and what is held."""
        return self.total + self.held.pair

    @property
    def spent(self) -> Fraction:
        """What counts against the budget: the ε of what was booked, plus the held ε.

        It is the ε of `pair` as well, because the held pair has equal halves: the ε of
        (S + h, T + h) is max(2S, S + T) + 2h.
        """
        return self.total.epsilon + self.held.epsilon

    def add(self, spending: Spending, snapshot: int) -> Booking:
        """Book one more charge."""
        where = addresses(spending, snapshot)
        known = {level: self.sums[name] for level, name in where.items() if name in self.sums}
        booking = book(spending, known, self.total)
        self.sums.update({where[level]: loss for level, loss in booking.sums.items()})
        self.total = booking.total
        self.plain_sum += spending.loss.epsilon
        return booking

    def hold(self, spending: Spending) -> Booking:
        """Reserve; no sum moves."""
        check_held(spending)
        self.held = self.held.plus(spending.loss)
        self.plain_sum += spending.loss.epsilon
        return Booking({}, self.total)

    def settle(self, spending: Spending, chosen: Loss, snapshot: int) -> Booking:
        """Book the pair that was chosen in place of what `spending` reserved."""
        check_choice(spending.loss, chosen)
        if self.held.epsilon < spending.loss.epsilon:
            raise LedgerDamaged("The open reservations of the ledger do not add up")
        self.held = self.held.minus(spending.loss)
        self.plain_sum -= spending.loss.epsilon
        return self.add(replace(spending, loss=chosen), snapshot)


def total_of(charges: Iterable[tuple[Spending, int]], held: Iterable[Loss] = ()) -> Loss:
    """The pair of an account that was charged `charges`, each a spending and its snapshot.

    `held`: the pairs of the open reservations.
    """
    standing = Standing()
    for spending, snapshot in charges:
        standing.add(spending, snapshot)
    return Loss.sequential([standing.total, *held])
