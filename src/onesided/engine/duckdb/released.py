"""What a SELECT computes from released values, by a DuckDB that knows nothing else.

The database is empty but for these values, and may reach no file and no network. A part of an
expression that fails for some value is NULL there: the answer is paid for already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import duckdb
import pyarrow as pa

from onesided.errors import ReleaseFailed, RequestError

ROW = "osd_row"
"""The number of the row of released values that a row of the answer is made from."""
_TABLE = "osd_released"


@cache
def _nothing_known() -> duckdb.DuckDBPyConnection:
    """The empty database; what a connection of its own registers, no other sees.

    It is made once, since that takes longer than most statements.
    """
    return duckdb.connect(config={"enable_external_access": False, "threads": 1})


@dataclass(frozen=True)
class Computation:
    """What to make of released values.

    - `columns`: the expressions of the answer.
    - `windows`: over the rows for which `having` holds, by name; all that follows may read them.
    - `qualify`: the condition on rows that may.
    - `order`: expressions, each with ASC or DESC and the place of NULL; ties keep their order.
    """

    columns: Sequence[str]
    having: str | None
    windows: Mapping[str, str]
    qualify: str | None
    order: Sequence[tuple[str, str]]
    limit: int | None
    offset: int

    def run(self, released: pa.Table) -> pa.Table:
        """The rows of the answer: the number of the row it is from, then the columns."""
        return self._answer(released, "TRY")

    def _answer(self, released: pa.Table, guard: str) -> pa.Table:
        columns = [f"{guard}({text}) AS osd_o{place}" for place, text in enumerate(self.columns)]
        seen = "".join(f", {text} AS {name}" for name, text in self.windows.items())
        source = f"(SELECT *{seen} FROM {_TABLE}{_where(self.having, guard)}) AS osd_seen"
        order = ", ".join([*(f"{guard}({text}) {way}" for text, way in self.order), ROW])
        limit = "" if self.limit is None else f" LIMIT {self.limit}"
        offset = f" OFFSET {self.offset}" if self.offset else ""
        statement = (
            f"SELECT {', '.join([ROW, *columns])} FROM {source}{_where(self.qualify, guard)} "
            f"ORDER BY {order}{limit}{offset}"
        )
        with _alone() as connection:
            rows = released.append_column(ROW, pa.array(range(len(released)), pa.int64()))
            connection.register(_TABLE, rows)
            return connection.sql(statement).to_arrow_table()

    def check(self, example: pa.Table) -> None:
        """Refuse what does not fit the types of the released values, before anything is paid.

        What fails for the values of the example alone may have one for others.
        """
        with _refusing():
            self._answer(example, "")


def _where(condition: str | None, guard: str) -> str:
    return "" if condition is None else f" WHERE {guard}({condition})"


@dataclass(frozen=True)
class OuterComputation:
    """What a statement makes of several answers: one query over tables, by their names."""

    query: str

    def run(self, tables: Mapping[str, pa.Table]) -> pa.Table:
        """The rows of the query. What depends on values alone may fail for some of them."""
        try:
            return self._answer(tables)
        except duckdb.Error:
            raise ReleaseFailed(
                "What is asked of the data is released and paid for, but what the statement makes "
                "of it cannot be computed for these values; ask for the inner SELECT, for free."
            ) from None

    def check(self, tables: Mapping[str, pa.Table]) -> None:
        """Refuse what does not fit the types of the answers, before anything is paid."""
        with _refusing():
            self._answer(tables)

    def _answer(self, tables: Mapping[str, pa.Table]) -> pa.Table:
        with _alone() as connection:
            for name, table in tables.items():
                connection.register(name, table)
            return connection.sql(self.query).to_arrow_table()


@contextmanager
def _alone() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection of its own to the empty database."""
    with _nothing_known().cursor() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


@contextmanager
def _refusing() -> Iterator[None]:
    """Refuse what fails for any values; what fails for those of an example may not for others."""
    try:
        yield
    except (duckdb.OutOfRangeException, duckdb.InvalidInputException):
        return
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise RequestError(f"The statement cannot be computed: {reason}") from None
