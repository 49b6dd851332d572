"""A SELECT as we understand it: group keys, figures, a filter, and what happens to the result.

Everything up to the figures is measured and paid for. What is computed from them, HAVING, ORDER BY
and LIMIT only look at released values and cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from onesided.language.canonical import canonical_text
from onesided.language.predicate import Key, Predicate
from onesided.language.types import Schema


class Aggregate(Enum):
    """What can be measured; the value is its canonical spelling, with {} for its columns.

    GROUPS is the word for a statement that asks for no figure, but for the groups that there are.
    """

    ROWS = "count(*)"
    UNITS = "count(DISTINCT {})"
    SUM = "sum({})"
    MEAN = "avg({})"
    QUANTILES = "quantiles({})"
    GROUPS = "groups"


@dataclass(frozen=True)
class SelectFigure:
    """An aggregate of the rows that satisfy `where`.

    - `columns`: the unit's key, for UNITS.
    - `value`: what of each row is added up, for SUM and MEAN; or put in order, for QUANTILES; or
      for UNITS the one column, which may be another than their key.
    """

    aggregate: Aggregate
    columns: tuple[str, ...] = ()
    value: Key | None = None
    where: Predicate | None = None

    @property
    def name(self) -> str:
        """The canonical text, which is also the name of a column that has no alias."""
        named = self.columns or self.value is None
        of = ", ".join(self.columns) if named or self.value is None else key_text(self.value)
        text = self.aggregate.value.format(of)
        return text if self.where is None else f"{text} FILTER (WHERE {self.where.sql})"


@dataclass(frozen=True)
class Output:
    """One column of the result.

    - `text`: what it is, in DuckDB's SQL over `key_column` and `figure_column`.
    - `key`: the group key that it is, where it is one as it stands.
    """

    name: str
    text: str
    key: Key | None = None


@dataclass(frozen=True)
class Ordering:
    """One term of ORDER BY, over released values as an `Output` is."""

    text: str
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Join:
    """A public table, joined by pairs of a column of the data and one of the public table.

    - `outer`: rows that find nothing stay.
    - `of`: the public table, where it is joined more than once and `table` is another name of it.
    """

    table: str
    on: tuple[tuple[str, str], ...]
    outer: bool = False
    of: str | None = None

    @property
    def source(self) -> str:
        """What the public table was declared as."""
        return self.table if self.of is None else self.of


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
            for name, kind in self.public[join.source].fields:
                fields[public_column(join.table, name)] = kind
        return Schema.of(fields)


@dataclass(frozen=True)
class Select:
    """One accepted statement; its columns are named as in `Catalogue.joined(joins)`.

    - `figures`: all that is to be measured, each once: of the list, of HAVING and of ORDER BY.
    - `sets`: by which keys, as places in `keys`; several where subtotals are asked for.
    - `quantiles`: those that are read from each figure of that kind.
    - `having`: a condition over released values, as an `Output` is.
    - `windows`: over the rows that are left then; `qualify` is a condition that may read them.
    """

    outputs: tuple[Output, ...]
    keys: tuple[Key, ...]
    figures: tuple[SelectFigure, ...]
    sets: tuple[tuple[int, ...], ...]
    joins: tuple[Join, ...] = ()
    quantiles: Mapping[SelectFigure, tuple[float, ...]] = field(default_factory=dict)
    where: Predicate | None = None
    having: str | None = None
    windows: tuple[str, ...] = ()
    qualify: str | None = None
    order: tuple[Ordering, ...] = ()
    limit: int | None = None
    offset: int = 0


@dataclass(frozen=True)
class ComposedSelect:
    """The SELECTs of one statement that are asked of the data.

    - `outer`: what is made of their answers, in DuckDB's SQL over `answer_table`; None where there
      is one, whose answer is all.
    """

    selects: tuple[Select, ...]
    outer: str | None


def key_column(place: int) -> str:
    """What a group key is called where released values are computed with."""
    return f"osd_k{place}"


def figure_column(place: int) -> str:
    """What a figure is called where released values are computed with."""
    return f"osd_f{place}"


def counted(column: str) -> str:
    """What the number of rows is called that a mean is of, beside the mean."""
    return f"{column}_n"


def quantile_column(column: str, place: int) -> str:
    """What a quantile of a figure is called where released values are computed with."""
    return f"{column}_q{place}"


def window_column(place: int) -> str:
    """What a window is called where released values are computed with."""
    return f"osd_w{place}"


def public_column(table: str, column: str) -> str:
    """The name under which the data know a column of a joined public table."""
    return f"{table}.{column}"


def key_text(key: Key) -> str:
    """The text that `Key.parse` reads as this key; its name alone may need quotation marks."""
    return canonical_text(key.expression)
