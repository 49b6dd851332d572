"""Tables on a PostgreSQL server, in schemas of our own that are dropped in the end."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from onesided.audit.session.cells import SQL_TYPE, Form
from onesided.audit.session.dice import Dice
from onesided.audit.session.in_python import staged_in_python
from onesided.audit.session.sources import Source, Written
from onesided.audit.session.surfaces import Stage, Surface
from onesided.audit.session.worlds import ASIDE, Side, World
from onesided.engine.postgres.connection import connect
from onesided.engine.postgres.entry import is_postgres
from onesided.errors import RequestError

_TABLE = "visits"
_OTHERS = "others"
_FITTING = (
    *(("numeric", "integer"), ("bigint", "numeric")),
    *(("double precision", "numeric"), ("real", "numeric")),
)
"""Types for which the server has no operator of its own that fits better."""


@dataclass(frozen=True)
class Postgres:
    """Tables and views on a server.

    - `schemas`: what the names of our schemas start with.
    """

    url: str
    connection: Any
    schemas: str
    forms: Sequence[Form] = (Form.SQL,)
    lookups: bool = True
    declares: bool = True
    without: frozenset[str] = frozenset()

    def sources(self, form: Form) -> Sequence[Source]:
        return (
            Source("PostgreSQL table", form, self._table, files=False),
            Source("PostgreSQL table, turned around", form, self._turned, files=False),
            Source("PostgreSQL view", form, self._view, files=False),
        )

    @contextmanager
    def staged(self, world: World, source: Source, dice: Dice) -> Iterator[Stage]:
        # A view has no state of its own: its version must be named, as it is in a ledger here.
        durable = source.write == self._view or dice.one_in(2)
        with (
            tempfile.TemporaryDirectory() as folder,
            staged_in_python(world, source, Path(folder), durable=durable) as stage,
        ):
            yield stage

    def prepare(self) -> None:
        """Make the schemas, one for each table of a world, and one with operators of others."""
        self._run([f"CREATE SCHEMA {self._schema(name)}" for name in self._names])
        self._run(list(_operators(self._schema(_OTHERS))))

    def tidy_up(self) -> None:
        """Drop them again."""
        self._run([f"DROP SCHEMA {self._schema(name)} CASCADE" for name in self._names])

    @property
    def _names(self) -> list[str]:
        return [*(side.name.lower() for side in Side), _OTHERS]

    def _table(self, table: pa.Table, folder: Path) -> Written:
        own = ASIDE if folder.parent.name == ASIDE else _TABLE
        name = f"{self._schema(folder.name)}.{own}"
        columns = ", ".join(
            f'"{field.name}" {field.metadata[SQL_TYPE].decode()}' for field in table.schema
        )
        rows = ", ".join(_row(table.schema, row) for row in table.to_pylist())
        self._run(
            [
                f"DROP TABLE IF EXISTS {name} CASCADE",
                f"CREATE TABLE {name} ({columns})",
                f"INSERT INTO {name} VALUES {rows}",
            ]
        )
        path = f"options=-csearch_path%3D{self._schema(_OTHERS)}%2Cpublic"
        return {"table": name, "connection": f"{self.url}{'&' if '?' in self.url else '?'}{path}"}

    def _turned(self, table: pa.Table, folder: Path) -> Written:
        """The rows in another order, some of them written twice and deleted once."""
        turned = table.take(pa.array(range(len(table) - 1, -1, -1)))
        found = self._table(turned, folder)
        person = table.schema.names[0]
        self._run([f'UPDATE {found["table"]} SET "{person}" = "{person}"'])
        return found

    def _view(self, table: pa.Table, folder: Path) -> Written:
        found = self._table(table, folder)
        view = f"{found['table']}_seen"
        self._run([f"CREATE VIEW {view} AS SELECT * FROM {found['table']}"])
        return {**found, "table": view}

    def _schema(self, side: str) -> str:
        return f"{self.schemas}_{side}"

    def _run(self, statements: Sequence[str]) -> None:
        try:
            with self.connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
            self.connection.commit()
        except BaseException:
            self.connection.rollback()
            raise


def _operators(schema: str) -> Iterator[str]:
    """Comparisons that hold for nobody, which the reader's own path would find."""
    for place, (left, right) in enumerate(_FITTING):
        never = f"{schema}.never{place}"
        yield (
            f"CREATE FUNCTION {never}({left}, {right}) RETURNS boolean LANGUAGE sql "
            "AS 'SELECT FALSE'"
        )
        for sign in ("<", ">", "="):
            yield (
                f"CREATE OPERATOR {schema}.{sign} "
                f"(LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = {never})"
            )


def _row(schema: pa.Schema, row: dict[str, str | None]) -> str:
    cells = (_cell(row[field.name], field.metadata[SQL_TYPE].decode()) for field in schema)
    return f"({', '.join(cells)})"


def _cell(text: str | None, kind: str) -> str:
    quoted = "NULL" if text is None else "'" + text.replace("'", "''") + "'"
    return f"CAST({quoted} AS {kind})"


@contextmanager
def postgres(connection: Any) -> Iterator[Surface]:
    """The server at this address."""
    if not is_postgres(connection):
        raise RequestError("Name the database with --connection postgresql://….")
    with closing(connect(connection)) as opened:
        surface = Postgres(connection, opened, f"onesided_audit_{secrets.token_hex(4)}")
        surface.prepare()
        try:
            yield surface
        finally:
            surface.tidy_up()
