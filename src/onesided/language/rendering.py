"""The same predicate for each engine."""

from __future__ import annotations

from enum import Enum

from onesided.language.binding import type_of
from onesided.language.dialects import DuckdbWriter, PostgresWriter, SparkWriter
from onesided.language.tree import Expression
from onesided.language.types import Type
from onesided.language.writer import Writer


class Dialect(Enum):
    """The engines that a predicate can be written for."""

    DUCKDB = "duckdb"
    POSTGRES = "postgres"
    SPARK = "spark"


def render(node: Expression, dialect: Dialect, table: str | None = None) -> str:
    """The SQL of a bound tree; `table` qualifies each column where a statement has several."""
    return _writer(dialect, table).write(node)


def render_key(node: Expression, dialect: Dialect, table: str | None = None) -> str:
    """As `render`, for an expression to group by: equal values are one group on every engine."""
    writer = _writer(dialect, table)
    match type_of(node):
        case Type.FLOAT:
            return writer.without_negative_zero(writer.write(node))
        case Type.TEXT:
            return writer.by_code_point(writer.write(node))
        case _:
            return writer.write(node)


def _writer(dialect: Dialect, table: str | None) -> Writer:
    match dialect:
        case Dialect.DUCKDB:
            return DuckdbWriter(table)
        case Dialect.POSTGRES:
            return PostgresWriter(table)
        case Dialect.SPARK:
            return SparkWriter(table)
