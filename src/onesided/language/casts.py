"""Casts: literals of dates and times, and those conversions that mean the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from sqlglot import exp

from onesided.errors import PolicyError
from onesided.language.functions import cast_to_text, part_of
from onesided.language.literals import read_date, read_timestamp
from onesided.language.refusals import explanation
from onesided.language.tree import (
    Arithmetic,
    Expression,
    Later,
    Literal,
    Operator,
    Part,
    Rounded,
    Rounding,
)
from onesided.language.types import Type

_INTEGERS = (exp.DType.TINYINT, exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT)
_FLOATS = (exp.DType.DOUBLE, exp.DType.FLOAT)
_TEXTS = (exp.DType.VARCHAR, exp.DType.TEXT)
_MOMENTS = (exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ)


def cast(node: exp.Expression, read: Callable[[object], Expression]) -> Expression:
    """What a cast is; which types it can be of is checked when it is bound."""
    target, source = node.args["to"], node.this
    if any(value for name, value in target.args.items() if name != "this"):
        raise PolicyError(explanation(node))
    kind = target.this
    if type(source) is exp.Literal and source.is_string:
        if kind is exp.DType.DATE:
            return read_date(source.name)
        if kind is exp.DType.TIMESTAMPNTZ:
            return read_timestamp(source.name)
        if kind not in _TEXTS:
            raise PolicyError(explanation(node))
    if kind is exp.DType.DATE:
        return part_of(Part.DATE, source, read)
    if kind in _MOMENTS:
        operand = read(source)
        return operand if isinstance(operand, Literal) else Later(operand, 0)
    if kind in _FLOATS:
        # Times 1.0 it is a float, and everything else is refused.
        return Arithmetic(Operator.TIMES, read(source), Literal(Type.DECIMAL, Decimal("1.0")))
    if kind in _INTEGERS:
        return Rounded(Rounding.CAST, read(source))
    if kind in _TEXTS:
        return cast_to_text(read(source))
    raise PolicyError(explanation(node))
