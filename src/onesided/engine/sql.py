"""The statements, one template per job, for every engine.

Names that the templates add start with `osd_`, a prefix that no column of a source may have.
osd_sensitive says whether a unit is sensitive. osd_g0, osd_g1, … are the group keys, and
osd_amount0, … are what a unit adds to each sum. osd_all and osd_ns are the two figures of a group.

Sensitivity is always taken over all rows of a unit, before any filter. The coin of a keyed unit is
tossed in HAVING, in one CASE with the unit's sensitivity: as a plain condition on the key it would
be pushed below the GROUP BY and computed for every row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from onesided.data.units import Unit
from onesided.engine.base import Coins, CountQuery, Lookup, Ngrams, SampleQuery, Total
from onesided.engine.beside import SecretLookup, chosen_units, looked_up_beside
from onesided.engine.flavour import Cut, Flavour
from onesided.engine.lookups import looked_up
from onesided.engine.maps import ClosedPredicate, closed_rows
from onesided.engine.ngrams import view, widened
from onesided.language import BoundKey, BoundPredicate, Field, Schema, Type
from onesided.language.tree import Column

RESERVED_PREFIX = "osd_"


@dataclass(frozen=True)
class Relation:
    """What the statements read: a FROM item, its schema and unit.

    - `coin_key`: the expression through which a statement reads the secret, bound outside the text.
    - `row_text`: the expression that names a row, where every row is a unit.
    - `unique`: the source itself guarantees that no two rows share the unit's key. Each unit is
      then one row, and no rows have to be brought together.
    - `beside`: secret tables whose columns the schema has too.
    - `read`: the columns that are read; None where all may be.
    - `all_rows`: the FROM item before lookups left units out.
    """

    source: str
    schema: Schema
    unit: Unit
    coin_key: str
    row_text: str = ""
    unique: bool = False
    beside: tuple[SecretLookup, ...] = ()
    read: frozenset[str] | None = None
    all_rows: str = ""

    def with_computed_keys(self, flavour: Flavour) -> Relation:
        """The same relation with each computed key of its unit as a column of that name."""
        computed = self.unit.computed
        if not computed:
            return self
        added = [f"{key.render(flavour.writer)} AS {flavour.name(key.name)}" for key in computed]
        source = f"(SELECT osd_s.*, {', '.join(added)} FROM {self.source} osd_s)"
        fields = {key.name: Field(key.type) for key in computed}
        schema = Schema.of({**dict(self.schema.fields), **fields})
        return replace(self, source=source, schema=schema)

    def with_lookups(self, flavour: Flavour) -> Relation:
        """The same relation with the columns of the tables beside it."""
        source = looked_up_beside(self.source, self.beside, self.read, flavour)
        return replace(self, source=source, all_rows=self.source)

    def reading(self, columns: Iterable[str], flavour: Flavour) -> str:
        """A FROM item for these columns, of all units: which of them stay is seen to elsewhere."""
        if not self.beside:
            return self.source
        return looked_up_beside(self.all_rows, self.beside, {*columns}, flavour, choosing=False)


@dataclass(frozen=True)
class Statements:
    """The SQL of each job on one relation in one engine's flavour."""

    relation: Relation
    flavour: Flavour

    @classmethod
    def on(cls, relation: Relation, flavour: Flavour, **given: Any) -> Self:
        """The statements on a relation, in which computed keys and lookups are columns."""
        whole = relation.with_computed_keys(flavour).with_lookups(flavour)
        return cls(whole, flavour, **given)

    def inspection(self) -> str:
        """One row: the number of all units, and of rows without a unit."""
        source = f"{self.relation.all_rows} osd_t"
        if self.relation.unit.is_row:
            return f"SELECT count(*) AS osd_units, 0 AS osd_orphans FROM {source}"
        self._key_text()  # a key of a type that has no text is refused now, at the opening
        keys, present = self._listed_keys, self._present()
        units = f"SELECT {keys} FROM {source} WHERE {present} GROUP BY {keys}"
        orphans = f"SELECT count(*) FROM {source} WHERE NOT ({present})"
        return (
            f"SELECT (SELECT count(*) FROM ({units}) osd_u) AS osd_units, "
            f"({orphans}) AS osd_orphans"
        )

    def sample(self, query: SampleQuery) -> str:
        """The chosen columns of all rows of the kept units that satisfy `where`."""
        if self.relation.unique and isinstance(query.policy, ClosedPredicate):
            return self._by_unit.sample(query)
        columns = ", ".join(map(self.flavour.name, query.columns))
        chosen = self._selected(query.where)
        if self._single:
            kept = self._row_kept(query.policy, query.coins)
            return f"SELECT {columns} FROM {self.relation.source} osd_t WHERE {chosen} AND {kept}"
        units = self._kept_units(query.policy, query.coins)
        inside = self.flavour.semi_join(self._keys, units, chosen)
        shown = [*query.columns, *_columns(query.where)]
        source = self.relation.reading(shown, self.flavour)
        return f"SELECT {columns} FROM {source} osd_t {inside}"

    def sorting(self, columns: tuple[str, ...]) -> tuple[list[str], list[str]]:
        """What the rows of keyed units are sorted by: the key and all that is no text, then texts.

        Texts come last, so that an engine may leave them out and settle the few ties later.
        """
        keys = [column for column in self.relation.unit.columns if column in columns]
        rest = [column for column in columns if column not in keys]
        texts = [column for column in rest if self.relation.schema[column].type is Type.TEXT]
        return [*keys, *(column for column in rest if column not in texts)], texts

    def order(self, columns: tuple[str, ...]) -> str:
        """Sorts the rows by `sorting`."""
        first, texts = self.sorting(columns)
        return self.order_by([*first, *texts])

    def order_by(self, columns: list[str]) -> str:
        """Sorts by these columns, NULL first."""
        terms = [f"{self.flavour.name(each)} NULLS FIRST" for each in columns]
        return f" ORDER BY {', '.join(terms)}"

    def count(self, query: CountQuery) -> str:
        """One row per group: its keys, then the counts (or sums) of all and non-sensitive units."""
        if self.relation.unique and isinstance(query.policy, ClosedPredicate):
            return self._by_unit.count(query)
        if query.grams is not None:
            return self._over(query.grams).count(replace(query, grams=None))
        if query.lookups:
            return self._joined(query.lookups).count(replace(query, lookups=()))
        prelude, source = self._tallied(query) if query.tally else self._counted(query)
        groups = _groups(query.listed)
        figures = [
            f"CAST(coalesce({figure}, 0) AS BIGINT) AS {name}"
            for figure, name in self._figures(query.totals)
        ]
        statement = f"{prelude}SELECT {', '.join([*groups, *figures])} FROM {source}"
        if not groups:
            return statement
        ordering = ", ".join(f"{group} NULLS FIRST" for group in groups)
        return f"{statement} GROUP BY {', '.join(groups)} ORDER BY {ordering}"

    def _figures(self, totals: tuple[Total, ...]) -> list[tuple[str, str]]:
        """Two aggregates a figure, over all units and over non-sensitive ones, and their names."""
        if not totals:
            open_part = self.flavour.count_where("NOT osd_sensitive", scan=self._single)
            return [("count(*)", "osd_all"), (open_part, "osd_ns")]
        return [
            aggregate
            for place, amount in enumerate(amounts(totals))
            for aggregate in (
                (f"sum({amount})", f"osd_all{place}"),
                (f"sum({amount}) FILTER (WHERE NOT osd_sensitive)", f"osd_ns{place}"),
            )
        ]

    def _over(self, grams: Ngrams) -> Statements:
        """The same statements on the table with the columns of the n-grams."""
        relation = self.relation
        source = view(relation.source, relation.schema, relation.unit, grams, self.flavour)
        schema = widened(relation.schema, grams)
        return replace(self, relation=replace(relation, source=source, schema=schema, beside=()))

    def _joined(self, lookups: tuple[Lookup, ...]) -> Statements:
        """The same statements on the table with the columns of public tables."""
        source = looked_up(self.relation.source, lookups, self.flavour)
        return replace(self, relation=replace(self.relation, source=source, beside=()))

    def _tallied(self, query: CountQuery) -> tuple[str, str]:
        """As `_counted`, for the number of groups of each unit; a group of its own is its key."""
        assert not self._single
        prelude, pairs = self._pairs(query, _groups(query.by))
        (number,) = _groups(query.listed)
        units = (
            f"SELECT count(*) AS {number}, bool_or(osd_sensitive) AS osd_sensitive FROM {pairs} "
            f"GROUP BY {self._listed_keys}"
        )
        return prelude, f"({units}) osd_r"

    def _counted(self, query: CountQuery) -> tuple[str, str]:
        """What stands before the counting statement, and what it reads."""
        groups = _groups(query.by)
        if self._single:
            return "", self._rows(query, groups)
        constant = all(set(key.columns) <= set(self.relation.unit.columns) for key in query.by)
        if constant and query.where is None and not query.totals:
            listed = ", ".join([*self._named_groups(query, groups), "osd_sensitive"])
            return "", f"(SELECT {listed} FROM ({self._units(query)}) osd_u) osd_r"
        if self._are_determined(query):
            return "", f"({self._units(query, groups)}) osd_r"
        return self._pairs(query, groups)

    def _are_determined(self, query: CountQuery) -> bool:
        """Whether a unit's key says its group, by what is looked up, so that one pass is enough."""
        if query.where is not None or query.totals or query.coins is not None:
            return False
        unit = self.relation.unit.columns
        known = frozenset(unit).union(*(each.determined(unit) for each in self.relation.beside))
        return bool(query.by) and all(known.issuperset(key.columns) for key in query.by)

    def _rows(self, query: CountQuery, groups: list[str]) -> str:
        """Every row is a unit and lies in exactly one group."""
        chosen = self._selected(query.where)
        if query.coins is not None:
            chosen = f"{chosen} AND {self._row_kept(query.policy, query.coins)}"
        elif self.relation.unique:
            chosen = f"{chosen} AND {self._present()}"
        listed = [
            *self._named_groups(query, groups),
            f"{self._is_sensitive(query.policy)} AS osd_sensitive",
        ]
        for total, amount in zip(query.totals, amounts(query.totals), strict=True):
            listed.append(f"{self._clipped(total, self._steps(total))} AS {amount}")
        source = f"{self.relation.source} osd_t"
        return f"(SELECT {', '.join(listed)} FROM {source} WHERE {chosen}) osd_r"

    def _pairs(self, query: CountQuery, groups: list[str]) -> tuple[str, str]:
        """Pairs of a unit and a group, cut to `max_groups` of each unit where that is asked."""
        late = [place for place, key in enumerate(query.by) if self._is_late(key)]
        early = [place for place in range(len(query.by)) if place not in late]
        named = self._named_groups(query, groups)
        listed = [*self._keys, *(named[place] for place in early)]
        for total, amount in zip(query.totals, amounts(query.totals), strict=True):
            summed = self.flavour.sum_of(self._steps(total))
            listed.append(f"{self._clipped(total, summed)} AS {amount}")
        read = {name for place in early for name in query.by[place].columns}
        read |= {name for each in query.totals if each.value for name in each.value.columns}
        source = self.relation.reading([*read, *_columns(query.where)], self.flavour)
        pairs = (
            f"SELECT {', '.join(listed)} FROM {source} osd_t "
            f"WHERE {self._selected(query.where)} AND {self._present()} "
            f"GROUP BY {', '.join([*self._keys, *(groups[place] for place in early)])}"
        )
        if late:
            # Looked up once for a pair, and not for each of its rows.
            read = {name for place in late for name in query.by[place].columns}
            wide = looked_up_beside(
                f"({pairs})", self.relation.beside, read, self.flavour, choosing=False
            )
            whole = [named[at] if at in late else group for at, group in enumerate(groups)]
            listed = [*self._keys, *whole, *amounts(query.totals)]
            pairs = f"SELECT {', '.join(listed)} FROM {wide} osd_t"
        prelude = f"WITH osd_u AS ({self._units(query)}), osd_p AS ({pairs})"
        met = f"osd_p JOIN {self.flavour.met_units} USING ({self._listed_keys})"
        return self._cut(query, groups, prelude, met)

    def _is_late(self, key: BoundKey) -> bool:
        """Whether a key is made of what a unit's key finds, and of nothing else."""
        unit = self.relation.unit.columns
        found = frozenset[str]().union(*(each.determined(unit) for each in self.relation.beside))
        return bool(key.columns) and found.issuperset(key.columns)

    def _cut(
        self, query: CountQuery, groups: list[str], prelude: str, pairs: str
    ) -> tuple[str, str]:
        """What `_pairs` gives, from all pairs with their sensitivity, which `prelude` defines."""
        if query.max_groups is None:
            return f"{prelude} ", pairs
        kinds = [(group, key.type) for group, key in zip(groups, query.by, strict=True)]
        digest = self.flavour.digest(self._key_text())
        rule = Cut(self._keys, digest, kinds, query.max_groups, counting=not query.totals)
        return f"{prelude}, {self.flavour.cut(pairs, rule)} ", "osd_m"

    def _units(self, query: CountQuery, groups: Sequence[str] = ()) -> str:
        """One row per unit: its key and whether it is sensitive; only kept ones where coins are.

        - `groups`: of keys that are constant within each unit, which the row has too.
        """
        if query.coins is not None:
            return self._kept_units(query.policy, query.coins)
        named = self._named_groups(query, [*groups]) if groups else []
        read = {name for key in query.by for name in key.columns} if groups else set()
        source = self.relation.reading(read | {*query.policy.columns}, self.flavour)
        shown, names = [*self._keys, *named], [*self._keys, *groups]
        if isinstance(query.policy, ClosedPredicate):
            source = closed_rows(source, query.policy, self._keys, shown, names, self.flavour)
            shown = names
        return self._chosen(
            f"SELECT {', '.join(shown)}, bool_or({self._is_sensitive(query.policy)}) "
            f"AS osd_sensitive FROM {source} osd_t "
            f"WHERE {self._present()} GROUP BY {', '.join(names)}"
        )

    def _kept_units(self, policy: BoundPredicate, coins: Coins) -> str:
        kept = self._kept(f"bool_or({self._is_sensitive(policy)})", self._key_text(), coins)
        source = self.relation.reading(policy.columns, self.flavour)
        if isinstance(policy, ClosedPredicate):
            keys = self._keys
            source = closed_rows(source, policy, keys, keys, keys, self.flavour)
        return self._chosen(
            f"SELECT {self._listed_keys}, FALSE AS osd_sensitive FROM {source} osd_t "
            f"WHERE {self._present()} GROUP BY {self._listed_keys} HAVING {kept}"
        )

    def _chosen(self, units: str) -> str:
        return chosen_units(units, self.relation.beside, self.flavour)

    def _row_kept(self, policy: BoundPredicate, coins: Coins) -> str:
        if self.relation.unit.is_row:
            return self._kept(self._is_sensitive(policy), self.relation.row_text, coins)
        kept = self._kept(self._is_sensitive(policy), self._key_text(), coins)
        return f"{self._present()} AND {kept}"

    def _kept(self, sensitive: str, text: str, coins: Coins) -> str:
        """CASE rather than AND: the coin of a sensitive unit is then not even computed."""
        coin = self.flavour.sha256(f"{self.relation.coin_key} || {text}")
        return f"CASE WHEN {sensitive} THEN FALSE ELSE {coin} < '{coins.threshold}' END"

    @property
    def _by_unit(self) -> Self:
        """The same statements, that bring the rows of a unit together even where it has one."""
        return replace(self, relation=replace(self.relation, unique=False))

    def _is_sensitive(self, policy: BoundPredicate) -> str:
        """Of a row; of a closed policy `closed_rows` has found it out."""
        if isinstance(policy, ClosedPredicate):
            return "osd_row"
        return f"(({policy.render(self.flavour.writer)}) IS NOT FALSE)"

    def _selected(self, where: BoundPredicate | None) -> str:
        """For WHERE, which leaves out NULL; bare, so that an engine can skip what cannot match."""
        return "TRUE" if where is None else f"({where.render(self.flavour.writer)})"

    @property
    def _keys(self) -> list[str]:
        return [self.flavour.name(column) for column in self.relation.unit.columns]

    @property
    def _listed_keys(self) -> str:
        return ", ".join(self._keys)

    @property
    def _single(self) -> bool:
        """Whether every unit is one row."""
        return self.relation.unit.is_row or self.relation.unique

    def _key_text(self) -> str:
        """The text of a unit's key."""
        schema = self.relation.schema
        return self.flavour.key_text(
            [
                (self.flavour.name(column), schema[column].type)
                for column in self.relation.unit.columns
            ]
        )

    def _present(self) -> str:
        """Rows with a NULL in their key belong to no unit."""
        return " AND ".join(f"{key} IS NOT NULL" for key in self._keys)

    def _named_groups(self, query: CountQuery, groups: list[str]) -> list[str]:
        return [
            f"{key.render(self.flavour.writer)} AS {group}"
            for group, key in zip(groups, query.by, strict=True)
        ]

    def _steps(self, total: Total) -> str:
        value = total.value
        if value is None:
            return "1"
        # A column is taken as it is: the engine knows best how to make its numbers floats.
        plain = isinstance(value.expression, Column)
        text = self.flavour.name(value.name) if plain else value.render(self.flavour.writer)
        return self.flavour.whole_steps(text, total.grid)

    def _clipped(self, total: Total, amount: str) -> str:
        """An amount of grid steps clipped to [0, steps]; NULL adds nothing."""
        return f"coalesce(least(greatest({amount}, 0), {total.steps}), 0)"


def _columns(where: BoundPredicate | None) -> tuple[str, ...]:
    return () if where is None else where.columns


def _groups(keys: tuple[BoundKey, ...]) -> list[str]:
    """The columns that hold the group keys."""
    return [f"osd_g{index}" for index in range(len(keys))]


def amounts(totals: tuple[Total, ...]) -> list[str]:
    """The columns that hold what a unit adds to each of the totals."""
    return [f"osd_amount{place}" for place in range(len(totals))]
