"""Two states of a table held against each other; for the steward's eyes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from onesided.data.private import PrivateDirectory
from onesided.engine.duckdb.connection import connect, opening
from onesided.engine.duckdb.flavour import DuckDBFlavour

_FLAVOUR = DuckDBFlavour()


@dataclass(frozen=True)
class Growth:
    """How many units came, went and changed.

    - `late`: of those that came, the ones whose part has units from before.
    """

    appended: int
    changed: int
    gone: int
    late: int


def growth(before: pa.Table, after: pa.Table, unit: Sequence[str], parts: Sequence[str]) -> Growth:
    """What became of the units between two tables, which have the same columns.

    - `unit`, `parts`: the columns that name a unit, and those whose values are parts.
    """
    key = ", ".join(map(_FLAVOUR.name, unit))
    part = ", ".join(map(_FLAVOUR.name, parts))
    folder = PrivateDirectory()
    try:
        with opening(), connect(folder.path, None) as connection:
            connection.register("before", before)
            connection.register("after", after)
            came = f"SELECT {key} FROM after EXCEPT SELECT {key} FROM before"
            went = f"SELECT {key} FROM before EXCEPT SELECT {key} FROM after"
            other = "(FROM before EXCEPT FROM after) UNION ALL (FROM after EXCEPT FROM before)"
            touched = f"SELECT DISTINCT {key} FROM ({other})"
            appended, gone = (_count(connection, each) for each in (came, went))
            changed = _count(connection, touched) - appended - gone
            late = 0
            if parts:
                known = f"SELECT DISTINCT {part} FROM before"
                late = _count(
                    connection, f"SELECT * FROM ({came}) SEMI JOIN ({known}) USING ({part})"
                )
            return Growth(appended, changed, gone, late)
    finally:
        folder.remove()


def _count(connection: duckdb.DuckDBPyConnection, statement: str) -> int:
    return int(connection.sql(f"SELECT count(*) FROM ({statement})").fetchall()[0][0])
