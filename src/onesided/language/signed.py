"""Sums and means of values that can be below 0, from figures of values that cannot.

What a unit adds is clipped to [0, B]. So of a value x from l < 0 to h, the mean is that of x − l,
and l added. The sum is that of greatest(x, 0) less that of greatest(−x, 0). The ends are public.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import sqlglot
from sqlglot import exp

from onesided.language.canonical import canonical_text
from onesided.language.literals import numeric_literal
from onesided.language.parser import DIALECT
from onesided.language.predicate import Key
from onesided.language.query import Aggregate, SelectFigure
from onesided.language.ranges import Range, proven_range
from onesided.language.tree import Arithmetic, Expression, Extreme, Extremum, Literal, Operator
from onesided.language.types import Schema


def signed(
    figure: SelectFigure,
    schema: Schema,
    ranges: Mapping[str, Range],
    released: Callable[[SelectFigure], str],
) -> exp.Expression | None:
    """The released expression of such a sum or mean; None where nothing below 0 is known of.

    - `ranges`: between which numbers columns are declared to lie.
    - `released`: notes a figure, and names its column.
    """
    if figure.aggregate not in (Aggregate.SUM, Aggregate.MEAN) or figure.value is None:
        return None
    within = proven_range(figure.value.bind(schema).typed, ranges)
    if within is None or within[0] >= 0:
        return None
    value = figure.value.expression

    def column(tree: Expression) -> str:
        return released(replace(figure, value=Key.parse(canonical_text(tree))))

    if figure.aggregate is Aggregate.MEAN:
        low = _literal(within[0])
        text = f'"{column(Arithmetic(Operator.MINUS, value, low))}" + ({low.value})'
    else:
        below = f'"{column(_above_zero(Arithmetic(Operator.MINUS, _ZERO, value)))}"'
        text = f'"{column(_above_zero(value))}" - {below}' if within[1] > 0 else f"-{below}"
    read = sqlglot.parse_one(f"({text})", read=DIALECT)
    assert isinstance(read, exp.Expression)
    return read


_ZERO = numeric_literal(0)


def _above_zero(value: Expression) -> Expression:
    return Extreme(Extremum.GREATEST, (value, _ZERO))


def _literal(end: Fraction) -> Literal:
    """At most the end, so that nothing is left below 0."""
    return numeric_literal(int(end) if end.denominator == 1 else Decimal(repr(float(end))))
