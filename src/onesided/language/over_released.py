"""SELECTs over released tables: anything that follows from them alone, by an allow-list."""

from __future__ import annotations

import re
from collections.abc import Collection

from sqlglot import exp

from onesided.errors import RequestError
from onesided.language.nodes import unwrapped
from onesided.language.parser import DIALECT, MAX_NODES, read_statements
from onesided.language.refusals import shown
from onesided.language.released import COMPUTED, checked_cast
from onesided.language.statement import prepared
from onesided.language.windows import FUNCTIONS

_SHAPES = (
    *(exp.Select, exp.From, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Limit),
    *(exp.Offset, exp.Fetch, exp.LimitOptions, exp.Join, exp.Table, exp.TableAlias),
    *(exp.Identifier, exp.Column, exp.Star, exp.Alias, exp.Subquery, exp.Distinct, exp.Qualify),
    *(exp.Window, exp.WindowSpec, exp.IgnoreNulls, exp.Filter, exp.Exists, exp.Rollup, exp.Cube),
    *(exp.GroupingSets, exp.Tuple, exp.Var, exp.Interval, exp.Union, exp.Except, exp.Intersect),
    *(exp.DataType, exp.DataTypeParam, exp.WithinGroup, exp.Array, exp.CountIf, exp.With, exp.CTE),
)
_FIGURES = (
    *FUNCTIONS,
    *(exp.Quantile, exp.ApproxQuantile, exp.PercentileCont, exp.PercentileDisc, exp.Mode),
    *(exp.Corr, exp.ArgMax, exp.ArgMin, exp.AnyValue, exp.First, exp.Last, exp.GroupConcat),
)
_ANSWER = re.compile(r"osd_t\d+")
_ALLOWED: tuple[type[exp.Expression], ...] = (*_SHAPES, *_FIGURES, *COMPUTED)
_MAY_FAIL = (exp.Sqrt, exp.Ln, exp.Log, exp.Pow, exp.Exp, exp.Mul, exp.Add, exp.Sub)
_WHOLE_ROWS = (exp.AggFunc, exp.Window, exp.Subquery, exp.Select, exp.CountIf)


def read_over_released(text: str, known: Collection[str]) -> tuple[str, tuple[str, ...]]:
    """A query over released tables, and which of the `known` ones it reads."""
    statement = read_statements(prepared(text, ()), "The statement")[0]
    if not isinstance(statement, exp.Select | exp.SetOperation):
        raise RequestError("Only a SELECT is answered; ask one.")
    made = {each.alias.lower() for each in statement.find_all(exp.CTE)}
    named = dict.fromkeys(
        table.name for table in statement.find_all(exp.Table) if table.name.lower() not in made
    )
    for name in named:
        if name not in known:
            listed = ", ".join(sorted(known))
            raise RequestError(f"There is no released table {name}; these are: {listed}.")
    return over_released(statement, frozenset({*named, *made})), tuple(named)


def over_released(query: exp.Expression, tables: Collection[str] | None = None) -> str:
    """The text of a query over released tables, in DuckDB's SQL.

    What fails for some row is NULL there, as far as it is computed from the row alone.

    - `tables`: what they are called; by default as answers are.
    """
    if sum(1 for _ in query.walk()) > MAX_NODES:
        raise RequestError("The statement is too long; ask for it in parts.")
    changed = query.copy()
    for table in changed.find_all(exp.Table):
        known = _ANSWER.fullmatch(table.name) if tables is None else table.name in tables
        plain = type(table.this) is exp.Identifier and not table.args.get("db")
        if not known or not plain:
            raise RequestError(f"{shown(table)} is not allowed in FROM: name a released table.")
    for part in list(changed.walk()):
        if not isinstance(part, _ALLOWED):
            raise RequestError(
                f"{shown(part)} is not allowed: over released values only what follows from them "
                "is computed, by the usual functions."
            )
        if isinstance(part, exp.Cast | exp.TryCast):
            part.replace(checked_cast(part))
    for part in list(changed.find_all(*_MAY_FAIL)):
        if not any(isinstance(each, _WHOLE_ROWS) for each in part.walk()) and not isinstance(
            part.parent, _MAY_FAIL
        ):
            part.replace(exp.Anonymous(this="TRY", expressions=[part.copy()]))
    return _ordered(changed).sql(dialect=DIALECT, comments=False)


def _ordered(query: exp.Expression) -> exp.Expression:
    """In the order of all columns, where the query says none."""
    if any(query.args.get(name) for name in ("order", "limit", "offset")):
        return query
    inner = unwrapped(query)
    assert isinstance(inner, exp.Expression)
    whole = exp.Subquery(
        this=inner, alias=exp.TableAlias(this=exp.to_identifier("osd_whole", quoted=True))
    )
    every = exp.Ordered(this=exp.Var(this="ALL"), nulls_first=False)
    return exp.Select(expressions=[exp.Star()]).from_(whole).order_by(every)
