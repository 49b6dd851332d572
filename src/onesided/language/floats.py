"""Arithmetic on floats that gives the same bits on every engine, or NULL.

The four operations are exact up to one rounding everywhere. Engines part where a result is no
finite number, or too small to be one: some raise, some go on. So what could come near is NULL.
"""

from __future__ import annotations

import math

from onesided.language.tree import Operator, Rounding, Value

LARGEST_TERM = 1e300
"""Sums of floats up to here are finite."""
LARGEST_FACTOR, LEAST_FACTOR = 1e150, 1e-150
"""Products and quotients of floats between them are finite and not 0."""

LARGEST_ROUNDED = 2.0**51
"""Floats up to here have halves, and are rounded."""
FINE = 2.0**30
"""Into so many parts the distance from a whole number is cut where a float names a group."""
TO_EVEN = 1.5 * 2.0**52
"""Added to such a float and taken away again, it leaves the whole number next to it.

Floats of that size are whole numbers, so that the sum is rounded to one, and halves to even ones.
"""


def of_floats(operator: Operator, left: Value, right: Value) -> float | None:
    """The result; NaN and what is out of bounds have none."""
    if not isinstance(left, float) or not isinstance(right, float):
        return None
    match operator:
        case Operator.PLUS | Operator.MINUS:
            if not (abs(left) <= LARGEST_TERM and abs(right) <= LARGEST_TERM):
                return None
            return (left + right if operator is Operator.PLUS else left - right) + 0.0
        case Operator.TIMES:
            return (left * right) + 0.0 if _is_factor(left) and _is_factor(right) else None
        case Operator.OVER:
            return left / right + 0.0 if _is_factor(left) and _is_factor(right) and right else None


def _is_factor(number: float) -> bool:
    return number == 0 or LEAST_FACTOR <= abs(number) <= LARGEST_FACTOR


def rounded(way: Rounding, number: float) -> int | None:
    """The whole number; NaN and what is out of bounds have none."""
    if not abs(number) <= LARGEST_ROUNDED:
        return None
    match way:
        case Rounding.FLOOR:
            return math.floor(number)
        case Rounding.CEILING:
            return math.ceil(number)
        case Rounding.AWAY:
            return math.ceil(number - 0.5) if number < 0 else math.floor(number + 0.5)
        case Rounding.CAST:
            return round(number)


def named(number: float) -> str:
    """A text by which units choose among groups: near floats may share it, engines do not part."""
    whole = rounded(Rounding.FLOOR, number)
    if whole is None:
        return NAMELESS
    return f"{whole}.{rounded(Rounding.FLOOR, (number - math.floor(number)) * FINE)}"


NAMELESS = "~"
"""For NULL, NaN and what is too large to have a fraction."""
