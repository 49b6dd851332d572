"""Predicates in Spark's SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import ClassVar

from onesided.errors import PolicyError
from onesided.language.tree import Literal, Operator, Part, Span
from onesided.language.types import Type
from onesided.language.words import quoted
from onesided.language.writer import Writer

# Only a NULL is written with it, and it must not widen what it meets.
_DECIMAL_NULL = "DECIMAL(1, 0)"
_APOSTROPHE = "'"
# Spark reads backslashes by a setting, doubled apostrophes by version and ${…} as a variable.
_SAFE_IN_SPARK = re.compile(r"[A-Za-z0-9 _%.,:;+*/()<>=!?@#&|~^-]*")


class SparkWriter(Writer):
    types: ClassVar[Mapping[Type, str]] = {
        Type.INTEGER: "BIGINT",
        Type.WIDE_INTEGER: "DECIMAL(38, 0)",
        Type.DECIMAL: _DECIMAL_NULL,
        Type.FLOAT: "DOUBLE",
        Type.TEXT: "STRING",
        Type.BOOLEAN: "BOOLEAN",
        Type.DATE: "DATE",
        Type.TIMESTAMP: "TIMESTAMP_NTZ",
    }
    name_mark = "`"

    def name(self, name: str) -> str:
        if "${" in name:
            raise PolicyError(
                f"Spark would read a variable in the column name {name}; rename the column."
            )
        return super().name(name)

    def string(self, value: str) -> str:
        if _SAFE_IN_SPARK.fullmatch(value):
            return quoted(value, _APOSTROPHE)
        return f"CAST(X'{value.encode().hex()}' AS STRING)"

    def by_code_point(self, text: str) -> str:
        return f"({text} COLLATE UTF8_BINARY)"

    def number(self, value: int | Decimal, kind: Type) -> str:
        if kind is Type.INTEGER:
            return super().number(value, kind)
        # Where an integer meets a plain decimal that it can never reach, Spark forgets that the
        # integer may be NULL.
        text = f"{Decimal(value):f}"
        whole, _, fraction = text.removeprefix("-").partition(".")
        return f"CAST('{text}' AS DECIMAL({len(whole) + len(fraction)}, {len(fraction)}))"

    def checked(self, operator: Operator, left: str, right: str) -> str:
        functions = {
            Operator.PLUS: "try_add",
            Operator.MINUS: "try_subtract",
            Operator.TIMES: "try_multiply",
        }
        return f"{functions[operator]}(CAST({left} AS BIGINT), CAST({right} AS BIGINT))"

    def on_the_wall(self, text: str, changes: Sequence[tuple[datetime, int]]) -> str:
        # Spark takes minutes to plan the cases of such a list, and a moment for an array.
        starts = ", ".join(self.write(Literal(Type.TIMESTAMP, start)) for start, _ in changes)
        ahead = ", ".join(str(seconds) for _, seconds in changes)
        past = f"greatest(1, size(filter(array({starts}), osd_start -> osd_start <= {text})))"
        return f"timestampadd(SECOND, element_at(array({ahead}), {past}), {text})"

    def microseconds(self, text: str) -> str:
        start = self._literal(Type.TIMESTAMP, datetime(1970, 1, 1))
        return f"timestampdiff(MICROSECOND, {start}, {text})"

    def later(self, text: str, seconds: int) -> str:
        return f"timestampadd(SECOND, {seconds}, {text})"

    def part_of(self, part: Part, text: str) -> str:
        match part:
            case Part.HOUR:
                return f"hour({text})"
            case Part.WEEKDAY:
                return f"(weekday({text}) + 1)"
            case Part.DATE:
                return f"CAST({text} AS DATE)"
            case Part.WEEK:
                return f"weekofyear({text})"
            case _:
                return f"{part.value}({text})"

    def start_of(self, span: Span, text: str, kind: Type) -> str:
        # date_trunc() would go through the zone of the session.
        day = f"CAST({text} AS DATE)"
        if span in (Span.HOUR, Span.MINUTE):
            minutes = f"60 * hour({text})"
            if span is Span.MINUTE:
                minutes = f"{minutes} + minute({text})"
            return f"timestampadd(MINUTE, {minutes}, CAST({day} AS {self.types[kind]}))"
        start = day if span is Span.DAY else f"trunc({day}, '{span.value}')"
        return f"CAST({start} AS {self.types[kind]})"
