"""Python's DB-API 2.0 (PEP 249) for a data set, here or at somebody else's.

    connection = dbapi.connect(dataset, epsilon=0.1, most=1, max_groups=4)
    cursor = connection.cursor()
    cursor.execute("SELECT room, COUNT(DISTINCT device, day) FROM data WHERE room <> ?", ["lab"])
    cursor.execute("SELECT COUNT(DISTINCT device, day) FROM data /* epsilon=0.5 */")

Every statement is a release and costs ε; repeating one is free. Nothing can be written, so there is
nothing to commit. What goes wrong is one of the errors of PEP 249, and its `__cause__` is the error
of `onesided.errors` with the same sentence.

errors.py      the errors, and which of ours becomes which of them
types.py       types of columns, and the constructors of values
statements.py  what a statement says beside its SELECT: comments, and parameters by name
purse.py       the most that a connection may spend
connection.py  Connection
cursor.py      Cursor
"""

from __future__ import annotations

from typing import Any

from onesided.data.askable import Askable
from onesided.dbapi.connection import Connection
from onesided.dbapi.cursor import Cursor
from onesided.dbapi.errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
    translated,
)
from onesided.dbapi.purse import Purse
from onesided.dbapi.types import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)
from onesided.loss import Number

apilevel = "2.0"
threadsafety = 2
"""Threads may share the module and connections, but no cursor."""
paramstyle = "qmark"
"""With a mapping of parameters, `:name` stands for one of them as well."""

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Purse",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
    "translated",
]


def connect(
    dataset: Askable,
    *,
    epsilon: Number | None = None,
    most: Number | Purse | None = None,
    **options: Any,
) -> Connection:
    """A connection to a data set that is open, and that stays open when the connection is closed.

    - `epsilon`: what a statement costs that says nothing else.
    - `most`: what all statements may cost together. One that could cost more is refused before it
      is sent. Several connections may share a `Purse`.
    - `options`: those of `Dataset.sql` for all statements, such as `max_groups`.
    """
    with translated():
        return Connection(dataset, epsilon, Purse.of(most), options)
