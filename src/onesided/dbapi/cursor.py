"""A cursor in the manner of Python's DB-API (PEP 249), for tools that speak SQL.

Every `execute` is a release and costs ε; nothing can be written, so there is nothing to commit.
A date or timestamp beyond the years 1 to 9999 comes as its ISO text, as Python has no value for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, Self, TypeAlias

from onesided.data.release import QueryRelease
from onesided.data.values import python_rows
from onesided.dbapi.errors import InterfaceError, NotSupportedError, ProgrammingError
from onesided.language.tree import Value

Row: TypeAlias = tuple[Any, ...]
#: Name and type of a column; the other five places of PEP 249 are not known of a release.
Description: TypeAlias = tuple[str, str, None, None, None, None, None]


class StatementAsker(Protocol):
    """What a cursor needs of its connection."""

    def ask(
        self,
        operation: str,
        parameters: Sequence[Value] | Mapping[str, Value] = (),
        **options: Any,
    ) -> QueryRelease: ...


class Cursor:
    """Asks SELECTs and hands out their rows; made by `Connection.cursor` or `Dataset.cursor`."""

    arraysize = 1
    lastrowid = None
    """Of PEP 249; nothing is ever written."""

    def __init__(self, connection: StatementAsker) -> None:
        self._connection: StatementAsker | None = connection
        self._release: QueryRelease | None = None
        self._rows: Iterator[Row] = iter(())
        self._place = 0

    @property
    def connection(self) -> StatementAsker:
        """Where it came from."""
        if self._connection is None:
            raise InterfaceError("The cursor is closed; make a new one.")
        return self._connection

    @property
    def description(self) -> tuple[Description, ...] | None:
        """The columns of the last answer."""
        if self._release is None:
            return None
        schema = self._release.table.schema
        return tuple(
            (field.name, str(field.type), None, None, None, None, None) for field in schema
        )

    @property
    def rowcount(self) -> int:
        """The number of rows of the last answer, -1 before the first."""
        return -1 if self._release is None else len(self._release.table)

    @property
    def rownumber(self) -> int | None:
        """The place of the next row in the answer."""
        return None if self._release is None else self._place

    @property
    def release(self) -> QueryRelease | None:
        """The last answer with its receipt."""
        return self._release

    def execute(
        self,
        operation: str,
        parameters: Sequence[Value] | Mapping[str, Value] | None = None,
        **options: Any,
    ) -> Self:
        """Ask a SELECT, in which `?` stands for each of `parameters`, or `:name` for a named one.

        - `options`: those of `Dataset.sql` for this statement, such as `epsilon`.
        """
        connection = self.connection
        self._release, self._rows, self._place = None, iter(()), 0
        self._release = connection.ask(
            operation, () if parameters is None else parameters, **options
        )
        self._rows = iter(python_rows(self._release.table))
        return self

    def executemany(self, operation: str, seq_of_parameters: Sequence[Sequence[Value]]) -> None:
        """Refused: every answer costs budget, so each is asked for by itself."""
        raise NotSupportedError("Every answer costs budget; execute one statement at a time.")

    def fetchone(self) -> Row | None:
        """The next row, None behind the last."""
        self._check_asked()
        row = next(self._rows, None)
        self._place += row is not None
        return row

    def fetchmany(self, size: int | None = None) -> list[Row]:
        """The next `size` rows, or as many as are left."""
        self._check_asked()
        wanted = self.arraysize if size is None else size
        rows = [row for _, row in zip(range(wanted), self._rows, strict=False)]
        self._place += len(rows)
        return rows

    def fetchall(self) -> list[Row]:
        """All rows that are left."""
        self._check_asked()
        rows = list(self._rows)
        self._place += len(rows)
        return rows

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """Does nothing, as PEP 249 allows."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Does nothing, as PEP 249 allows."""

    def close(self) -> None:
        """Forget the answer and the data set; the account is not touched."""
        self._connection, self._release, self._rows = None, None, iter(())

    def __iter__(self) -> Iterator[Row]:
        return iter(self.fetchone, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_asked(self) -> None:
        _ = self.connection
        if self._release is None:
            raise ProgrammingError("Execute a statement first; there is no answer to fetch from.")
