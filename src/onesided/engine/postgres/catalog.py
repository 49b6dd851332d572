"""What PostgreSQL's catalogue says about a table: its columns, its keys, and its state."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from onesided.engine.names import check_names
from onesided.engine.postgres.columns import COLUMNS, PostgresColumn
from onesided.engine.postgres.flavour import PostgresFlavour
from onesided.errors import SourceError
from onesided.language import Schema

Rows = Callable[..., list[tuple[Any, ...]]]
Path = Callable[[], Sequence[str]]

_FLAVOUR = PostgresFlavour()
_SCATTER = 2**31 - 1
_MODULUS = 1_000_000_007
_FIND = """SELECT c.oid::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname::text = $1 AND c.relname::text = $2
        AND c.relkind IN ('r', 'p', 'v', 'm', 'f')"""
# The table with all whose rows are its rows: has it such, and is one of them computed when it is
# read, by a view, by another server or as a generated column? What is computed can fail on a row.
_RELATION = """WITH RECURSIVE tree AS (SELECT $1::oid AS oid
        UNION SELECT i.inhrelid FROM pg_inherits i JOIN tree t ON i.inhparent = t.oid)
    SELECT n.nspname::text, c.relname::text, c.relkind::text,
        (SELECT count(*) > 1 FROM tree),
        (SELECT bool_or(p.relkind IN ('v', 'f') OR EXISTS (SELECT FROM pg_attribute a
            WHERE a.attrelid = p.oid AND a.attgenerated = 'v' AND NOT a.attisdropped))
        FROM tree JOIN pg_class p ON p.oid = tree.oid)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1::oid"""
# An index keeps a key unique now, for all rows and by plain columns, or it does not count.
_UNIQUE_KEYS = """SELECT i.indexrelid::text, a.attname::text
    FROM pg_index i
    JOIN pg_attribute a ON a.attrelid = i.indrelid
        AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])
    WHERE i.indrelid = $1::oid AND i.indisunique AND i.indisvalid AND i.indimmediate
        AND i.indpred IS NULL AND i.indexprs IS NULL"""
# Who reads from a table keeps it from being changed until the transaction ends.
_STILL_NAMED = """SELECT coalesce(to_regclass($1)::oid = $2::oid, FALSE),
    (SELECT count(*) FROM (SELECT FROM {} LIMIT 0) osd_t)"""


@dataclass(frozen=True)
class Table:
    """A table or view, its columns, and which of them are unique together.

    - `computed`: its rows are the result of something, which can fail on one of them.
    """

    oid: str
    name: str
    qualified: str
    has_transactions: bool
    computed: bool
    columns: tuple[PostgresColumn, ...]
    unique_keys: tuple[frozenset[str], ...]

    @property
    def schema(self) -> Schema:
        return Schema.of({column.name: column.field for column in self.columns})

    @property
    def source(self) -> str:
        """The table as a FROM item: its columns in our types.

        What is computed is computed first, by itself: none of our conditions comes before those
        that keep a view from failing.
        """
        listed = ", ".join(column.normalised for column in self.columns)
        fence = " OFFSET 0" if self.computed else ""
        return f"(SELECT {listed} FROM {self.qualified}{fence})"

    @property
    def format(self) -> dict[str, Any]:
        """The columns as the catalogue has them."""
        return {"reader": "postgresql", "columns": [each.described for each in self.columns]}

    @property
    def identity(self) -> tuple[tuple[Any, ...], ...]:
        """The columns as they were at the opening, with the keys that the plan relies on."""
        return (
            *(column.identity for column in self.columns),
            *(tuple(sorted(key)) for key in self.unique_keys),
        )

    def is_unique(self, columns: tuple[str, ...]) -> bool:
        """Whether no two rows can share these columns, where none of them is NULL."""
        return any(key <= set(columns) for key in self.unique_keys)

    def is_as_opened(self, rows: Rows) -> bool:
        """Whether the name still means this table, and its columns and keys are what they were."""
        named, _ = rows(_STILL_NAMED.format(self.qualified), (self.qualified, self.oid))[0]
        if not named:
            return False
        now = _described(rows, self.oid, self.name)
        return (
            now.columns == self.columns
            and now.computed == self.computed
            and set(now.unique_keys) >= set(self.unique_keys)
        )

    def evaluate(self, rows: Rows) -> None:
        """Compute every cell once, for the steward: an error comes now and not after a charge."""
        counted = ", ".join(f"count({_FLAVOUR.name(each.name)})" for each in self.columns)
        rows(f"SELECT {counted or 'count(*)'} FROM {self.source} osd_t")

    def state(self, rows: Rows) -> str:
        """Names columns and rows: each write leaves the number of a new transaction."""
        number = "(xmin::text)::bigint"
        # Two sums over the numbers, the second of them scattered: changes cannot make up for
        # each other. The product stays within 64 bits, as a number has 32.
        sums = rows(
            f"SELECT count(*)::text, sum({number})::text, "
            f"sum({number} * {_SCATTER} % {_MODULUS})::text FROM {self.qualified}"
        )
        now = _described(rows, self.oid, self.name)
        return hashlib.sha256(repr((now.identity, sums)).encode()).hexdigest()


def find_table(rows: Rows, text: str, path: Path) -> Table:
    """The table called `text`, which is `name` or `schema.name`, spelt as in the catalogue.

    Without a schema it is looked for in those of `path`, in their order.
    """
    schema, _, name = text.rpartition(".")
    for each in (schema,) if schema else path():
        found = rows(_FIND, (each, name))
        if found:
            table = _described(rows, str(found[0][0]), text)
            break
    else:
        raise SourceError(f"There is no table {text} in the database; check its name.")
    check_names([column.name for column in table.columns], "The table")
    return table


def row_sums(qualified: str, columns: Sequence[str]) -> str:
    """One row about the rows of a table in any order: their number, and two sums over them.

    A row counts by its digest, which is taken of a text that no other row has.
    """
    cells = (f"CAST({_FLAVOUR.name(column)} AS TEXT)" for column in columns)
    text = " || ".join(f"coalesce(octet_length({each}) || ':' || {each}, '~')" for each in cells)
    digits = _FLAVOUR.sha256(text)
    halves = (
        f"sum(CAST(CAST('x' || substr(osd_digits, {first}, 15) AS bit(60)) AS BIGINT))::text"
        for first in (1, 16)
    )
    return (
        f"SELECT count(*)::text, {', '.join(halves)} "
        f"FROM (SELECT {digits} AS osd_digits FROM {qualified}) osd_d"
    )


def _described(rows: Rows, oid: str, name: str) -> Table:
    namespace, relation, kind, has_parts, computed = rows(_RELATION, (oid,))[0]
    # What a table itself keeps to says nothing about the rows of those that inherit from it.
    covers_all_rows = kind == "p" or not has_parts
    columns = tuple(PostgresColumn(*row) for row in rows(COLUMNS, (oid,)))
    if computed or not covers_all_rows:
        columns = tuple(replace(column, required=False) for column in columns)
    return Table(
        oid=oid,
        name=name,
        qualified=f"{_FLAVOUR.name(namespace)}.{_FLAVOUR.name(relation)}",
        has_transactions=kind in ("r", "p", "m"),
        computed=bool(computed),
        columns=columns,
        unique_keys=_unique_keys(rows, oid) if covers_all_rows else (),
    )


def _unique_keys(rows: Rows, oid: str) -> tuple[frozenset[str], ...]:
    keys: dict[str, set[str]] = {}
    for index, column in rows(_UNIQUE_KEYS, (oid,)):
        keys.setdefault(index, set()).add(column)
    return tuple(frozenset(keys[index]) for index in sorted(keys))
