"""DuckDB's types in our words."""

from __future__ import annotations

import re

from onesided.engine.flavours import DuckDBFlavour
from onesided.language import Field, Type

_FLAVOUR = DuckDBFlavour()
_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")
_TYPES = {
    "TINYINT": Type.INTEGER,
    "SMALLINT": Type.INTEGER,
    "INTEGER": Type.INTEGER,
    "BIGINT": Type.INTEGER,
    "UTINYINT": Type.INTEGER,
    "USMALLINT": Type.INTEGER,
    "UINTEGER": Type.INTEGER,
    "UBIGINT": Type.WIDE_INTEGER,
    "HUGEINT": Type.WIDE_INTEGER,
    "UHUGEINT": Type.WIDE_INTEGER,
    "FLOAT": Type.FLOAT,
    "DOUBLE": Type.FLOAT,
    "VARCHAR": Type.TEXT,
    "BOOLEAN": Type.BOOLEAN,
    "DATE": Type.DATE,
    "TIMESTAMP": Type.TIMESTAMP,
}


def field_of(kind: str) -> Field:
    """Our type for a DuckDB type, after `column_of`."""
    decimal = _DECIMAL.fullmatch(kind)
    if decimal is not None:
        return Field.decimal(int(decimal[1]), int(decimal[2]))
    if kind.startswith("TIMESTAMP"):
        return Field(Type.TIMESTAMP)
    if kind == "UUID" or kind.startswith("ENUM"):
        return Field(Type.TEXT)
    return Field(_TYPES.get(kind, Type.OTHER))


def column_of(name: str, kind: str) -> str:
    """The column in the form that our types promise: enums compare as text, times are UTC."""
    column = _FLAVOUR.name(name)
    if kind == "TIMESTAMP WITH TIME ZONE":
        return f"timezone('UTC', {column}) AS {column}"
    if kind.startswith("TIMESTAMP_"):
        return f"CAST({column} AS TIMESTAMP) AS {column}"
    if kind == "UUID" or kind.startswith("ENUM"):
        return f"CAST({column} AS VARCHAR) AS {column}"
    return column


def quoted(text: str) -> str:
    """A text as a literal."""
    return "'" + text.replace("'", "''") + "'"
