"""Medians and quantiles of a SELECT: all those of one value are read from one figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from onesided.errors import RequestError
from onesided.language.aggregates import FigureReader
from onesided.language.nodes import only, unwrapped
from onesided.language.query import Aggregate, SelectFigure
from onesided.language.refusals import shown
from onesided.language.released import released_column

_OF_A_NUMBER = (exp.Quantile, exp.ApproxQuantile, exp.PercentileCont, exp.PercentileDisc)
_FORMS = (exp.Median, exp.WithinGroup, *_OF_A_NUMBER)
MOST_QUANTILES = 100


@dataclass(frozen=True)
class ReadQuantiles:
    """What a statement says of quantiles.

    - `listed`: several in one list.
    """

    figure: SelectFigure
    at: tuple[float, ...]
    listed: bool

    def released(self, column: Callable[[SelectFigure, float], str]) -> exp.Expression:
        """The released expression that they are; `column` notes one, and names its column."""
        found = [released_column(column(self.figure, each)) for each in self.at]
        return exp.Array(expressions=found) if self.listed else found[0]


def is_quantile(node: exp.Expression) -> bool:
    """Whether `quantiles` reads it."""
    inner = unwrapped(node.this) if type(node) is exp.Filter else node
    return isinstance(inner, _FORMS)


def quantiles(node: exp.Expression, reader: FigureReader) -> ReadQuantiles:
    """The quantiles that a node asks for."""
    if type(node) is exp.Filter:
        only(node, "this", "expression")
        inner = unwrapped(node.this)
        assert isinstance(inner, exp.Expression)
        found = quantiles(inner, reader)
        return ReadQuantiles(reader.filtered(found.figure, node), found.at, found.listed)
    argument, number, falling = _parts(node)
    at, listed = _numbers(number, node)
    value = reader.key(argument, node)
    figure = SelectFigure(Aggregate.QUANTILES, value=value)
    return ReadQuantiles(figure, tuple(float(1 - q if falling else q) for q in at), listed)


def _parts(node: exp.Expression) -> tuple[object, object, bool]:
    """The value, which quantile of it, and whether it is counted from above."""
    if type(node) is exp.Median:
        only(node, "this")
        return node.this, exp.Literal.number("0.5"), False
    if type(node) is exp.WithinGroup:
        only(node, "this", "expression")
        inner, order = unwrapped(node.this), node.args.get("expression")
        if isinstance(inner, exp.PercentileCont | exp.PercentileDisc) and type(order) is exp.Order:
            only(inner, "this")
            terms = order.expressions
            if len(terms) == 1:
                only(terms[0], "this", "desc", "nulls_first")
                return terms[0].this, inner.this, bool(terms[0].args.get("desc"))
        raise RequestError(f"{shown(node)} is not allowed: order by the one value it is of.")
    only(node, "this", "expression", "quantile")
    ordered = node.this
    if type(ordered) is exp.Order:
        raise RequestError(f"{shown(node)} is not allowed: write WITHIN GROUP (ORDER BY …).")
    return ordered, node.args.get("expression") or node.args.get("quantile"), False


def _numbers(node: object, whole: exp.Expression) -> tuple[tuple[Fraction, ...], bool]:
    inner = unwrapped(node)
    listed = type(inner) is exp.Array
    parts = inner.expressions if listed else [inner]  # type: ignore[attr-defined]
    if not 0 < len(parts) <= MOST_QUANTILES:
        raise RequestError(f"{shown(whole)} needs from 1 to {MOST_QUANTILES} quantiles.")
    return tuple(_number(unwrapped(each), whole) for each in parts), listed


def _number(node: object, whole: exp.Expression) -> Fraction:
    plain = type(node) is exp.Literal and not node.is_string
    try:
        number = Fraction(node.name) if plain else None  # type: ignore[attr-defined]
    except ValueError:
        number = None
    if number is None or not 0 <= number <= 1:
        raise RequestError(f"{shown(whole)} is not allowed: a quantile is a number from 0 to 1.")
    return number
