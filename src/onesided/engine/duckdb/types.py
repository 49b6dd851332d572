"""DuckDB's types in our words, and how each is read so that no value of it can raise."""

from __future__ import annotations

import re

from onesided.engine.duckdb.flavour import DuckDBFlavour
from onesided.language import Field, Type

_FLAVOUR = DuckDBFlavour()
_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")
_QUOTED = re.compile(r'"[^"]*"')
_WORD = re.compile(r"[A-Z_0-9]+")
_UNREADABLE = frozenset(["VARIANT", "GEOMETRY", "UNION"])
_UNREADABLE_IN_FILES = frozenset(["INTERVAL"])
_ZONED = "TIMESTAMP WITH TIME ZONE"
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
    "UUID": Type.TEXT,
    "JSON": Type.TEXT,
    "BOOLEAN": Type.BOOLEAN,
    "DATE": Type.DATE,
}


def digits_of(kind: str) -> tuple[int, int] | None:
    """Precision and scale of a decimal type."""
    decimal = _DECIMAL.fullmatch(kind)
    return None if decimal is None else (int(decimal[1]), int(decimal[2]))


def field_of(kind: str) -> Field:
    """Our type for a DuckDB type, after `column_of`."""
    digits = digits_of(kind)
    if digits is not None:
        return Field.decimal(*digits)
    if _is_timestamp(kind):
        return Field(Type.TIMESTAMP, zoned=kind in (_ZONED, "TIMESTAMPTZ_NS"))
    if kind.startswith("ENUM("):
        return Field(Type.TEXT)
    return Field(_TYPES.get(kind, Type.OTHER))


def is_refused(kind: str, *, files: bool) -> bool:
    """Whether a column of this type cannot be read totally, from Parquet files or else a frame."""
    words = _WORD.findall(_QUOTED.sub("", kind))
    # A map below the top would have to become a list there.
    is_deep_map = "MAP" in words[1:] or ("MAP" in words and kind.endswith("]"))
    return not _UNREADABLE.isdisjoint(words) or (
        files and (is_deep_map or not _UNREADABLE_IN_FILES.isdisjoint(words))
    )


def column_of(name: str, kind: str) -> str:
    """The column in the form that our types promise: total, enums as text, times in UTC."""
    column = _FLAVOUR.name(name)
    read = total_expression(column, kind)
    return column if read == column else f"{read} AS {column}"


def total_expression(column: str, kind: str) -> str:
    """A value of this type in our form; NULL where it does not fit, and never an error."""
    if kind in ("FLOAT", "DOUBLE"):
        # Statistics of files leave NaN out, and DuckDB decides conditions by them, even what
        # isnan(x) gives. nextafter(x, x) is x, and DuckDB knows no statistics of it. Every NaN
        # gets the same bits, so that none of a sensitive one become the key of a group.
        same = f"nextafter({column}, {column})"
        return f"CASE WHEN isnan({same}) THEN CAST('nan' AS {kind}) ELSE {same} END"
    if kind == "TIMESTAMPTZ_NS":
        column, kind = f"TRY_CAST({column} AS TIMESTAMPTZ)", _ZONED
    if kind == _ZONED:
        # timezone('UTC', x) raises at the ends of the range.
        return f"make_timestamp(epoch_us({column}))"
    if kind != "TIMESTAMP" and _is_timestamp(kind):
        return f"TRY_CAST({column} AS TIMESTAMP)"
    if _is_map(kind):
        # Arrow's maps and DuckDB's differ in what a key that occurs twice means.
        return f"map_entries({column})"
    if kind in ("UUID", "JSON") or kind.startswith("ENUM("):
        return f"CAST({column} AS VARCHAR)"
    return column


def _is_timestamp(kind: str) -> bool:
    return kind.startswith("TIMESTAMP") and not kind.endswith("]")


def _is_map(kind: str) -> bool:
    return kind.startswith("MAP(") and not kind.endswith("]")
