"""Between which numbers a value lies, as far as its expression proves it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, isfinite
from typing import TypeAlias

from onesided.language.tree import (
    Arithmetic,
    Case,
    Coalesce,
    Column,
    Convert,
    Expression,
    Extreme,
    Extremum,
    FloatArithmetic,
    Literal,
    Magnitude,
    Negate,
    Operator,
    Part,
    PartOf,
    Rounded,
)

Range: TypeAlias = tuple[Fraction, Fraction]
_PARTS = {
    Part.MINUTE: (0, 59),
    Part.HOUR: (0, 23),
    Part.WEEKDAY: (1, 7),
    Part.DAY: (1, 31),
    Part.DAY_OF_YEAR: (1, 366),
    Part.WEEK: (1, 53),
    Part.MONTH: (1, 12),
    Part.QUARTER: (1, 4),
}


def proven_range(node: Expression, columns: Mapping[str, Range]) -> Range | None:
    """The least and the most that a bound value can be where it is not NULL; None if unknown.

    - `columns`: between which numbers the columns lie that something is known of.
    """
    match node:
        case Literal(_, int() | float() | Decimal() as value) if isfinite(value):
            return Fraction(value), Fraction(value)
        case Convert(operand):
            return proven_range(operand, columns)
        case Column(name):
            return columns.get(name)
        case Case(_, branches, otherwise):
            values = [then for _, then in branches]
            return _any_of(values if otherwise is None else [*values, otherwise], columns)
        case Coalesce(operands):
            return _any_of(operands, columns)
        case Extreme(way, operands):
            return _extreme(way, operands, columns)
        case Negate(operand):
            within = proven_range(operand, columns)
            return None if within is None else (-within[1], -within[0])
        case Magnitude(operand):
            within = proven_range(operand, columns)
            if within is None:
                return None
            ends = sorted(abs(end) for end in within)
            return (Fraction(0) if within[0] <= 0 <= within[1] else ends[0]), ends[1]
        case Rounded(_, operand):
            within = proven_range(operand, columns)
            if within is None:
                return None
            return Fraction(floor(within[0])), Fraction(ceil(within[1]))
        case PartOf(part) if part in _PARTS:
            least, most = _PARTS[part]
            return Fraction(least), Fraction(most)
        case Arithmetic(operator, left, right) | FloatArithmetic(operator, left, right):
            first, second = (proven_range(side, columns) for side in (left, right))
            if first is None or second is None:
                return None
            return _combined(operator, first, second)
        case _:
            return None


def _any_of(values: Iterable[Expression], columns: Mapping[str, Range]) -> Range | None:
    """Of alternatives; a NULL among them adds nothing."""
    ranges = [
        proven_range(value, columns)
        for value in values
        if not (isinstance(value, Literal) and value.value is None)
    ]
    known = [each for each in ranges if each is not None]
    if not known or len(known) < len(ranges):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def _extreme(
    way: Extremum, operands: tuple[Expression, ...], columns: Mapping[str, Range]
) -> Range | None:
    """Within the range of all; and not beyond a literal, which is never left out."""
    whole = _any_of(operands, columns)
    if whole is None:
        return None
    low, high = whole
    for each in operands:
        if isinstance(each, Literal) and isinstance(each.value, int | float | Decimal):
            end = Fraction(each.value)
            low, high = (low, min(high, end)) if way is Extremum.LEAST else (max(low, end), high)
    return min(low, high), max(low, high)


def _combined(operator: Operator, first: Range, second: Range) -> Range | None:
    match operator:
        case Operator.PLUS:
            return first[0] + second[0], first[1] + second[1]
        case Operator.MINUS:
            return first[0] - second[1], first[1] - second[0]
        case Operator.TIMES:
            ends = [one * other for one in first for other in second]
        case Operator.OVER:
            if second[0] <= 0 <= second[1]:
                return None
            ends = [one / other for one in first for other in second]
    return min(ends), max(ends)
