"""What a unit may add to a sum: a column, a bound and a grid, checked before anything is paid."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from onesided.data import Histogram
from onesided.engine.base import Total
from onesided.errors import RequestError
from onesided.language import BoundKey, BoundPredicate, Key, Predicate, Schema, Type
from onesided.language.tree import Column, IsNull, Not
from onesided.language.types import NUMERIC
from onesided.loss import Number, quantity, show
from onesided.mechanisms.sums import GridTotals

MOST_STEPS = 2**53
"""Sums stay below it, so that floating point and every engine can hold them exactly."""
USUAL_STEPS = 1_000_000
"""The steps of the usual grid for floating point: finer than any noise."""


@dataclass(frozen=True)
class Amount:
    """A unit's total of `value` in a group, in whole steps of `grid`, clipped to [0, `bound`].

    - `value`: None where rows are counted, each of which is one step.
    - `nonnegative`: the steward says that no value is below 0; a sum then has a certain lower
      bound.
    """

    value: BoundKey | None
    bound: Fraction
    grid: Fraction
    nonnegative: bool

    @property
    def steps(self) -> int:
        """m = B/w, the most steps that a unit can add to a group."""
        return int(self.bound / self.grid)

    @property
    def total(self) -> Total:
        """What the engine is to add up."""
        return Total(self.value, self.grid, self.steps)

    @property
    def details(self) -> dict[str, object]:
        """What of it belongs to a request."""
        if self.value is None:
            return {"max_rows": self.steps}
        return {
            "column": self.value.name,
            "bound": show(self.bound),
            "grid": show(self.grid),
            "nonnegative": self.nonnegative,
        }

    def present(self, schema: Schema) -> BoundPredicate | None:
        """The filter that leaves out NULL, which adds nothing to a sum and no row to a mean."""
        if self.value is None:
            return None
        return Predicate(Not(IsNull(self.value.expression))).bind(schema)

    def totals(self, data: Histogram) -> GridTotals:
        """The sums of non-sensitive units, as a mechanism sees them."""
        return GridTotals(
            data.nonsensitive,
            ceiling=self.steps,
            step=self.grid,
            k=data.k,
            nonnegative=self.nonnegative,
            open_domain=data.open_domain,
        )


ONE_EACH = Amount(None, Fraction(1), Fraction(1), True)
"""A unit counts as one in each of its groups."""


def rows_amount(max_rows: int, units: int) -> Amount:
    """One for each row, at most `max_rows` for a unit in a group."""
    if isinstance(max_rows, bool) or not isinstance(max_rows, int) or max_rows < 1:
        raise RequestError("max_rows, the most rows that count for a unit, must be ≥ 1.")
    return _checked(Amount(None, Fraction(max_rows), Fraction(1), True), units)


def column_amount(
    schema: Schema,
    column: str,
    *,
    bound: Number,
    grid: Number | None,
    nonnegative: bool,
    units: int,
) -> Amount:
    """The amount of a numeric column.

    By default whole numbers are added up in steps of 1, decimals in steps of their last digit,
    and floating point in millionths of the bound.
    """
    return value_amount(
        Key(Column(schema.resolve(column))).bind(schema),
        bound=bound,
        grid=grid,
        nonnegative=nonnegative,
        units=units,
    )


def value_amount(
    value: BoundKey,
    *,
    bound: Number,
    grid: Number | None,
    nonnegative: bool,
    units: int,
) -> Amount:
    """The amount of a numeric value of each row."""
    if value.type not in NUMERIC:
        raise RequestError(f"{value.name} is {value.type.value}; only numbers can be added up.")
    most = quantity(bound, "bound")
    width = _usual_grid(value, most) if grid is None else quantity(grid, "grid")
    if (most / width).denominator != 1:
        raise RequestError(
            f"The bound {show(most)} is no whole number of steps of the grid {show(width)}; "
            "choose one that is."
        )
    return _checked(Amount(value, most, width, bool(nonnegative)), units)


def _checked(amount: Amount, units: int) -> Amount:
    if amount.steps * units > MOST_STEPS:
        raise RequestError(
            "The grid is too fine for so many units: sums could exceed 2^53 steps; choose a "
            "coarser grid or a smaller bound."
        )
    return amount


def _usual_grid(value: BoundKey, bound: Fraction) -> Fraction:
    if value.type in (Type.INTEGER, Type.WIDE_INTEGER):
        return Fraction(1)
    if value.digits is not None:
        return Fraction(1, 10**value.digits.fraction)
    return bound / USUAL_STEPS
