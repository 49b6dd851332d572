"""Finite sums Σ cᵢ·e^(−αᵢ) with rational cᵢ and αᵢ, and products of them: decided, not rounded.

By the theorem of Lindemann and Weierstrass the numbers e^(−α), for distinct rational α, are
linearly independent over the rationals. So a sum whose terms have been collected is zero exactly
when it has no terms, and any other sum has a sign that enclosures of high enough precision reveal.
Whether Pr[D] equals e^ε·Pr[D′], or exceeds it, is therefore always decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import exp, log, prod

from onesided.randomness import Enclosure, exp_bounds

FIRST_PRECISION = 128
"""Bits of the first enclosure; it is doubled until the sign is certain."""

FLOAT_MARGIN = 1e-9
"""Logarithms of masses computed in floating point are trusted to differ by more than this."""


class ExponentialSum:
    """Σ c·e^(−α) over the collected `terms` {α: c}; immutable."""

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: Mapping[Fraction, Fraction | int]) -> None:
        self.terms = {alpha: Fraction(c) for alpha, c in terms.items() if c}
        self._hash = hash(frozenset(self.terms.items()))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExponentialSum) and self.terms == other.terms

    def __repr__(self) -> str:
        shown = " + ".join(f"{c}·e^-({alpha})" for alpha, c in sorted(self.terms.items()))
        return shown or "0"

    def __add__(self, other: ExponentialSum) -> ExponentialSum:
        terms = dict(self.terms)
        for alpha, c in other.terms.items():
            terms[alpha] = terms.get(alpha, Fraction(0)) + c
        return ExponentialSum(terms)

    def __sub__(self, other: ExponentialSum) -> ExponentialSum:
        return self + other.times_exponential(Fraction(0), Fraction(-1))

    def __mul__(self, other: ExponentialSum) -> ExponentialSum:
        terms: dict[Fraction, Fraction] = {}
        for alpha, c in self.terms.items():
            for beta, e in other.terms.items():
                terms[alpha + beta] = terms.get(alpha + beta, Fraction(0)) + c * e
        return ExponentialSum(terms)

    def times_exponential(self, alpha: Fraction, factor: Fraction = Fraction(1)) -> ExponentialSum:
        """factor·e^(−α) times this sum."""
        return ExponentialSum({each + alpha: c * factor for each, c in self.terms.items()})

    def sign(self) -> int:
        """−1, 0 or 1: certain."""
        if not self.terms:
            return 0
        precision = FIRST_PRECISION
        while True:
            low, high = self.enclosure(precision)
            if low > 0 or high < 0:
                return 1 if low > 0 else -1
            precision *= 2

    def enclosure(self, precision: int) -> tuple[Fraction, Fraction]:
        """Certain bounds of the sum times e^(least α), from exponentials of so many bits."""
        least = min(self.terms, default=Fraction(0))
        low = high = Fraction(0)
        for alpha, c in self.terms.items():
            ends = _exponential(alpha - least, precision)
            low += c * ends[0 if c > 0 else 1]
            high += c * ends[1 if c > 0 else 0]
        return low / (1 << precision), high / (1 << precision)

    def __float__(self) -> float:
        least = min(self.terms, default=Fraction(0))
        low, high = self.enclosure(FIRST_PRECISION)
        return float((low + high) / 2) * exp(-float(least))


ONE = ExponentialSum({Fraction(0): 1})


@lru_cache(maxsize=1 << 16)
def _exponential(rate: Fraction, precision: int) -> Enclosure:
    return exp_bounds(rate, precision)


def one_minus_exponential(rate: Fraction) -> ExponentialSum:
    """1 − e^(−rate)"""
    return ExponentialSum({Fraction(0): 1, rate: -1})


def one_plus_exponential(rate: Fraction) -> ExponentialSum:
    """1 + e^(−rate)"""
    return ExponentialSum({Fraction(0): 1, rate: 1})


Factors = frozenset[tuple[ExponentialSum, int]]
"""A product of powers of positive sums."""

NO_FACTORS: Factors = frozenset()


@lru_cache(maxsize=1 << 14)
def times_factors(left: Factors, right: Factors) -> Factors:
    """The product of two products of powers."""
    powers = Counter(dict(left))
    for base, power in right:
        powers[base] += power
    return frozenset((base, power) for base, power in powers.items() if power)


@lru_cache(maxsize=1 << 14)
def _log_of(factors: Factors) -> float:
    return sum(power * log(float(base)) for base, power in factors)


@dataclass(frozen=True)
class Weight:
    """coefficient·e^(−exponent)·factors: the probability of one path through a mechanism."""

    coefficient: Fraction = Fraction(1)
    exponent: Fraction = Fraction(0)
    factors: Factors = NO_FACTORS

    def __mul__(self, other: Weight) -> Weight:
        return Weight(
            self.coefficient * other.coefficient,
            self.exponent + other.exponent,
            times_factors(self.factors, other.factors),
        )


class Mass:
    """A sum of weights: the probability of one output. Immutable."""

    def __init__(self, weights: Iterable[Weight]) -> None:
        parts: dict[Factors, dict[Fraction, Fraction]] = {}
        for weight in weights:
            terms = parts.setdefault(weight.factors, {})
            terms[weight.exponent] = terms.get(weight.exponent, Fraction(0)) + weight.coefficient
        self.parts = {factors: ExponentialSum(terms) for factors, terms in parts.items()}

    @cached_property
    def log(self) -> float:
        """ln of the mass in floating point, good to about 1e−12; all terms are positive."""
        logs = [
            _log_of(factors) + log(float(c)) - float(alpha)
            for factors, total in self.parts.items()
            for alpha, c in total.terms.items()
        ]
        if not logs:
            return float("-inf")
        top = max(logs)
        return top + log(sum(exp(each - top) for each in logs))

    def upper(self) -> float:
        """A floating-point number that is no less than the mass."""
        return exp(self.log + FLOAT_MARGIN)

    def compare(self, other: Mass, exponent: Fraction) -> int:
        """The sign of (this mass − e^exponent·`other`): certain, 0 only where they are equal."""
        if not other.parts:
            return 1 if self.parts else 0
        gap = self.log - other.log - float(exponent)
        if abs(gap) > FLOAT_MARGIN:
            return 1 if gap > 0 else -1
        if len(self.parts) == len(other.parts) == 1 and self.parts.keys() == other.parts.keys():
            ((left, right),) = zip(self.parts.values(), other.parts.values(), strict=True)
            return (left - right.times_exponential(-exponent)).sign()
        common = _common_denominator([*self.parts, *other.parts])
        left, right = (_over(each, common) for each in (self, other))
        return (left - right.times_exponential(-exponent)).sign()


def _common_denominator(products: list[Factors]) -> dict[ExponentialSum, int]:
    """For each base the least power with which it occurs, or 0 where some product lacks it."""
    powers = [dict(each) for each in products]
    bases = {base for each in powers for base in each}
    return {base: min(each.get(base, 0) for each in powers) for base in bases}


def _over(mass: Mass, common: dict[ExponentialSum, int]) -> ExponentialSum:
    """The mass divided by the product of `common`, multiplied out."""
    total = ExponentialSum({})
    for factors, part in mass.parts.items():
        powers = dict(factors)
        missing = [
            base for base, least in common.items() for _ in range(powers.get(base, 0) - least)
        ]
        total += prod(missing, start=ONE) * part
    return total
