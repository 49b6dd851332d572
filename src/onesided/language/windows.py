"""Windows over released values: running sums, ranks and neighbours of the rows of an answer.

The rows are groups that were released. So a window sees nothing of the data, and costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from onesided.errors import RequestError
from onesided.language.nodes import only, unwrapped
from onesided.language.refusals import shown

FUNCTIONS = (
    *(exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile),
    *(exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue),
    *(exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Count, exp.Median),
    *(exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop),
)
"""What a window may compute."""
_WHOLE = (exp.Ntile, exp.NthValue)
"""Functions with a number of rows, which fail where that is none."""
_SIDES = ("UNBOUNDED", "CURRENT ROW", "PRECEDING", "FOLLOWING")

Changed = Callable[[object], exp.Expression]
"""An expression over released values."""


def window(node: exp.Window, changed: Changed) -> exp.Expression:
    """The same window over released values; what fails within it for some value is NULL."""
    only(node, "this", "partition_by", "order", "spec", "over")

    def guarded(part: object) -> exp.Expression:
        return exp.Anonymous(this="TRY", expressions=[changed(part)])

    order = node.args.get("order")
    spec = node.args.get("spec")
    return exp.Window(
        this=_function(node.this, guarded),
        partition_by=[guarded(each) for each in node.args.get("partition_by") or ()],
        order=None if order is None else exp.Order(expressions=_terms(order, guarded)),
        spec=None if spec is None else _frame(spec),
        over=node.args.get("over"),
    )


def _terms(order: exp.Expression, guarded: Changed) -> list[exp.Expression]:
    only(order, "expressions")
    found: list[exp.Expression] = []
    for term in order.expressions:
        only(term, "this", "desc", "nulls_first")
        ways = {name: term.args.get(name) for name in ("desc", "nulls_first")}
        found.append(exp.Ordered(this=guarded(term.this), **ways))
    return found


def _function(node: object, guarded: Changed) -> exp.Expression:
    """The function of a window, with arguments over released values."""
    if type(node) is exp.Filter:
        only(node, "this", "expression")
        where = exp.Where(this=guarded(node.args["expression"].this))
        return exp.Filter(this=_function(node.this, guarded), expression=where)
    if type(node) is exp.IgnoreNulls:
        only(node, "this")
        return exp.IgnoreNulls(this=_function(node.this, guarded))
    if not isinstance(node, FUNCTIONS):
        raise RequestError(f"{shown(node)} is not known as a window over released values.")
    given = {name: value for name, value in node.args.items() if value}
    given.pop("big_int", None)
    if isinstance(node, _WHOLE):
        _check_whole(given.get("offset") if isinstance(node, exp.NthValue) else node.this, node)
    parts = {name: _argument(value, guarded) for name, value in given.items()}
    return type(node)(**parts)


def _argument(value: object, guarded: Changed) -> object:
    if isinstance(value, list):
        return [_argument(each, guarded) for each in value]
    if isinstance(value, exp.Star) or (isinstance(value, exp.Literal) and not value.is_string):
        return value.copy()
    return guarded(value)


def _check_whole(number: object, node: exp.Expression | exp.AggFunc) -> None:
    inner = unwrapped(number)
    plain = type(inner) is exp.Literal and inner.name.isdigit() and int(inner.name) > 0
    if not plain:
        raise RequestError(f"{shown(node)} takes a whole number of rows, from 1 on.")


def _frame(spec: exp.Expression) -> exp.Expression:
    """Which rows around the current one, by whole numbers alone."""
    only(spec, "kind", "start", "start_side", "end", "end_side")
    for name, value in spec.args.items():
        number = isinstance(value, exp.Literal) and not value.is_string
        word = isinstance(value, str) and (name == "kind" or value.upper() in _SIDES)
        if value is not None and not number and not word:
            raise RequestError(f"The frame {shown(spec)} is not allowed: give whole numbers.")
    return spec.copy()
