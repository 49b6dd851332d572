"""`plan`: what a count would cost and how exact it would be, before anything is paid.

Nothing but public facts and the account go in. Neither policy nor `where` nor `by` is evaluated on
the data, so a plan costs nothing and may be shown to everybody.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

import pyarrow as pa

from onesided.errors import MechanismRefused, RequestError
from onesided.ledger import Balance, Charge
from onesided.loss import show
from onesided.mechanisms.base import Kind, PublicShape
from onesided.mechanisms.buckets.algorithm import BucketAlgorithm
from onesided.mechanisms.registry import mechanism, mechanism_names
from onesided.mechanisms.rr import RandomizedResponse
from onesided.session.facts import DatasetFacts
from onesided.session.grouping import Grouping
from onesided.session.kernel import Kernel
from onesided.session.questions.base import Missing, TwoStep
from onesided.session.questions.choosing import counting
from onesided.session.questions.counts import CountingQuestion
from onesided.session.scope import Scope


@dataclass(frozen=True)
class Option:
    """One way to answer the question.

    - `mechanism`, `epsilon`: what to ask `count` for.
    - `error`: the expected mean of |x̃ᵢ − xᵢ| over the groups, where x counts all units; None where
      it cannot be said beforehand.
    - `assumes`: what that takes for granted about the data, or why it cannot be said.
    - `cost`: what it would add to the account's ε; None where the account cannot book it.
    - `plain_cost`: what it would add to the plain sum of ε.
    - `fits`: whether the account can pay it.
    - `missing`: what the question must say first.
    - `refusal`: why the mechanism does not answer questions of this form, where it does not.
    - `note`: why it is free, where it is.
    """

    mechanism: str
    epsilon: Fraction
    error: float | None
    assumes: str
    cost: Fraction | None
    plain_cost: Fraction
    fits: bool
    missing: Missing | None = None
    refusal: str = ""
    note: str = ""

    @property
    def available(self) -> bool:
        """Whether `count` would answer now."""
        return self.fits and self.missing is None and not self.refusal

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; exact numbers are texts."""
        return {
            "mechanism": self.mechanism,
            "epsilon": show(self.epsilon),
            "expected_absolute_error_per_group": self.error,
            "expected_error_assumes": self.assumes,
            "cost": None if self.cost is None else show(self.cost),
            "cost_as_plain_sum": show(self.plain_cost),
            "fits": self.fits,
            "missing": _missing(self),
            "refusal": self.refusal,
            "note": self.note,
        }


@dataclass(frozen=True)
class Plan:
    """All ways to answer one question: what can be had first, the most exact one on top.

    `left` and `budget` are None where no account was agreed to yet. Expected errors take the share
    `facts.nonsensitive_share` of the units to be non-sensitive (the true one is secret), and data
    to be as each option says.
    """

    by: tuple[str, ...]
    where: str | None
    facts: PublicShape
    left: Fraction | None
    budget: Fraction | None
    rows: tuple[Option, ...]

    @property
    def best(self) -> Option | None:
        """The option with the least expected error among those that can be had."""
        known = [row for row in self.rows if row.available and row.error is not None]
        return known[0] if known else None

    @property
    def table(self) -> pa.Table:
        """The options as a table, for display; `to_json` has the exact numbers."""
        return pa.table(
            {
                "mechanism": [row.mechanism for row in self.rows],
                "epsilon": [float(row.epsilon) for row in self.rows],
                "expected_error": pa.array([row.error for row in self.rows], pa.float64()),
                "expected_error_assumes": [row.assumes for row in self.rows],
                "cost": pa.array(
                    [None if row.cost is None else float(row.cost) for row in self.rows],
                    pa.float64(),
                ),
                "plain_cost": [float(row.plain_cost) for row in self.rows],
                "fits": [row.fits for row in self.rows],
                "missing": [_missing(row) for row in self.rows],
                "refusal": [row.refusal for row in self.rows],
                "note": [row.note for row in self.rows],
            }
        )

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; exact numbers are texts."""
        return {
            "by": list(self.by),
            "where": self.where,
            "units": self.facts.n,
            "groups": self.facts.bins,
            "max_groups": self.facts.k,
            "assumed_nonsensitive_share": self.facts.nonsensitive_share,
            "left": None if self.left is None else show(self.left),
            "budget": None if self.budget is None else show(self.budget),
            "options": [row.to_json() for row in self.rows],
        }

    def cells(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The options in words: the headings and, for each option, its cells."""
        headings = ("mechanism", "ε", "expected error", "cost", "as plain sum", "can be had")
        return headings, [_words(row) for row in self.rows]

    def __str__(self) -> str:
        headings, rows = self.cells()
        widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
        lines = (
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (headings, *rows)
        )
        return "\n".join(lines)


@dataclass(frozen=True)
class Planning:
    """A count by any mechanism, and the account it would be charged to; None before there is one.

    - `share`: the share of the units that is assumed to be non-sensitive.
    """

    facts: DatasetFacts
    groups: Grouping
    scope: Scope
    epsilon: Fraction
    share: float
    kernel: Kernel | None

    def plan(self) -> Plan:
        """Price every mechanism that a session releases, and what is paid for already."""
        names = [
            name
            for name in mechanism_names()
            if name != RandomizedResponse.name and mechanism(name).kind is Kind.SOUND
        ]
        balance = None if self.kernel is None else self.kernel.account.balance()
        paid = self._paid(balance)
        options = [self._option(name, self.epsilon, paid) for name in names]
        options.extend(self._samples(paid))
        return Plan(
            by=tuple(self.groups.details["by"]),
            where=self.groups.details["where"],
            facts=self._public,
            left=None if balance is None else balance.left,
            budget=None if balance is None else balance.budget,
            rows=tuple(sorted(options, key=_usefulness)),
        )

    @property
    def _public(self) -> PublicShape:
        return self.groups.public(self.facts.units, nonsensitive_share=self.share)

    def _samples(self, paid: list[Charge]) -> Iterator[Option]:
        """Count a sample at ε, and the largest one that is paid for already, which is free."""
        held = max(
            (
                charge.spending.loss.nonsensitive
                for charge in paid
                if charge.spending.shared_coins
                and charge.spending.policy_id == self.scope.policy.id
                and charge.spending.part == self.scope.part
            ),
            default=Fraction(0),
        )
        if held < self.epsilon:
            yield self._option(RandomizedResponse.name, self.epsilon, paid)
        if held:
            note = f"counts the sample that is paid for at ε = {show(held)}"
            yield self._option(RandomizedResponse.name, held, paid, note=note)

    def _option(
        self, name: str, epsilon: Fraction, paid: list[Charge], *, note: str = ""
    ) -> Option:
        question = counting(name, self.groups, facts=self.facts, scope=self.scope, epsilon=epsilon)
        request = question.request.fingerprint
        again = any(charge.request == request for charge in paid)
        refusal = "" if question.missing is not None else _refusal(question)
        cost, fits = self._price(question)
        if again:
            cost, fits, note = Fraction(0), True, note or "paid for already: the same answer again"
        error = question.expected_error(self.share)
        return Option(
            mechanism=name,
            epsilon=epsilon,
            error=error,
            assumes=self._unknown if error is None else question.mechanism.assumes,
            cost=cost,
            plain_cost=Fraction(0) if again else question.loss.epsilon,
            fits=fits,
            missing=question.missing,
            refusal=refusal,
            note=note,
        )

    @property
    def _unknown(self) -> str:
        """Why no error can be said beforehand."""
        if self.groups.k is None:
            return Missing.MAX_GROUPS.value
        return "the number of groups" if self._public.bins is None else "how groups hang together"

    def _price(self, question: CountingQuestion) -> tuple[Fraction | None, bool]:
        """What the account would grow by, and whether it can."""
        if self.kernel is None:
            return question.loss.epsilon, True
        try:
            quote = self.kernel.account.quote(
                question.spending, self.kernel.snapshot, reserves=isinstance(question, TwoStep)
            )
        except RequestError:
            return None, False
        return quote.cost, quote.fits

    def _paid(self, balance: Balance | None) -> list[Charge]:
        """The charges that stand on this snapshot."""
        if balance is None or self.kernel is None:
            return []
        charges = (record.charge for record in balance.charges)
        return [each for each in charges if each.snapshot == self.kernel.snapshot.number]


def _refusal(question: CountingQuestion) -> str:
    try:
        question.check()
    except MechanismRefused as error:
        return str(error)
    return ""


def assumed_share(value: float) -> float:
    """An assumed share of non-sensitive units, refused outside 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise RequestError("nonsensitive_share, which is assumed, must be between 0 and 1.")
    return float(value)


def _usefulness(row: Option) -> tuple[bool, float, Fraction]:
    """What can be had first, then the least error, then the least cost."""
    error = inf if row.error is None else row.error
    return not row.available, error, Fraction(0) if row.cost is None else row.cost


def _missing(row: Option) -> str:
    return "" if row.missing is None else row.missing.value


def _expected(row: Option) -> str:
    """An error that holds for the worst data is an upper one: groups are hardly ever so unlike."""
    if row.error is None:
        return f"depends on {row.assumes}"
    return f"{'up to ' if row.assumes == BucketAlgorithm.assumes else ''}±{row.error:.3g}"


def _words(row: Option) -> tuple[str, ...]:
    if row.missing is not None:
        can = f"no: it needs {row.missing.value}"
    elif row.refusal:
        can = f"no: {row.refusal}"
    elif row.cost is None:
        can = "no: it cannot be booked on one part"
    else:
        can = (row.note or "yes") if row.fits else "no: over budget"
    return (
        row.mechanism,
        show(row.epsilon),
        _expected(row),
        "" if row.cost is None else show(row.cost),
        show(row.plain_cost),
        can,
    )
