"""Predicates in DuckDB's SQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from onesided.language.tree import Operator, Part, Span
from onesided.language.types import Type
from onesided.language.words import quoted
from onesided.language.writer import Writer

# Only a NULL is written with it, and it must not widen what it meets.
_DECIMAL_NULL = "DECIMAL(1, 0)"
_APOSTROPHE = "'"


class DuckDBWriter(Writer):
    types: ClassVar[Mapping[Type, str]] = {
        Type.INTEGER: "BIGINT",
        Type.WIDE_INTEGER: "HUGEINT",
        Type.DECIMAL: _DECIMAL_NULL,
        Type.FLOAT: "DOUBLE",
        Type.TEXT: "VARCHAR",
        Type.BOOLEAN: "BOOLEAN",
        Type.DATE: "DATE",
        Type.TIMESTAMP: "TIMESTAMP",
    }

    def string(self, value: str) -> str:
        return quoted(value, _APOSTROPHE)

    def cast(self, text: str, kind: Type) -> str:
        # Years that DATE or TIMESTAMP_S can hold and TIMESTAMP cannot become NULL, not an error.
        return f"TRY_CAST({text} AS {self.types[kind]})"

    def checked(self, operator: Operator, left: str, right: str) -> str:
        wide = f"CAST({left} AS HUGEINT) {operator.value} CAST({right} AS HUGEINT)"
        return f"TRY_CAST({wide} AS BIGINT)"

    def microseconds(self, text: str) -> str:
        return f"epoch_us({text})"

    def part_of(self, part: Part, text: str) -> str:
        match part:
            case Part.HOUR:
                return f"hour({text})"
            case Part.WEEKDAY:
                return f"isodow({text})"
            case Part.DATE:
                return f"CAST({text} AS DATE)"
            case _:
                return f"{part.value}({text})"

    def start_of(self, span: Span, text: str, kind: Type) -> str:
        return f"CAST(date_trunc('{span.value}', {text}) AS {self.types[kind]})"
