"""Predicates in DataFusion's SQL.

DataFusion compares floats by their bits, in which the two zeros differ, so that every float is
written with one zero. Its own functions on moments end within the range of the type, so that hours
and days are computed from whole microseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import ClassVar

from onesided.language.tree import Column, Expression, Literal, Operator, Part, Span
from onesided.language.types import INT64_MAX, INT64_MIN, Type
from onesided.language.words import quoted
from onesided.language.writer import Writer

# Only a NULL is written with it, and it must not widen what it meets.
_DECIMAL_NULL = "DECIMAL(1, 0)"
_APOSTROPHE = "'"
_MINUTE = 60_000_000
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_WEEK = 7 * _DAY
# 1970 began on a Thursday.
_FIRST_WEEKDAY = 3 * _DAY
_LENGTHS = {
    Span.MINUTE: (_MINUTE, 0),
    Span.HOUR: (_HOUR, 0),
    Span.DAY: (_DAY, 0),
    Span.WEEK: (_WEEK, _FIRST_WEEKDAY),
}
_MONTHS = {Span.MONTH: 1, Span.QUARTER: 3, Span.YEAR: 12}
# Moments and days without end.
LAST_DAY = 2**31 - 1
_MOMENT = "Timestamp(Microsecond, None)"
_ENDS = ((LAST_DAY, INT64_MAX), (-LAST_DAY, -INT64_MAX))


class DataFusionWriter(Writer):
    types: ClassVar[Mapping[Type, str]] = {
        Type.INTEGER: "BIGINT",
        Type.WIDE_INTEGER: "DECIMAL(38, 0)",
        Type.DECIMAL: _DECIMAL_NULL,
        Type.FLOAT: "DOUBLE",
        Type.TEXT: "VARCHAR",
        Type.BOOLEAN: "BOOLEAN",
        Type.DATE: "DATE",
        Type.TIMESTAMP: "TIMESTAMP(6)",
    }

    def write(self, node: Expression) -> str:
        if isinstance(node, Literal) and isinstance(node.value, float):
            node = Literal(node.type, node.value + 0.0)
        return super().write(node)

    def string(self, value: str) -> str:
        return quoted(value, _APOSTROPHE)

    def cast(self, text: str, kind: Type) -> str:
        match kind:
            case Type.TEXT:
                return text  # it is read as that
            case Type.TIMESTAMP:
                return f"TRY_CAST({text} AS {self.types[kind]})"
            case Type.FLOAT:
                return self.without_negative_zero(super().cast(text, kind))
            case _:
                return super().cast(text, kind)

    def number(self, value: int | Decimal, kind: Type) -> str:
        text = f"{Decimal(value):f}"
        if kind is Type.INTEGER:
            return f"CAST('{text}' AS BIGINT)"
        whole, _, fraction = text.removeprefix("-").partition(".")
        return f"CAST('{text}' AS DECIMAL({len(whole) + len(fraction)}, {len(fraction)}))"

    def moment(self, operand: Expression, text: str) -> str:
        if isinstance(operand, Column):
            return super().moment(operand, text)
        ends = " ".join(f"WHEN {day} THEN arrow_cast({far}, '{_MOMENT}')" for day, far in _ENDS)
        return f"(CASE CAST({text} AS INT) {ends} ELSE {super().moment(operand, text)} END)"

    def checked(self, operator: Operator, left: str, right: str) -> str:
        # The product of two integers has 38 digits, and less than 10^38.
        sides = (f"CAST({side} AS DECIMAL(20, 0))" for side in (left, right))
        exact = f" {operator.value} ".join(sides)
        # A TRY_CAST would be lost: compared with a literal, the number before the cast is taken.
        below, above = (
            f"CAST('{end}' AS DECIMAL(38, 0))" for end in (INT64_MIN - 1, INT64_MAX + 1)
        )
        clamped = f"least(greatest({exact}, {below}), {above})"
        return f"CAST(nullif(nullif({clamped}, {below}), {above}) AS BIGINT)"

    def later(self, text: str, seconds: int) -> str:
        return f"arrow_cast(CAST({text} AS BIGINT) + {seconds * 10**6}, '{_MOMENT}')"

    def as_text(self, number: str) -> str:
        # A bare cast would be lost: compared with a literal, the number before it is taken.
        return f"('' || {super().as_text(number)})"

    def microseconds(self, text: str) -> str:
        return f"CAST({text} AS BIGINT)"

    def part_of(self, part: Part, text: str) -> str:
        number = f"CAST({text} AS BIGINT)"
        finite = f"nullif(nullif({number}, {INT64_MAX}), -{INT64_MAX})"
        match part:
            case Part.HOUR:
                return f"((({finite} % {_DAY}) + {_DAY}) % {_DAY} / {_HOUR})"
            case Part.WEEKDAY:
                since = f"({finite} % {_WEEK}) + {_WEEK + _FIRST_WEEKDAY}"
                return f"(({since}) % {_WEEK} / {_DAY} + 1)"
            case Part.DATE:
                ends = " ".join(f"WHEN {far} THEN {day}" for day, far in _ENDS)
                whole = f"{number} / {_DAY} - CASE WHEN {number} % {_DAY} < 0 THEN 1 ELSE 0 END"
                days = f"CASE {number} {ends} ELSE {whole} END"
                return f"CAST(CAST({days} AS INT) AS DATE)"
            case Part.MINUTE:
                return f"((({finite} % {_HOUR}) + {_HOUR}) % {_HOUR} / {_MINUTE})"
            case Part.DAY_OF_YEAR:
                return f"CAST(date_part('doy', {text}) AS BIGINT)"
            case _:
                return f"CAST(date_part('{part.value}', {text}) AS BIGINT)"

    def start_of(self, span: Span, text: str, kind: Type) -> str:
        # date_trunc() goes through nanoseconds, which end in the year 2262.
        if span in _MONTHS:
            year, month = (
                f"CAST(date_part('{part}', {text}) AS INT)" for part in ("year", "month")
            )
            first = f"({month} - 1) / {_MONTHS[span]} * {_MONTHS[span]} + 1"
            return f"CAST(make_date({year}, {first}, 1) AS {self.types[kind]})"
        length, offset = _LENGTHS[span]
        if kind is Type.DATE:
            number, length, offset = f"CAST({text} AS INT)", length // _DAY, offset // _DAY
        else:
            number = f"CAST({text} AS BIGINT)"
        start = f"{number} - ((({number} + {offset}) % {length}) + {length}) % {length}"
        if kind is Type.DATE:
            return f"CAST(CAST({start} AS INT) AS DATE)"
        return f"arrow_cast({start}, '{_MOMENT}')"
