"""Sums and means that find the bound of a unit's total: a look at how totals are spread, then it.

The look counts, one-sidedly, how many totals of non-sensitive units are between each two of a
public ladder of numbers, and how many groups there are. Few units have the largest totals, and
noise hides them. So their number is carried on from what is seen (tails.py). That bound is taken of
which noise and what it clips are expected to err least together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from onesided.data import Histogram
from onesided.data.planned.option import Missing
from onesided.data.release import ReleaseKind
from onesided.engine.base import Total
from onesided.language import BoundKey, Key, Predicate, Schema, Type
from onesided.language.tree import Case, Compare, Comparison, IsNull, Literal, Not
from onesided.loss import Loss, Number, show
from onesided.mechanisms.noise import geometric_mean
from onesided.mechanisms.one_sided import one_sided_noise
from onesided.mechanisms.spread import groups_rate, release_spread, totals_rate
from onesided.mechanisms.sums import expected_sum_error
from onesided.session.amounts import MOST_STEPS, Amount, value_amount
from onesided.session.domains import both
from onesided.session.grouping import Grouping
from onesided.session.questions.base import (
    BOUND_LOOK,
    Question,
    ReleaseTerms,
    Runnable,
    TwoStep,
)
from onesided.session.questions.bounded import AUTO
from onesided.session.questions.sums import Means, Sums, TotalsQuestion
from onesided.session.requests import Request
from onesided.session.supposed import NOTHING_KNOWN, Supposed
from onesided.session.table import Reading
from onesided.session.tails import SpreadOfTotals

LOOK_SHARE = Fraction(1, 8)
"""The part of ε for how totals are spread, and for the number of groups."""
FINE = 64
"""Into so many steps each number of the ladder is divided when totals are compared with it."""
_ENDS = {Type.FLOAT: (-12, 60)}
_USUAL_ENDS = (0, 64)
"""The ladder's ends, as halves of the exponent of 2, in steps of the column."""


@dataclass(frozen=True, kw_only=True)
class BoundedTotals(Question, TwoStep):
    """A sum, or a mean, of a value of which nobody says how much a unit may add to a group.

    - `kind`: of the answer.
    - `groups`: those in which it is not NULL.
    - `grid`, `nonnegative`: as they are declared.
    - `rows`: what a unit adds to the count of a mean of rows.
    """

    seen: ClassVar[str] = BOUND_LOOK
    expected_of: ClassVar[str] = "non-sensitive units"

    kind: ReleaseKind
    groups: Grouping
    value: BoundKey
    schema: Schema
    grid: Number | None = None
    nonnegative: bool = False
    rows: Amount | None = None

    @property
    def by(self) -> str:
        """The name of its mechanism."""
        return self.totals(self.ladder[0]).by

    @property
    def missing(self) -> Missing | None:
        return Missing.MAX_GROUPS if self.groups.k is None else None

    def check(self) -> None:
        """Refuse what a bound does not make possible."""
        self.totals(self.ladder[0]).check()

    @cached_property
    def ladder(self) -> tuple[Fraction, ...]:
        """The bounds that may be chosen, rising by a doubling each, or by half of one."""
        most = self._most
        if most is None:
            return self._whole_ladder
        return tuple(each for each in self._whole_ladder if each <= most) or (self._step,)

    @cached_property
    def _whole_ladder(self) -> tuple[Fraction, ...]:
        low, high = _ENDS.get(self.value.type, _USUAL_ENDS)
        numbers = [Fraction(2.0 ** (half / 2)) for half in range(low, high, self._coarse)]
        if self.value.type is not Type.FLOAT:
            numbers = [self._step * round(each) for each in numbers]
        return tuple(sorted(set(numbers)))

    @property
    def _step(self) -> Fraction:
        digits = self.value.digits
        return Fraction(1) if digits is None else Fraction(1, 10**digits.fraction)

    @property
    def _most(self) -> Fraction | None:
        """What so many units can have without exceeding 2^53 steps; floats have wider steps."""
        if self.value.type is Type.FLOAT:
            return None
        return self._step * (MOST_STEPS // self.facts.units)

    @property
    def reads_n(self) -> bool:
        """Whether the ladder ends where it does because there are so many units."""
        return self.ladder != self._whole_ladder

    @property
    def _coarse(self) -> int:
        """Totals of many rows take twice the work to compare, and get a ladder of doublings."""
        return 1 if self.facts.rows_are_units else 2

    def amount(self, bound: Fraction) -> Amount:
        """What a unit adds with this bound."""
        return value_amount(
            self.value,
            bound=bound,
            grid=self.grid,
            nonnegative=self.nonnegative,
            units=self.facts.units,
        )

    def totals(self, bound: Fraction) -> TotalsQuestion:
        """The question with this bound, at what the look leaves of ε."""
        around: dict[str, Any] = {
            "facts": self.facts,
            "scope": self.scope,
            "epsilon": self.epsilon * (1 - LOOK_SHARE),
            "groups": self.groups,
            "amount": self.amount(bound),
        }
        return Sums(**around) if self.kind is ReleaseKind.SUM else Means(**around, rows=self.rows)

    @property
    def request(self) -> Request:
        details = {
            **self.groups.details,
            **self.scope.details(),
            "column": self.value.name,
            "bound": AUTO,
            "nonnegative": self.nonnegative,
        }
        if self.grid is not None:
            details["grid"] = show(self.amount(self.ladder[-1]).grid)
        if self.rows is not None:
            details |= self.rows.details
        return Request(self.kind, self.scope.policy.id, self.epsilon, details)

    @property
    def loss(self) -> Loss:
        """Held until the bound is chosen; what is paid in the end is (0, ε)."""
        return Loss(self.epsilon / 2, self.epsilon / 2, fixed_n=self.reads_n)

    @property
    def terms(self) -> ReleaseTerms:
        """What can be said before the bound is known: all but the bound."""
        first = self.totals(self.ladder[0]).terms
        return replace(
            first,
            loss=self.loss,
            figure=f"{self.kind.value} of {self.value}, each unit clipped to the bound that is "
            f"expected to err least{self.groups.counted}",
            noise=f"{self.look_noise}; then that of the bound which is chosen",
            error={},
        )

    @property
    def look_noise(self) -> str:
        """That of the look, in words."""
        k, look = self.groups.bound, self.epsilon * LOOK_SHARE
        return (
            f"for the bound, {one_sided_noise(totals_rate(look, k))}, and of rate "
            f"{groups_rate(look, k)} on the number of groups"
        )

    def expected_error(self, supposed: Supposed = NOTHING_KNOWN) -> float | None:
        """It follows the bound, which nobody knows before the look."""
        return None

    @property
    def assumes(self) -> str:
        return ""

    def look(self, reading: Reading) -> bytes:
        """How many totals are between each two numbers of the ladder; and how many groups."""
        ladder = self.ladder
        value, found = self._limited, list[Histogram]()
        if self.facts.rows_are_units:
            # A row is at least a number where it is a whole step of it.
            _, found = reading.totals(self.groups, tuple(Total(value, each, 1) for each in ladder))
            reached = [int(each.nonsensitive.sum()) for each in found]
        else:
            # A total is at least a number where one step more of it counts.
            pairs = [
                Total(value, each / FINE, steps) for each in ladder for steps in (FINE, FINE - 1)
            ]
            _, found = reading.totals(self.groups, tuple(pairs))
            sums = [int(each.nonsensitive.sum()) for each in found]
            reached = [whole - less for whole, less in zip(sums[::2], sums[1::2], strict=True)]
        there = int(sum(np.any([each.nonsensitive > 0 for each in found], axis=0).reshape(-1)))
        k, look = self.groups.bound, self.epsilon * LOOK_SHARE
        noisy = release_spread(reached, there, look, reading.rng, k=k)
        rate = totals_rate(look, k)
        mean = geometric_mean(rate)
        counts = tuple(each + mean for each in noisy.counts)
        spread = SpreadOfTotals(self.ladder, counts, float(1 / rate))
        bound = self.best(spread, max(noisy.groups, 1))
        said = {"bound": show(bound), "counts": noisy.counts, "groups": noisy.groups}
        return json.dumps(said, sort_keys=True).encode()

    @property
    def _limited(self) -> BoundKey:
        """The value of a row, moved to between 0 and twice the ladder's last number.

        The steps of a row then never become more where those of the ladder do, and none of them is
        beyond 64 bits. So a total is between exactly two numbers, or below the first.
        """
        node, top = self.value.expression, _literal(self.value, 2 * self.ladder[-1])
        low = Compare(Comparison.AT_MOST, node, _literal(self.value, Fraction(0)))
        high = Compare(Comparison.GREATER, node, top)
        zero = _literal(self.value, Fraction(0))
        return Key(Case(None, ((low, zero), (high, top)), node)).bind(self.schema)

    def best(self, spread: SpreadOfTotals, groups: int) -> Fraction:
        """The bound that is expected to err least in a group."""
        return min(self.ladder, key=lambda bound: self.error(bound, spread, groups))

    def error(self, bound: Fraction, spread: SpreadOfTotals, groups: int) -> float:
        """What noise and clipping cost a group with a bound."""
        asked, share = self.totals(bound), 1 if self.kind is ReleaseKind.SUM else 2
        noise = expected_sum_error(
            asked.epsilon / share,
            ceiling=asked.amount.steps,
            step=asked.amount.grid,
            k=self.groups.bound,
        )
        return noise + spread.clipped(bound) / (self.groups.bins or groups)

    def decided(self, look: bytes) -> Runnable:
        bound = Fraction(json.loads(look)["bound"])
        return _Found(self, self.totals(bound))


def present(groups: Grouping, value: BoundKey, schema: Schema) -> Grouping:
    """The groups without rows in which the value is NULL; n no longer stands for the total."""
    there = Predicate(Not(IsNull(value.expression))).bind(schema)
    return replace(groups, where=both(groups.where, there), every_unit_once=False)


def _literal(value: BoundKey, number: Fraction) -> Literal:
    match value.type:
        case Type.FLOAT:
            return Literal(Type.FLOAT, float(number))
        case Type.DECIMAL:
            digits = 0 if value.digits is None else value.digits.fraction
            return Literal(Type.DECIMAL, Decimal(int(number * 10**digits)).scaleb(-digits))
        case _:
            return Literal(Type.INTEGER, int(number))


@dataclass(frozen=True)
class _Found(Runnable):
    """The question with the bound that was found."""

    asked: BoundedTotals
    totals: TotalsQuestion

    @property
    def terms(self) -> ReleaseTerms:
        said = self.totals.terms
        looked = self.asked.epsilon - self.totals.epsilon
        bound: Mapping[str, Any] = {
            "bound": show(self.totals.amount.bound),
            "chosen_from": "how totals of non-sensitive units are spread",
            "epsilon": show(looked),
        }
        return replace(
            said,
            loss=Loss(0, looked, fixed_n=self.asked.reads_n) + said.loss,
            noise=f"{self.asked.look_noise}; then {said.noise}",
            error={**said.error, "bound": bound},
        )

    def run(self, reading: Reading) -> bytes:
        return self.totals.run(reading)
