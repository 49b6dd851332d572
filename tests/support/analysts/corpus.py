"""The statements of `tests/data/analysts`, and the plain database over which they run.

A file has one block for each statement, between blank lines. The first line of a block says in
plain words what the analyst wants; `-- [tsql] …` says that it is written in that dialect.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import sqlglot

from support.analysts.field import Field
from support.analysts.health import HEALTH
from support.analysts.retail import RETAIL
from support.analysts.survey import SURVEY
from support.analysts.telemetry import TELEMETRY
from support.analysts.transport import TRANSPORT

FIELDS = (HEALTH, TRANSPORT, RETAIL, TELEMETRY, SURVEY)
FOLDER = Path(__file__).parents[2] / "data" / "analysts"
WISH = re.compile(r"-- (?:\[(?P<dialect>\w+)\] )?(?P<wish>\S.*)")


@dataclass(frozen=True)
class AnalystStatement:
    """What an analyst wants, and the SQL of it as the analyst wrote it."""

    field: Field
    line: int
    wish: str
    dialect: str
    sql: str

    def in_duckdb(self) -> str:
        """The same statement as DuckDB reads it; its own spelling needs no translation."""
        if self.dialect == "duckdb":
            return self.sql
        (translated,) = sqlglot.transpile(self.sql.rstrip().rstrip(";"), self.dialect, "duckdb")
        return translated


def statements(field: Field) -> list[AnalystStatement]:
    """All statements of a field, in the order of its file."""
    lines = (FOLDER / f"{field.name}.sql").read_text(encoding="utf-8").splitlines()
    found = []
    first = 0
    for number, line in enumerate([*lines, ""]):
        if line.strip():
            continue
        if first < number:
            found.append(_statement(field, first + 1, lines[first:number]))
        first = number + 1
    return found


def database(field: Field) -> duckdb.DuckDBPyConnection:
    """The tables of a field in a database of their own, with and without their schema's name."""
    connection = duckdb.connect()
    connection.execute(f"CREATE SCHEMA {field.schema}")
    for name, table in field.tables().items():
        _keep(connection, f"{field.schema}.{name}", table)
    connection.execute(f"SET search_path = '{field.schema}'")
    return connection


def _keep(connection: duckdb.DuckDBPyConnection, name: str, table: pa.Table) -> None:
    connection.register("made", table)
    connection.execute(f"CREATE TABLE {name} AS SELECT * FROM made")
    connection.unregister("made")


def _statement(field: Field, line: int, block: list[str]) -> AnalystStatement:
    heading = WISH.fullmatch(block[0])
    assert heading, f"{field.name}.sql:{line} does not say what the analyst wants"
    return AnalystStatement(
        field, line, heading["wish"], heading["dialect"] or "duckdb", "\n".join(block[1:])
    )
