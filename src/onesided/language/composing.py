"""WITH, subqueries and UNION: what a statement asks of the data, and what it makes of the answers.

A SELECT that only filters and chooses columns is written into the one around it. One that counts is
asked of the data, and all that stands around it is computed from its answer, for free.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from sqlglot import exp

from onesided.errors import RequestError
from onesided.language.flattening import merged
from onesided.language.nodes import only, unwrapped
from onesided.language.over_released import over_released
from onesided.language.parser import MAX_DEPTH
from onesided.language.quantiles import is_quantile

Check: TypeAlias = Callable[[object], exp.Select]
"""Refuses what is no SELECT of the clauses that are understood."""
_MOST_ASKED = 16


@dataclass(frozen=True)
class Composition:
    """What is asked of the data, in order.

    - `outer`: what is made of the answers, in DuckDB's SQL over the tables that `answer_table`
      names; None where the one answer is all.
    """

    asked: tuple[exp.Select, ...]
    outer: str | None


def composition(statement: object, check: Check) -> Composition:
    """The parts of a statement."""
    composing = _Composing(check)
    found = composing.of(statement, {}, 0)
    if isinstance(found, _Rows):
        return Composition((found.select,), None)
    if isinstance(found, _Asked):
        return Composition((composing.asked[found.place],), None)
    return Composition(tuple(composing.asked), over_released(found.query))


def answer_table(place: int) -> str:
    """What the answer to a SELECT is called where it is computed with."""
    return f"osd_t{place}"


@dataclass(frozen=True)
class _Rows:
    """A SELECT of rows of the data, which only filters and chooses columns."""

    select: exp.Select


@dataclass(frozen=True)
class _Asked:
    """The answer to a SELECT that is asked of the data."""

    place: int

    @property
    def query(self) -> exp.Expression:
        return exp.Select(expressions=[exp.Star()]).from_(answer_table(self.place))


@dataclass(frozen=True)
class _Made:
    """What is made of answers."""

    query: exp.Expression


_Found: TypeAlias = _Rows | _Asked | _Made


@dataclass
class _Composing:
    check: Check
    asked: list[exp.Select] = field(default_factory=list)

    def of(self, node: object, known: Mapping[str, _Found], depth: int) -> _Found:
        """What a query is; `known` are those that WITH has named so far."""
        if depth > MAX_DEPTH:
            raise RequestError("Subqueries are nested too deeply; write them more simply.")
        inner = unwrapped(node)
        if type(inner) is exp.Subquery and not inner.alias:
            inner = unwrapped(inner.this)
        named = self._named(inner, known, depth)
        if isinstance(inner, exp.SetOperation):
            return self._together(inner, named, depth)
        statement = self.check(inner)
        source = statement.args.get("from_")
        if source is None and not is_asked(statement):
            return _Made(statement.copy())  # constants, which ask nothing
        found, alias = (None, "") if source is None else self._source(source.this, named, depth)
        if isinstance(found, _Asked | _Made):
            return self._around(statement, named, depth)
        if isinstance(found, _Rows):
            statement = merged(statement, found.select.copy(), alias)
        return self._ask(statement) if is_asked(statement) else _Rows(statement)

    def _named(self, node: object, known: Mapping[str, _Found], depth: int) -> dict[str, _Found]:
        named = dict(known)
        if not isinstance(node, exp.Expression):
            return named
        clause = node.args.get("with_")
        if clause is not None:
            only(clause, "expressions")
            for each in clause.expressions:
                only(each, "this", "alias")
                named[each.alias.lower()] = self.of(each.this, named, depth + 1)
            node.set("with_", None)
        return named

    def _source(
        self, source: object, named: Mapping[str, _Found], depth: int
    ) -> tuple[_Found | None, str]:
        """What FROM names or holds, and what it is called; None for a table of the data."""
        node = unwrapped(source)
        if type(node) is exp.Subquery:
            only(node, "this", "alias")
            return self.of(node.this, named, depth + 1), node.alias
        if type(node) is exp.Table and node.name.lower() in named and not node.args.get("db"):
            return named[node.name.lower()], node.alias or node.name
        return None, ""

    def _ask(self, statement: exp.Select) -> _Asked:
        if len(self.asked) == _MOST_ASKED:
            raise RequestError(f"More than {_MOST_ASKED} SELECTs are asked at once; ask fewer.")
        self.asked.append(statement)
        return _Asked(len(self.asked) - 1)

    def _together(self, node: exp.SetOperation, named: Mapping[str, _Found], depth: int) -> _Made:
        """UNION and its like of answers; of rows only by which values occur, without repetition."""
        sides = [self.of(each, named, depth + 1) for each in (node.this, node.expression)]
        if node.args.get("distinct"):
            sides = [self._listed(each) if isinstance(each, _Rows) else each for each in sides]
        if any(isinstance(each, _Rows) for each in sides):
            raise RequestError(
                f"{node.key.upper()} of rows is not allowed: it would show single records."
            )
        left, right = (each.query for each in sides if not isinstance(each, _Rows))
        changed = node.copy()
        changed.set("this", left)
        changed.set("expression", right)
        return _Made(changed)

    def _listed(self, rows: _Rows) -> _Asked:
        """Which values there are."""
        rows.select.set("distinct", exp.Distinct())
        return self._ask(rows.select)

    def _around(self, statement: exp.Select, named: Mapping[str, _Found], depth: int) -> _Made:
        """A SELECT over answers, in which every table and subquery is one."""
        changed = statement.copy()
        for part in list(changed.find_all(exp.Table, exp.Subquery)):
            if part.find_ancestor(exp.Subquery) is not None:
                continue  # it is found with the one around it
            if isinstance(part, exp.Subquery):
                found: _Found | None = self.of(part.this, named, depth + 1)
                alias = part.alias
            else:
                found, alias = self._source(part, named, depth)
            if not isinstance(found, _Asked | _Made):
                raise RequestError(
                    f"{part.alias_or_name or 'A subquery'} is not counted or grouped: beside "
                    "figures that are released, only such are joined."
                )
            query = exp.Subquery(this=found.query)
            if alias:
                query.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
            part.replace(query)
        return _Made(changed)


def is_asked(statement: exp.Select) -> bool:
    """Whether a SELECT of rows counts, adds up or groups them."""
    if any(statement.args.get(name) for name in ("group", "distinct", "having")):
        return True
    return any(_is_figure(part) for each in statement.expressions for part in each.walk())


def _is_figure(part: exp.Expression) -> bool:
    """Whether it is an aggregate, and no function of a window."""
    if not isinstance(part, exp.AggFunc | exp.CountIf) and not is_quantile(part):
        return False
    above = part.parent
    while isinstance(above, exp.Filter | exp.IgnoreNulls | exp.WithinGroup):
        above = above.parent
    return not isinstance(above, exp.Window)
