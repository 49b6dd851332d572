"""Which engine a source needs; each is loaded only when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onesided.data.units import Unit
from onesided.engine.base import Engine
from onesided.engine.registry import engine_for, titles_with
from onesided.errors import RequestError
from onesided.language import Schema

_OPTIONS = {
    "memory_limit": "A memory limit is for {}; a server has its own.",
    "statement_timeout": "A statement timeout is for {}; leave it out.",
    "csv": "CSV options are for {}; leave them out.",
}


def open_engine(
    source: Any,
    unit: Unit,
    *,
    table: str | None = None,
    connection: Any = None,
    format: Mapping[str, Any] | None = None,
    **options: Any,
) -> Engine:
    """The engine for files and frames here, or for what `connection` names.

    - `format`: how the source is read where that is agreed already; otherwise it is found now.
    - `options`: of these each engine takes its own, and none but its own.
    """
    entry = engine_for(connection)
    if (source is None) == (table is None):
        raise RequestError("Name either a source or a table, and one of them only.")
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in entry.options:
            raise RequestError(_OPTIONS[name].format(titles_with(name)))
    return entry.open(source, unit, table=table, connection=connection, format=format, **given)


def schema_of(source: Any = None, *, table: str | None = None, connection: Any = None) -> Schema:
    """The columns and types of a source, or of a table in PostgreSQL, to check policies against."""
    found = engine_for(connection).schema(source, table, connection)
    if found is None:
        raise RequestError("Name a file, or a table in PostgreSQL and its connection.")
    return found
