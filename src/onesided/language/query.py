"""A SELECT as we understand it: group keys, figures, a filter, and what happens to the result.

Everything up to the figures is measured and paid for; HAVING, ORDER BY and LIMIT only look at
released values and cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from onesided.language.binding import bind_condition
from onesided.language.canonical import canonical_text
from onesided.language.predicate import Key, Predicate
from onesided.language.tree import Expression
from onesided.language.types import Field, Schema, Type


class Aggregate(Enum):
    """What can be measured; the value is its canonical spelling, with {} for its columns."""

    ROWS = "count(*)"
    UNITS = "count(DISTINCT {})"
    SUM = "sum({})"
    MEAN = "avg({})"


@dataclass(frozen=True)
class SelectFigure:
    """An aggregate of columns: none for ROWS, the unit's key for UNITS, else a single one."""

    aggregate: Aggregate
    columns: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The canonical text, which is also the name of a column that has no alias."""
        return self.aggregate.value.format(", ".join(self.columns))


Source: TypeAlias = Key | SelectFigure


@dataclass(frozen=True)
class Output:
    """One column of the result."""

    name: str
    source: Source


@dataclass(frozen=True)
class Ordering:
    """One term of ORDER BY."""

    source: Source
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Join:
    """A public table, joined by pairs of a column of the data and one of the public table."""

    table: str
    on: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Catalogue:
    """The tables that a SELECT may name.

    - `names`: what the data set may be called in FROM.
    - `schema`: the columns of the data.
    - `public`: the columns of each public table.
    - `beside`: the pairs by which each secret table was declared to be looked up; its columns are
      among those of the data, as `table.column`.
    """

    names: tuple[str, ...]
    schema: Schema
    public: Mapping[str, Schema]
    beside: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)

    def beside_schema(self, table: str) -> Schema:
        """The columns of a secret table."""
        start = public_column(table, "")
        fields = dict(self.schema.fields)
        return Schema.of(
            {n.removeprefix(start): f for n, f in fields.items() if n.startswith(start)}
        )

    def joined(self, joins: Sequence[Join]) -> Schema:
        """The columns of the data and of the joined tables, the latter as `table.column`."""
        fields = dict(self.schema.fields)
        for join in joins:
            for name, kind in self.public[join.table].fields:
                fields[public_column(join.table, name)] = kind
        return Schema.of(fields)


@dataclass(frozen=True)
class Select:
    """One accepted statement; its columns are named as in `Catalogue.joined(joins)`.

    - `figures`: all that is to be measured, each once: of the list, of HAVING and of ORDER BY.
    - `having`: a condition on released values, whose columns are names of keys and figures.
    """

    outputs: tuple[Output, ...]
    keys: tuple[Key, ...]
    figures: tuple[SelectFigure, ...]
    joins: tuple[Join, ...] = ()
    where: Predicate | None = None
    having: Expression | None = None
    order: tuple[Ordering, ...] = ()
    limit: int | None = None

    def bound_having(self, schema: Schema) -> Expression | None:
        """HAVING with its types checked, ready to be evaluated on a row of keys and figures."""
        if self.having is None:
            return None
        keys = {key.name: Field(key.bind(schema).type) for key in self.keys}
        figures = {figure.name: Field(Type.FLOAT) for figure in self.figures}
        return bind_condition(self.having, Schema.of({**keys, **figures}))


def public_column(table: str, column: str) -> str:
    """The name under which the data know a column of a joined public table."""
    return f"{table}.{column}"


def key_text(key: Key) -> str:
    """The text that `Key.parse` reads as this key; its name alone may need quotation marks."""
    return canonical_text(key.expression)
