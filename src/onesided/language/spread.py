"""Variances and standard deviations, from two means that are measured.

Of a value x between l and h, whose middle is c, the means of (x − c)² and of x − l are asked for.
Both are of non-sensitive rows, and so is their number n. How far the mean of x is from c is
m = mean(x − l) − (c − l). Then

    VAR_POP(x) = mean((x − c)²) − m²,    VAR_SAMP(x) = VAR_POP(x)·n/(n − 1).

The middle is public, and squares are least around it. Noise can take the difference below 0; then 0
is said. All of this is computed from released values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction

import sqlglot
from sqlglot import exp

from onesided.errors import RequestError
from onesided.language.aggregates import FigureReader
from onesided.language.canonical import canonical_text
from onesided.language.parser import DIALECT
from onesided.language.predicate import Key
from onesided.language.query import Aggregate, SelectFigure, counted
from onesided.language.ranges import Range, proven_range
from onesided.language.refusals import shown
from onesided.language.tree import Arithmetic, Expression, Literal, Operator
from onesided.language.types import Schema, Type

#: Whether it is of a sample, and whether its root is asked for.
_FORMS: dict[type[exp.Expression], tuple[bool, bool]] = {
    exp.VariancePop: (False, False),
    exp.Variance: (True, False),
    exp.StddevPop: (False, True),
    exp.Stddev: (True, True),
    exp.StddevSamp: (True, True),
}
SPREADS = tuple(_FORMS)
"""The nodes that `spread` reads."""


def spread(
    node: exp.Expression,
    reader: FigureReader,
    schema: Schema,
    ranges: Mapping[str, Range],
    released: Callable[[SelectFigure], str],
) -> exp.Expression:
    """The released expression that a variance or a standard deviation is.

    - `ranges`: between which numbers columns are declared to lie.
    - `released`: notes a figure, and names its column.
    """
    value = reader.value(node)
    within = proven_range(value.bind(schema).typed, ranges)
    if within is None:
        raise RequestError(
            f"{shown(node)} needs to know between which numbers {value.name} lies; say it with "
            f"bounds, such as {{'{value.name}': (0, 100)}}."
        )
    low, middle = _number(within[0]), _number((within[0] + within[1]) / 2)
    from_middle = _minus(value.expression, middle)
    squares = released(_mean(Arithmetic(Operator.TIMES, from_middle, from_middle)))
    mean, rows = f'"{released(_mean(_minus(value.expression, low)))}"', f'"{counted(squares)}"'
    sample, root = _FORMS[type(node)]
    text = f'greatest("{squares}" - pow({mean} - {middle - low}, 2), 0)'
    if sample:
        text = f"(CASE WHEN {rows} > 1 THEN {text} * {rows} / ({rows} - 1) END)"
    read = sqlglot.parse_one(f"sqrt({text})" if root else text, read=DIALECT)
    assert isinstance(read, exp.Expression)
    return read


def _number(exact: Fraction) -> Decimal:
    """As a literal: any number nearby does."""
    return Decimal(repr(float(exact)))


def _minus(value: Expression, number: Decimal) -> Expression:
    return Arithmetic(Operator.MINUS, value, Literal(Type.DECIMAL, number))


def _mean(value: Expression) -> SelectFigure:
    return SelectFigure(Aggregate.MEAN, value=Key.parse(canonical_text(value)))
