"""Arithmetic on floats that gives the same bits on every engine, or NULL.

The four operations are exact up to one rounding everywhere. Engines part where a result is no
finite number, or too small to be one: some raise, some go on. So what could come near is NULL.
"""

from __future__ import annotations

from onesided.language.tree import Operator, Value

LARGEST_TERM = 1e300
"""Sums of floats up to here are finite."""
LARGEST_FACTOR, LEAST_FACTOR = 1e150, 1e-150
"""Products and quotients of floats between them are finite and not 0."""


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
