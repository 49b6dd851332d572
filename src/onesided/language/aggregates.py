"""Aggregates of a SELECT: which figure each of them asks for.

A condition inside of an aggregate is a filter on its rows, however it is written. So
`COUNT(*) FILTER (WHERE late)`, `SUM(CASE WHEN late THEN 1 ELSE 0 END)` and `COUNT_IF(late)` are one
figure. `COUNT(email)` counts the rows in which there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from onesided.errors import RequestError
from onesided.language.canonical import canonical_text
from onesided.language.names import Names
from onesided.language.nodes import only, unwrapped
from onesided.language.parser import Conversion
from onesided.language.predicate import Key, Predicate
from onesided.language.query import Aggregate, SelectFigure
from onesided.language.refusals import shown
from onesided.language.tree import And, Case, Expression, IsNull, Literal, Not

_PLAIN = (exp.Count, exp.CountIf, exp.Sum, exp.Avg, exp.ApproxDistinct)
AGGREGATES = (*_PLAIN, exp.Filter)
"""The nodes that stand for figures."""

_INSTEAD: tuple[tuple[tuple[type[exp.Expression], ...], str], ...] = (
    ((exp.Max, exp.Min, exp.First, exp.Last, exp.AnyValue, exp.ArgMax, exp.ArgMin),
     "it shows a single record; ask for a quantile, such as QUANTILE_CONT(…, 0.99)"),
    ((exp.Mode,),
     "it would show which value is the most frequent without noise; GROUP BY it and count"),
    ((exp.ArrayAgg, exp.GroupConcat), "it shows single records; ask for a sample instead"),
)  # fmt: skip


class RowExpressions(Conversion):
    """Expressions over the rows of the data and the joined public tables: WHERE and keys."""

    def __init__(self, names: Names) -> None:
        super().__init__()
        self._names = names

    def column(self, node: exp.Expression, depth: int) -> Expression:
        return self._names.column(node)


@dataclass(frozen=True)
class FigureReader:
    """Reads aggregates over the tables of one statement."""

    names: Names

    def figure(self, node: exp.Expression) -> SelectFigure:
        """The figure that an aggregate asks for."""
        if type(node) is not exp.Filter:
            return self._plain(node)
        only(node, "this", "expression")
        inner = unwrapped(node.this)
        if not isinstance(inner, _PLAIN):
            refuse_aggregate(inner)
            raise RequestError(f"{shown(node)} is not allowed: FILTER follows COUNT, SUM or AVG.")
        return self.filtered(self._plain(inner), node)

    def filtered(self, figure: SelectFigure, node: exp.Filter) -> SelectFigure:
        """A figure over the rows that FILTER leaves."""
        return _where(figure, self._tree(node.args["expression"].this))

    def value(self, node: exp.Expression) -> Key:
        """The one argument of an aggregate, a value of each row."""
        only(node, "this")
        return self.key(node.this, node)

    def key(self, argument: object, node: exp.Expression) -> Key:
        """The value of each row that `argument` of the aggregate `node` is."""
        return _value(self._tree(argument), node)

    def _plain(self, node: exp.Expression) -> SelectFigure:
        allowed = {"this", "big_int"} if type(node) is exp.Count else {"this"}
        present = {name for name, value in node.args.items() if value}
        if not present <= allowed:
            raise RequestError(f"{shown(node)} is not allowed: an aggregate has one argument.")
        if type(node) is exp.Count:
            return self._count(node)
        if type(node) is exp.ApproxDistinct:
            return self._units(exp.Distinct(expressions=[node.this.copy()]))
        if type(node) is exp.CountIf:
            return _where(SelectFigure(Aggregate.ROWS), self._tree(node.this))
        if type(unwrapped(node.this)) is exp.Distinct:
            raise RequestError(
                f"{shown(node)} is not allowed: only units are counted without repetition."
            )
        tree = self._tree(node.this)
        if type(node) is exp.Avg:
            return SelectFigure(Aggregate.MEAN, value=_value(tree, node))
        return _sum(tree, node)

    def _count(self, node: exp.Count) -> SelectFigure:
        what = unwrapped(node.this)
        if type(what) is exp.Star and not any(what.args.values()):
            return SelectFigure(Aggregate.ROWS)
        if type(what) is exp.Distinct and {name for name, each in what.args.items() if each} == {
            "expressions"
        }:
            return self._units(what)
        return _where(SelectFigure(Aggregate.ROWS), Not(IsNull(self._tree(what))))

    def _units(self, node: exp.Distinct) -> SelectFigure:
        parts = [part for each in node.expressions for part in _members(each)]
        trees = [self._tree(part) for part in parts]
        match trees:
            case [Case(None, ((condition, key),), None)]:
                return _where(_units_or_values(key), condition)
            case [key]:
                return _units_or_values(key)
        return SelectFigure(Aggregate.UNITS, tuple(Key(tree).name for tree in trees))

    def _tree(self, node: object) -> Expression:
        """What a part of a row is, in its canonical form."""
        refuse_aggregate(node)
        return RowExpressions(self.names).convert(node, 0)


def _units_or_values(tree: Expression) -> SelectFigure:
    """Of one column, which is the units' key, or of which the values are counted."""
    return SelectFigure(Aggregate.UNITS, (Key(tree).name,), value=Key.parse(canonical_text(tree)))


def _sum(tree: Expression, node: exp.Expression) -> SelectFigure:
    """A sum of ones counts rows; of a value under a condition, it is a sum of fewer rows."""
    match tree:
        case Literal(_, 1):
            return SelectFigure(Aggregate.ROWS)
        case Case(None, ((condition, value),), None | Literal(_, 0 | None)):
            return _where(_sum(value, node), condition)
        case _:
            return SelectFigure(Aggregate.SUM, value=_value(tree, node))


def _value(tree: Expression, node: exp.Expression) -> Key:
    key = Key(tree)
    if not key.columns:
        raise RequestError(f"{shown(node)} is not allowed: name a column in it.")
    return Key.parse(canonical_text(tree))


def _where(figure: SelectFigure, condition: Expression) -> SelectFigure:
    """The figure over those of its rows for which the condition holds."""
    whole = condition if figure.where is None else And((condition, figure.where.expression))
    return replace(figure, where=Predicate.parse(canonical_text(whole)))


def _members(node: object) -> Sequence[object]:
    """COUNT(DISTINCT (a, b)) and COUNT(DISTINCT a, b) say the same."""
    inner = unwrapped(node)
    if type(inner) is exp.Tuple:
        only(inner, "expressions")
        members: Sequence[object] = inner.expressions
        return members
    return [inner]


def refuse_aggregate(node: object) -> None:
    """Refuse what is no value of a single row, and say why."""
    if not isinstance(node, exp.Expression):
        return
    for part in node.walk():
        if isinstance(part, exp.Window):
            raise RequestError(
                f"The window {shown(part)} is not allowed: it would see the data themselves."
            )
        if isinstance(part, exp.Subquery | exp.Select | exp.Exists):
            raise RequestError(
                "A subquery is not allowed there: ask one SELECT after the other; WITH and FROM "
                "take one that only filters and chooses columns."
            )
        if isinstance(part, exp.AggFunc):
            raise RequestError(f"{shown(part)} is not allowed: {_reason(part)}.")


def _reason(node: exp.Expression | exp.AggFunc) -> str:
    for kinds, reason in _INSTEAD:
        if isinstance(node, kinds):
            return reason
    if isinstance(node, AGGREGATES):
        return "aggregates do not stand within each other, nor in WHERE or GROUP BY"
    return "the figures are COUNT, SUM, AVG, variances and quantiles"
