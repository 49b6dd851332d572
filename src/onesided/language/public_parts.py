"""Subqueries over public tables alone: they are computed before anything is asked, and for free.

`IN (SELECT …)` becomes a list of literals, and so does EXISTS with one comparison. In FROM and WITH
such a SELECT is one more public table. What they hold everybody may see, so that nothing of the
data is in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import sqlglot
from sqlglot import exp

from onesided.errors import RequestError
from onesided.language.canonical import literal_text
from onesided.language.nodes import only, unwrapped
from onesided.language.over_released import over_released
from onesided.language.parser import DIALECT
from onesided.language.query import Catalogue
from onesided.language.refusals import shown
from onesided.language.tree import Value
from onesided.language.types import Schema

MOST_LISTED = 1_000


class PublicTables(Protocol):
    """What can be computed from public tables; each query reads the tables that are named."""

    def values(self, query: str, named: Sequence[str]) -> list[Value]:
        """The values of its one column, each once."""
        ...

    def make(self, name: str, query: str, named: Sequence[str]) -> Schema:
        """Keep its rows as one more public table."""
        ...


def with_public_parts(
    statement: exp.Expression, catalogue: Catalogue, tables: PublicTables
) -> Catalogue:
    """The tables that a statement may name once its public parts are computed and replaced."""
    made = {each.alias.lower() for each in statement.find_all(exp.CTE)}
    computing = _Computing(catalogue, tables, made)
    for node in [each for each in statement.walk() if isinstance(each, exp.With)]:
        computing.named(node)
    for exists in list(statement.find_all(exp.Exists)):
        computing.exists(exists)
    for member in list(statement.find_all(exp.In)):
        computing.member(member)
    for subquery in list(statement.find_all(exp.Subquery)):
        if isinstance(subquery.parent, exp.From | exp.Join):
            computing.table(subquery)
    return computing.catalogue


class _Computing:
    """One pass over a statement; what WITH names is no declared table of that name."""

    def __init__(self, catalogue: Catalogue, tables: PublicTables, named: set[str]) -> None:
        self.catalogue = catalogue
        self._tables = tables
        self._hidden = {each for each in catalogue.public if each.lower() in named}

    def named(self, node: exp.With) -> None:
        """Parts of WITH become public tables of that name."""
        kept = []
        for each in node.expressions:
            query = self._query(each.this)
            if query is None or each.alias.lower() in map(str.lower, self.catalogue.public):
                kept.append(each)
            else:
                self._make(each.alias, *query)
        if kept:
            node.set("expressions", kept)
        elif node.parent is not None:
            node.parent.set("with_", None)

    def table(self, node: exp.Subquery) -> None:
        query = self._query(node.this)
        if query is None:
            return
        if not node.alias:
            raise RequestError(f"Give {shown(node)} a name: {shown(node)} AS ….")
        name = f"osd_p{len(self.catalogue.public)}"
        self._make(name, *query)
        alias = exp.TableAlias(this=exp.to_identifier(node.alias, quoted=True))
        node.replace(exp.Table(this=exp.to_identifier(name, quoted=True), alias=alias))

    def member(self, node: exp.In) -> None:
        """`x IN (SELECT …)`"""
        inner = node.args.get("query")
        query = None if inner is None else self._query(inner)
        if query is not None:
            node.replace(self._listed(node.this, query))

    def exists(self, node: exp.Exists) -> None:
        """EXISTS (SELECT … WHERE public = own AND …), which is never NULL."""
        inner = unwrapped(node.this)
        if type(inner) is not exp.Select or inner.args.get("where") is None:
            return
        parts = _conjuncts(inner.args["where"].this)
        pairs = [(part, sides) for part in parts if (sides := self._apart(part, inner)) is not None]
        if len(pairs) != 1:
            return
        part, (own, public) = pairs[0]
        others = [each for each in parts if each is not part]
        asked = exp.Select(expressions=[public.copy()], from_=inner.args["from_"].copy())
        for each in [*others, exp.Not(this=exp.Is(this=public.copy(), expression=exp.Null()))]:
            asked = asked.where(each.copy())
        query = self._query(asked)
        if query is not None:
            found = exp.Paren(this=self._listed(own, query))
            node.replace(exp.Paren(this=exp.Is(this=found, expression=exp.true())))

    def _apart(
        self, part: exp.Expression, inner: exp.Select
    ) -> tuple[exp.Expression, exp.Expression] | None:
        """The sides of an equality of an outer column with one of the public table."""
        source = inner.args.get("from_")
        if type(part) is not exp.EQ or source is None or inner.args.get("joins"):
            return None
        alias = source.this.alias_or_name.lower()
        sides = [unwrapped(part.this), unwrapped(part.args["expression"])]
        own: list[exp.Expression] = []
        public: list[exp.Expression] = []
        for side in sides:
            if type(side) is not exp.Column or side.args.get("table") is None:
                return None
            (public if side.args["table"].name.lower() == alias else own).append(side)
        return (own[0], public[0]) if own and public else None

    def _listed(self, of: exp.Expression, query: tuple[str, list[str]]) -> exp.Expression:
        values = self._tables.values(*query)
        if len(values) > MOST_LISTED:
            raise RequestError(
                f"A subquery over public tables lists more than {MOST_LISTED:,} values; join the "
                "table instead."
            )
        if not values:
            return exp.false()
        literals = [sqlglot.parse_one(literal_text(each), read=DIALECT) for each in values]
        return exp.In(this=of.copy(), expressions=literals)

    def _make(self, name: str, query: str, named: list[str]) -> None:
        schema = self._tables.make(name, query, named)
        self.catalogue = replace(self.catalogue, public={**self.catalogue.public, name: schema})

    def _query(self, node: object) -> tuple[str, list[str]] | None:
        """The text of a SELECT that reads public tables alone, and which."""
        inner = unwrapped(node)
        if type(inner) is exp.Subquery and not inner.alias:
            inner = unwrapped(inner.this)
        if not isinstance(inner, exp.Select):
            return None
        query = inner.copy()
        known = {each.lower(): each for each in self.catalogue.public if each not in self._hidden}
        named = {}
        for table in query.find_all(exp.Table):
            if table.name.lower() not in known:
                return None
            declared = known[table.name.lower()]
            only(table, "this", "alias", "db")
            if not table.alias:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name)))
            table.set("db", None)
            table.set("this", exp.to_identifier(declared, quoted=True))
            named[declared] = True
        return (over_released(query, set(named)), list(named)) if named else None


def _conjuncts(node: object) -> list[exp.Expression]:
    inner = unwrapped(node)
    if type(inner) is exp.And:
        return [*_conjuncts(inner.this), *_conjuncts(inner.args["expression"])]
    return [inner] if isinstance(inner, exp.Expression) else []
