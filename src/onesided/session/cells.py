"""Public cells of a column: the ranges of its values that a quantile or a histogram counts in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor
from typing import Any

from onesided.data.askable import USUAL_CELLS
from onesided.errors import RequestError
from onesided.language import BoundKey, BoundPredicate, Key, Predicate, Schema, Type
from onesided.language.tree import (
    Case,
    Column,
    Compare,
    Comparison,
    Expression,
    IsNull,
    Literal,
    Not,
)
from onesided.language.types import NUMERIC
from onesided.loss import rational, show
from onesided.session.values import typed_value

CELL = "cell"
EPOCH = datetime(1970, 1, 1)
"""Dates are placed by the days since then, and moments by the microseconds."""
MOST_CELLS = 4096
_MOST_KEPT = 64


@dataclass(frozen=True)
class CellKey(BoundKey):
    """The number of the cell that a row's value is in; its name is short, its text is long."""

    @property
    def name(self) -> str:
        return CELL


@dataclass(frozen=True)
class Cells:
    """Cells [eᵢ, eᵢ₊₁) of a column, in order; what lies outside counts in the first or last one.

    - `edges`: e₀, e₁, …, all of them exactly as they are compared.
    - `step`: how far values are apart at least; None where they may be anything.
    """

    column: BoundKey
    edges: tuple[Fraction, ...]
    step: Fraction | None

    def __len__(self) -> int:
        return len(self.edges) - 1

    @property
    def details(self) -> dict[str, Any]:
        """What of it belongs to a request; the edges of equal cells follow from three numbers."""
        said = {
            "column": self.column.name,
            "edges": [show(each) for each in self._told],
            "cells": len(self),
        }
        return said if self.step is None else {**said, "step": show(self.step)}

    @property
    def _told(self) -> tuple[Fraction, ...]:
        widths = {after - before for before, after in pairwise(self.edges)}
        return (self.edges[0], self.edges[-1]) if len(widths) == 1 else self.edges

    def present(self, schema: Schema) -> BoundPredicate:
        """The filter that leaves out NULL, which is in no cell."""
        return Predicate(Not(IsNull(self.column.expression))).bind(schema)

    def key(self, schema: Schema) -> CellKey:
        """The number of the cell as a group key: halvings, so that a row is compared log₂ times."""
        return _bound_key(self, schema)

    def halved(self, first: int, last: int) -> Expression:
        """The number of the cell, for values in cells from `first` to before `last`."""
        if last - first == 1:
            return Literal(Type.INTEGER, first)
        middle = (first + last) // 2
        below = Compare(
            Comparison.LESS,
            self.column.expression,
            Literal(self.column.type, self._literal(self.edges[middle])),
        )
        lower, upper = self.halved(first, middle), self.halved(middle, last)
        return Case(None, ((below, lower),), upper)

    def _literal(self, edge: Fraction) -> Any:
        match self.column.type:
            case Type.FLOAT:
                return float(edge)
            case Type.DECIMAL:
                digits = self.column.digits
                return _decimal(edge, 0 if digits is None else digits.fraction)
            case Type.DATE:
                return EPOCH.date() + timedelta(days=int(edge))
            case Type.TIMESTAMP:
                return EPOCH + timedelta(microseconds=int(edge))
            case _:
                return int(edge)


@lru_cache(maxsize=_MOST_KEPT)
def _bound_key(cells: Cells, schema: Schema) -> CellKey:
    """A thousand comparisons take long to bind, and the same ones are asked for again and again."""
    bound = Key(cells.halved(0, len(cells))).bind(schema)
    return CellKey(bound.expression, bound.typed)


def equal_cells(
    schema: Schema, column: str, bounds: Sequence[Any], cells: int = USUAL_CELLS
) -> Cells:
    """Cells of one width from the lower to the upper bound.

    Of whole numbers and decimals a cell holds whole steps: one each where that is possible.
    """
    key = column_key(schema, column)
    return cells_of(key, *_range(key, bounds), cells)


def cells_of(key: BoundKey, low: Fraction, high: Fraction, cells: int = USUAL_CELLS) -> Cells:
    """The same of any value of a row; bounds between its steps are moved outwards."""
    numeric(key)
    check_number(cells)
    return _cut(key, low, high, cells)


@lru_cache(maxsize=_MOST_KEPT)
def _cut(key: BoundKey, low: Fraction, high: Fraction, cells: int) -> Cells:
    step = step_of(key)
    if step is None:
        width = (high - low) / cells
        places = [float(low + width * number) for number in range(cells + 1)]
        return _checked(key, [Fraction(each) for each in places], None)
    low, high = floor(low / step) * step, ceil(high / step) * step
    values = int((high - low) / step) + 1
    wide = ceil(Fraction(values, cells))
    number = max(ceil(Fraction(values, wide)), 1)
    return _checked(key, [low + step * wide * place for place in range(number + 1)], step)


def given_cells(schema: Schema, column: str, edges: Sequence[Any]) -> Cells:
    """Cells between these edges; of whole numbers the last edge is the first value beyond."""
    if isinstance(edges, str) or not isinstance(edges, Sequence) or len(edges) < 2:
        raise RequestError("edges is a list of at least two rising numbers.")
    if len(edges) > MOST_CELLS + 1:
        raise RequestError(f"There are more than {MOST_CELLS:,} cells; give fewer edges.")
    key = numeric(column_key(schema, column))
    found = [_exact(key, each) for each in edges]
    return _checked(key, found, step_of(key))


def _range(key: BoundKey, bounds: Sequence[Any]) -> tuple[Fraction, Fraction]:
    numeric(key)
    if isinstance(bounds, str) or not isinstance(bounds, Sequence) or len(bounds) != 2:
        raise RequestError("bounds are two numbers, such as (0, 100), that values lie between.")
    low, high = (_exact(key, each) for each in bounds)
    if low >= high:
        raise RequestError("The lower bound must be below the upper one.")
    return low, high


def check_number(cells: int) -> None:
    """Refuse what is no number of cells."""
    if isinstance(cells, bool) or not isinstance(cells, int) or not 2 <= cells <= MOST_CELLS:
        raise RequestError(f"cells must be a whole number from 2 to {MOST_CELLS:,}.")


def column_key(schema: Schema, column: str) -> BoundKey:
    """A column as a value of each row."""
    return Key(Column(schema.resolve(column))).bind(schema)


def numeric(key: BoundKey) -> BoundKey:
    """The key, where it is a number."""
    if key.type not in NUMERIC:
        raise RequestError(f"{key.name} is {key.type.value}; only numbers have cells.")
    return key


def _exact(key: BoundKey, value: Any) -> Fraction:
    if key.type is Type.FLOAT:
        return Fraction(float(rational(value, "a bound")))
    return Fraction(typed_value(key, value))


def step_of(key: BoundKey) -> Fraction | None:
    """How far values are apart at least; None where they may be anything."""
    if key.type is Type.FLOAT:
        return None
    return Fraction(1) if key.digits is None else Fraction(1, 10**key.digits.fraction)


def _checked(key: BoundKey, edges: list[Fraction], step: Fraction | None) -> Cells:
    if any(before >= after for before, after in pairwise(edges)):
        raise RequestError("Edges must rise, and be so far apart that the column tells them.")
    return Cells(key, tuple(edges), step)


def _decimal(edge: Fraction, digits: int) -> Decimal:
    """Exact, which division in a context of few digits is not."""
    steps = int(edge * 10**digits)
    return Decimal((steps < 0, tuple(map(int, str(abs(steps)))), -digits))
