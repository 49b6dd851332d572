"""What PostgreSQL's catalogue says about a table: its columns, its keys, and its state."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from onesided.engine.flavours import PostgresFlavour
from onesided.engine.sql import RESERVED_PREFIX
from onesided.errors import SourceError
from onesided.language import Field, Schema, Type

Rows = Callable[..., list[tuple[Any, ...]]]

_FLAVOUR = PostgresFlavour()
_MOST_DIGITS = 38
_SCATTER = 2**31 - 1
_MODULUS = 1_000_000_007
_TYPES = {
    **dict.fromkeys(("int2", "int4", "int8"), Type.INTEGER),
    **dict.fromkeys(("float4", "float8"), Type.FLOAT),
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "uuid", "citext"), Type.TEXT),
    **dict.fromkeys(("timestamp", "timestamptz"), Type.TIMESTAMP),
    "bool": Type.BOOLEAN,
    "date": Type.DATE,
}
_FIND = """SELECT c.oid::text, n.nspname::text, c.relname::text, c.relkind::text,
        EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhparent = c.oid)
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname::text = $2 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        AND (CASE WHEN $1 = '' THEN pg_catalog.pg_table_is_visible(c.oid)
                  ELSE n.nspname::text = $1 END)"""
# A domain is described by the type below it.
_COLUMNS = """SELECT a.attname::text,
        coalesce(b.typname, t.typname)::text,
        coalesce(b.typtype, t.typtype)::text,
        (CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END)::bigint,
        a.attnotnull
    FROM pg_catalog.pg_attribute a
    JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_catalog.pg_type b ON t.typtype = 'd' AND b.oid = t.typbasetype
    WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum"""
# An index keeps a key unique now, for all rows and by plain columns, or it does not count.
_UNIQUE_KEYS = """SELECT i.indexrelid::text, a.attname::text
    FROM pg_catalog.pg_index i
    JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid
        AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])
    WHERE i.indrelid = $1::oid AND i.indisunique AND i.indisvalid AND i.indimmediate
        AND i.indpred IS NULL AND i.indexprs IS NULL"""


@dataclass(frozen=True)
class _Column:
    """A column as the catalogue has it."""

    name: str
    kind: str
    category: str
    modifier: int
    required: bool

    @property
    def field(self) -> Field:
        nullable = not self.required
        if self.category == "e":
            return Field(Type.TEXT, nullable)
        if self.kind == "numeric" and self.modifier >= 4:
            # Precision and scale lie in the two halves; a scale below 0 has no counterpart.
            precision, scale = (self.modifier - 4) >> 16, (self.modifier - 4) & 0x7FF
            if precision <= _MOST_DIGITS and scale <= precision:
                return Field.decimal(precision, scale, nullable=True)
        if self.kind in ("date", "timestamp", "timestamptz"):
            return Field(_TYPES[self.kind])
        return Field(_TYPES.get(self.kind, Type.OTHER), nullable)

    @property
    def normalised(self) -> str:
        """The column in the form that our types promise.

        Texts compare by code point whatever their collation, times are UTC, and values that no
        other engine has (infinite dates and times, NaN among decimals) are NULL.
        """
        name = _FLAVOUR.name(self.name)
        match self.field.type:
            case Type.TEXT:
                return f'(CAST({name} AS TEXT) COLLATE "C") AS {name}'
            case Type.DECIMAL:
                return f"nullif({name}, 'NaN') AS {name}"
            case Type.DATE:
                return f"CASE WHEN isfinite({name}) THEN {name} END AS {name}"
            case Type.TIMESTAMP:
                moment = f"timezone('UTC', {name})" if self.kind == "timestamptz" else name
                return f"CASE WHEN isfinite({name}) THEN {moment} END AS {name}"
            case _:
                return name


@dataclass(frozen=True)
class Table:
    """A table or view, its columns, and which of them are unique together."""

    oid: str
    name: str
    qualified: str
    has_transactions: bool
    columns: tuple[_Column, ...]
    unique_keys: tuple[frozenset[str], ...]

    @property
    def schema(self) -> Schema:
        return Schema.of({column.name: column.field for column in self.columns})

    @property
    def source(self) -> str:
        """The table as a FROM item: its columns in our types."""
        listed = ", ".join(column.normalised for column in self.columns)
        return f"(SELECT {listed} FROM {self.qualified})"

    @property
    def identity(self) -> tuple[tuple[Any, ...], ...]:
        """The columns as they were at the opening, with the keys that the plan relies on."""
        return (*map(_described, self.columns), *(tuple(sorted(key)) for key in self.unique_keys))

    def is_unique(self, columns: tuple[str, ...]) -> bool:
        """Whether no two rows can share these columns, where none of them is NULL."""
        return any(key <= set(columns) for key in self.unique_keys)

    def columns_now(self, rows: Rows) -> tuple[tuple[Any, ...], ...]:
        """The same as `identity`, asked again."""
        columns = _columns(rows, self.oid)
        keys = _unique_keys(rows, self.oid) if self.unique_keys else ()
        return (*map(_described, columns), *(tuple(sorted(key)) for key in keys))

    def state(self, rows: Rows) -> str:
        """Names columns and rows: whatever is written carries the number of a new transaction."""
        number = "(xmin::text)::bigint"
        # Two sums over the numbers, the second of them scattered: changes cannot make up for
        # each other. The product stays within 64 bits, as a number has 32.
        sums = rows(
            f"SELECT count(*)::text, sum({number})::text, "
            f"sum({number} * {_SCATTER} % {_MODULUS})::text FROM {self.qualified}"
        )
        described = repr((self.columns_now(rows), sums))
        return hashlib.sha256(described.encode()).hexdigest()


def find_table(rows: Rows, text: str) -> Table:
    """The table called `text`, which is `name` or `schema.name`, spelt as in the catalogue."""
    schema, _, name = text.rpartition(".")
    found = rows(_FIND, (schema, name))
    if len(found) != 1:
        raise SourceError(f"There is no table {text} in the database; check its name.")
    oid, namespace, relation, kind, has_children = found[0]
    columns = _columns(rows, oid)
    if any(column.name.lower().startswith(RESERVED_PREFIX) for column in columns):
        raise SourceError(
            f"A column name starts with {RESERVED_PREFIX}, which is reserved; rename it."
        )
    # An index of a table says nothing about the rows of the tables that inherit from it.
    covers_all_rows = kind == "p" or not has_children
    return Table(
        oid=str(oid),
        name=text,
        qualified=f"{_FLAVOUR.name(namespace)}.{_FLAVOUR.name(relation)}",
        has_transactions=kind in ("r", "p", "m"),
        columns=columns,
        unique_keys=_unique_keys(rows, oid) if covers_all_rows else (),
    )


def _columns(rows: Rows, oid: str) -> tuple[_Column, ...]:
    return tuple(_Column(*row) for row in rows(_COLUMNS, (oid,)))


def _unique_keys(rows: Rows, oid: str) -> tuple[frozenset[str], ...]:
    keys: dict[str, set[str]] = {}
    for index, column in rows(_UNIQUE_KEYS, (oid,)):
        keys.setdefault(index, set()).add(column)
    return tuple(frozenset(keys[index]) for index in sorted(keys))


def _described(column: _Column) -> tuple[Any, ...]:
    return (column.name, column.kind, column.category, column.modifier)
