"""Rows and predicates in which types meet that are stored in different ways.

Beside the columns of `support.predicates` there are unsigned numbers, decimals of 38 digits, and
times with a zone or in milliseconds. Values of one kind stand where another one is expected, so
that literals, alternatives and lists have to be converted.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, ClassVar

import pyarrow as pa

from onesided.errors import PolicyError
from onesided.language import BoundKey, BoundPredicate, Field, Key, Predicate, Schema, Type
from onesided.language.literals import numeric_literal
from onesided.language.tree import Expression, Literal
from support import hostile, predicates

SCHEMA = Schema.of(
    {
        **predicates.SCHEMA,
        "byte": Type.INTEGER,
        "half": Type.INTEGER,
        "u": Type.WIDE_INTEGER,
        "w": Field.decimal(38, 0),
        "v": Field.decimal(38, 18),
        "z": Type.TIMESTAMP,
        "m": Type.TIMESTAMP,
    }
)
ARROW = {
    **hostile.ARROW,
    "byte": pa.int8(),
    "half": pa.uint32(),
    "u": pa.uint64(),
    "w": pa.decimal128(38, 0),
    "v": pa.decimal128(38, 18),
    "z": pa.timestamp("us", "UTC"),
    "m": pa.timestamp("ms"),
}
KEYS = (
    *("i", "small", "byte", "half", "u", "w", "v", "price", "f", "single", "t", '"Some Text"'),
    *("b", "d", "ts", "z", "m", "weekday(d)", "date(d)"),
    *(f"{part}({name})" for part in ("hour", "weekday", "date") for name in ("ts", "z", "m")),
    *("floor(price)", "ceil(f / 3)", "round(price)", "CAST(f AS INTEGER)", "CAST(price AS INT)"),
    *("abs(i)", "abs(f)", "least(i, 7)", "greatest(f, small)", "bucket(f, 10)", "5 * floor(i / 5)"),
    *("t || '-' || i", "concat(t, b, '/', small)", "CAST(b AS VARCHAR)", "split_part(t, 'a', 2)"),
    *("strftime(ts, '%Y-%m-%d %H:%M')", "dayname(d)", "monthname(ts)", "week(d)", "dayofyear(ts)"),
    *(
        "epoch(ts)",
        "extract(epoch FROM (ts - m))",
        "date_diff('month', d, ts)",
        "d - DATE '2024-02-29'",
    ),
    *("date_diff('hour', m, ts)", "date_diff('day', ts, d)", "ts + INTERVAL '90 minutes'", "d + 7"),
    *("nullif(i, 7)", "if(b, t, 'x')", "price * f", "CAST(d AS TIMESTAMP)"),
    *(
        f"bucket({name}, {width})"
        for name in ("i", "small", "byte", "half")
        for width in (1, 7, 10, 128, 2**31, 2**63 - 1)
    ),
)
_EDGES = (2**64 - 1, 2**63, 2**63 - 1, 2**53, 2**53 + 1, 0, 1, 17)
_LARGE = (10**38 - 1, -(10**38) + 1, 10**30, -(10**37), -1, *_EDGES)
_SMALL = ("0.5", "-0.5", "0.000000000000000001", "99999999999999999999.999999999999999999", "17")
_MOMENTS = (
    *(*predicates.MOMENTS, datetime(1, 1, 1, 5), datetime(9999, 12, 30)),
    # Hours that summer time skips and repeats, in the zone of the Spark session or of Berlin.
    *(datetime(2024, 3, 10, 2, 30), datetime(2024, 11, 3, 1, 30), datetime(2024, 3, 31, 2, 30)),
    *(datetime(1883, 11, 18, 12), datetime(1582, 10, 10)),
)
_CELLS: dict[str, Sequence[Any]] = {
    **{
        name: (*predicates.CELLS[name], *hostile.CELLS[name])
        for name in predicates.CELLS  # each column has the cells of both
    },
    "byte": (0, 1, -1, 7, 10, -10, 127, -128),
    "half": (0, 1, 7, 17, 2**31 - 1, 2**31, 2**32 - 1),
    "u": _EDGES,
    "w": tuple(map(Decimal, _LARGE)),
    "v": tuple(map(Decimal, (*_SMALL, "-99999999999999999999.999999999999999999"))),
    "z": tuple(moment.replace(tzinfo=UTC) for moment in _MOMENTS),
    "m": tuple(each.replace(microsecond=each.microsecond // 1000 * 1000) for each in _MOMENTS),
}
_NUMBERS = (Type.INTEGER, Type.WIDE_INTEGER, Type.DECIMAL, Type.FLOAT)
_MOMENT_KINDS = (Type.DATE, Type.TIMESTAMP)
_LITERALS = (*_LARGE, 2**31, -(2**31) - 1, 2**127, -(2**63), -(2**63) - 1, 127, 128, 2**32)
_POINTS = ("0.5", "-0.005", "9223372036854775807.5", "9007199254740993.5", "0.1", "17.000001")
_RELATIVES = {
    **dict.fromkeys(_NUMBERS, _NUMBERS),
    **dict.fromkeys(_MOMENT_KINDS, _MOMENT_KINDS),
}


class Mixed(hostile.Hostile):
    """Trees in which a value of a related type may stand in any place."""

    schema: ClassVar[Schema] = SCHEMA

    def value(self, kind: Type, depth: int) -> Expression:
        if kind in _RELATIVES and self.pick(4) == 0:
            kind = self._one_of(*_RELATIVES[kind])
        return super().value(kind, depth)

    def literal(self, kind: Type) -> Literal:
        if kind in _NUMBERS and self.pick(3) == 0:
            number = self._one_of(*_LITERALS, *map(Decimal, _POINTS))
            if len(str(number).strip("-")) <= 38:
                return numeric_literal(number)
        if kind in _MOMENT_KINDS and self.pick(4) == 0:
            near = self._one_of(*_MOMENTS)
            return Literal(Type.TIMESTAMP, near) if self.pick(2) else _day(near)
        return super().literal(Type.INTEGER if kind is Type.WIDE_INTEGER else kind)

    def _kind(self) -> Type:
        return Type.WIDE_INTEGER if self.pick(8) == 7 else super()._kind()


def _day(moment: datetime) -> Literal:
    return Literal(Type.DATE, moment.date())


def table(count: int, seed: int = 1) -> pa.Table:
    """Rows with an `id`; NULL in one cell of eight."""
    pick = _picker(seed)
    columns = {
        name: [None if pick(8) == 0 else cells[pick(len(cells))] for _ in range(count)]
        for name, cells in _CELLS.items()
    }
    columns["id"] = list(range(count))
    return pa.table({name: pa.array(columns[name], kind) for name, kind in ARROW.items()})


def mixed_corpus(schema: Schema, seed: int) -> Iterator[BoundPredicate]:
    """Predicates that read a column, bound to the columns as an engine has them; without end."""
    generator = Mixed(_picker(seed))
    while True:
        predicate = Predicate(generator.condition())
        if predicate.columns:
            try:
                yield predicate.bind(schema)
            except PolicyError:
                continue


def keys(schema: Schema) -> list[BoundKey]:
    """Every kind of group key on every column that can have it."""
    return [Key.parse(text).bind(schema) for text in KEYS]


def _picker(seed: int) -> Callable[[int], int]:
    return random.Random(seed).randrange
