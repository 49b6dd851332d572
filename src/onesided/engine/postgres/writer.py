"""Predicates in PostgreSQL's SQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from onesided.language.tree import Operator, Part, Span
from onesided.language.types import INT64_MAX, INT64_MIN, Type
from onesided.language.words import quoted
from onesided.language.writer import Writer

_APOSTROPHE = "'"


class PostgresWriter(Writer):
    types: ClassVar[Mapping[Type, str]] = {
        Type.INTEGER: "BIGINT",
        Type.WIDE_INTEGER: "NUMERIC",
        Type.DECIMAL: "NUMERIC",
        Type.FLOAT: "DOUBLE PRECISION",
        Type.TEXT: "TEXT",
        Type.BOOLEAN: "BOOLEAN",
        Type.DATE: "DATE",
        Type.TIMESTAMP: "TIMESTAMP",
    }

    def string(self, value: str) -> str:
        if "\\" not in value:
            return quoted(value, _APOSTROPHE)
        # E'…' reads a backslash the same under any standard_conforming_strings.
        return "E" + quoted(value.replace("\\", "\\\\"), _APOSTROPHE)

    def by_code_point(self, text: str) -> str:
        return f'({text} COLLATE "C")'

    def checked(self, operator: Operator, left: str, right: str) -> str:
        exact = f"CAST({left} AS NUMERIC) {operator.value} CAST({right} AS NUMERIC)"
        below, above = INT64_MIN - 1, INT64_MAX + 1
        # Clamped just outside the range and then taken out, so that no operand is written twice.
        clamped = f"least(greatest({exact}, ({below})), {above})"
        return f"CAST(nullif(nullif({clamped}, ({below})), {above}) AS BIGINT)"

    def microseconds(self, text: str) -> str:
        return f"CAST(extract(EPOCH FROM {text}) * 1000000 AS BIGINT)"

    def part_of(self, part: Part, text: str) -> str:
        match part:
            case Part.HOUR:
                return f"CAST(extract(HOUR FROM {text}) AS INTEGER)"
            case Part.WEEKDAY:
                return f"CAST(extract(ISODOW FROM {text}) AS INTEGER)"
            case Part.DATE:
                return f"CAST({text} AS DATE)"
            case Part.DAY_OF_YEAR:
                return f"CAST(extract(DOY FROM {text}) AS INTEGER)"
            case _:
                return f"CAST(extract({part.name} FROM {text}) AS INTEGER)"

    def start_of(self, span: Span, text: str, kind: Type) -> str:
        # Of a date it would be a point in time in the zone of the session.
        moment = f"date_trunc('{span.value}', CAST({text} AS TIMESTAMP))"
        return f"CAST({moment} AS {self.types[kind]})"
