"""Rows and predicates that look for errors and for disagreement: far values, wide literals."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from onesided.language import Predicate, Type
from onesided.language.literals import numeric_literal
from onesided.language.tree import Column, Compare, Comparison, Literal
from onesided.randomness import seeded
from support.predicates import TEXTS, Generator, bindable

ARROW = {
    "id": pa.int64(),
    "i": pa.int64(),
    "small": pa.int32(),
    "price": pa.decimal128(10, 2),
    "f": pa.float64(),
    "single": pa.float32(),
    "t": pa.string(),
    "Some Text": pa.string(),
    "b": pa.bool_(),
    "c": pa.bool_(),
    "d": pa.date32(),
    "ts": pa.timestamp("us"),
}
WIDE = (2**63, -(2**63) - 1, 2**64, -(2**64), 10**30, -(10**37), 2**31, -(2**31) - 1, 2**53 + 1)
FINE = tuple(
    map(Decimal, ("0.5", "-0.005", "99999999.995", "-100000000.01", "9223372036854775807.5"))
)
DAYS = (date.min, date.max, date(1582, 10, 10), date(1970, 1, 1), date(1969, 12, 31))
MOMENTS = (datetime.min, datetime.max, datetime(1582, 10, 10), datetime(1970, 1, 1))
CELLS: dict[str, Sequence[Any]] = {
    "i": (2**63 - 1, -(2**63), 2**53 + 1, 2**53, 0, -1, 2**31),
    "small": (2**31 - 1, -(2**31), 0, -1, 7),
    "price": tuple(map(Decimal, ("99999999.99", "-99999999.99", "0.00", "-0.01", "0.50"))),
    "f": (
        *(float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 5e-324, 1.7976931348623157e308),
        *(2.0**53, 2.0**63, -(2.0**63), 2.0**64, 0.1),
    ),
    "single": (float("nan"), float("inf"), 0.0, -0.0, 0.10000000149011612, 2.0**63),
    "t": (*TEXTS, "x" * 5000, "\u0301", "%_\\", " "),
    "Some Text": (*TEXTS, "e\u0301", "\t", "NaN", "null"),
    "b": (True, False),
    "c": (True, False),
    "d": DAYS,
    "ts": MOMENTS,
}


class Hostile(Generator):
    """Trees with literals that no column can hold."""

    def literal(self, kind: Type) -> Literal:
        match kind:
            case Type.INTEGER | Type.DECIMAL | Type.FLOAT if self.pick(2):
                numbers = WIDE if kind is Type.INTEGER else (*WIDE, *FINE)
                return numeric_literal(numbers[self.pick(len(numbers))])
            case Type.DATE if self.pick(2):
                return Literal(kind, DAYS[self.pick(len(DAYS))])
            case Type.TIMESTAMP if self.pick(2):
                return Literal(kind, MOMENTS[self.pick(len(MOMENTS))])
            case _:
                return super().literal(kind)


def hostile_rows(count: int) -> list[dict[str, Any]]:
    """Rows of SCHEMA with an `id`; NULL in one cell of six."""
    below = _picker(5)
    return [
        {
            "id": number,
            **{
                name: None if below(6) == 0 else cells[below(len(cells))]
                for name, cells in CELLS.items()
            },
        }
        for number in range(count)
    ]


def hostile_corpus(count: int) -> list[Predicate]:
    """Every comparison of numbers, then predicates that read a column; always the same list."""
    generator = Hostile(_picker(6))
    sides = itertools.product(("i", "small", "price", "f"), Comparison)
    compared = (
        bindable(Compare(comparison, Column(name), numeric_literal(WIDE[number % len(WIDE)])))
        for number, (name, comparison) in enumerate(sides)
    )
    accepted = [each for each in compared if each is not None]
    while len(accepted) < count:
        predicate = bindable(generator.condition())
        if predicate is not None and predicate.columns:
            accepted.append(predicate)
    return accepted


def _picker(seed: int) -> Any:
    source = seeded(seed)
    return lambda count: int(source.below(count, 1)[0])
