"""Where a decreasing function comes to a number, by halving a range again and again."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log

LEAST_SHAPE, MOST_SHAPE = 1e-2, 1e6
"""The range of the gamma distribution's shape, from one bin in hundreds filled to all alike."""

STEPS = 7
"""Halvings of a range in which a number is looked for: of shapes on the scale of ratios."""


def shape_at(deviation: Callable[[float], float], target: float) -> float:
    """The shape at which a decreasing `deviation` comes to `target`, within its range."""
    if deviation(MOST_SHAPE) > target:
        return MOST_SHAPE
    low, high = halved(
        lambda exponent: deviation(exp(exponent)), target, log(LEAST_SHAPE), log(MOST_SHAPE)
    )
    return exp((low + high) / 2)


def halved(
    deviation: Callable[[float], float], target: float, low: float, high: float
) -> tuple[float, float]:
    """The range in which a decreasing `deviation` comes to `target`, halved again and again."""
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if deviation(middle) > target else (low, middle)
    return low, high
