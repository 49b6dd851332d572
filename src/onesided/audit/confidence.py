"""Clopper–Pearson bounds: how small or large a probability may be after so many hits."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, lgamma, log, log1p

ITERATIONS = 100
"""Halvings of an interval of probabilities; far below the precision of a float."""

TINY = 1e-300


def at_least(hits: int, runs: int, error: float) -> float:
    """The bound that the true probability is below with probability `error` at most.

    The p for which Pr[Binomial(runs, p) ≥ hits] = error, which is I_p(hits, runs − hits + 1).
    """
    if hits == 0:
        return 0.0
    return _solve(lambda p: incomplete_beta(p, hits, runs - hits + 1) < error)[0]


def at_most(hits: int, runs: int, error: float) -> float:
    """The bound that the true probability is above with probability `error` at most."""
    if hits == runs:
        return 1.0
    return _solve(lambda p: 1 - incomplete_beta(p, hits + 1, runs - hits) > error)[1]


def loss_at_least(hits: int, neighbour_hits: int, runs: int, confidence: float) -> float:
    """A lower bound of the loss, by ln Pr[M(D) ∈ O] − ln Pr[M(D′) ∈ O], with given confidence.

    `hits` of `runs` outputs on D and `neighbour_hits` of `runs` on D′ were in O, an event chosen
    without looking at these runs. Each of the two bounds may fail with half of what is allowed.
    It is never below 0: all outputs together are as likely on D as on D′.
    """
    error = (1 - confidence) / 2
    low = at_least(hits, runs, error)
    return max(log(low / at_most(neighbour_hits, runs, error)), 0.0) if low > 0 else 0.0


def incomplete_beta(x: float, a: float, b: float) -> float:
    """I_x(a, b), the regularised incomplete beta function, by its continued fraction."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        # The fraction converges fast on the other side only.
        return 1 - incomplete_beta(1 - x, b, a)
    front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)
    return exp(front) / a * _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of I_x(a, b), evaluated from the front after Lentz."""
    value = numerator = 1.0
    denominator = 0.0
    step = 0
    while True:
        for term in _terms(step, x, a, b):
            denominator = 1 / ((1 + term * denominator) or TINY)
            numerator = (1 + term / numerator) or TINY
            value *= numerator * denominator
        if abs(numerator * denominator - 1) < 1e-15 or step > 100_000:
            return 1 / value
        step += 1


def _terms(m: int, x: float, a: float, b: float) -> tuple[float, float]:
    odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
    even = (m + 1) * (b - m - 1) * x / ((a + 2 * m + 1) * (a + 2 * m + 2))
    return odd, even


def _solve(is_low: Callable[[float], bool]) -> tuple[float, float]:
    """The two ends of a tiny interval in which `is_low` turns from true to false."""
    low, high = 0.0, 1.0
    for _ in range(ITERATIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_low(middle) else (low, middle)
    return low, high
