"""Scores: a number for each output that is larger where D is the likelier cause.

Each is an estimated log-likelihood ratio, fitted to runs on D (`here`) and on D′ (`there`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from onesided.audit.outputs import Observations
from onesided.data.histogram import Floats

MOST_CATEGORIES = 32
"""A number in the output is seen as one of so many values or ranges of values."""

MOST_QUESTIONS = 240
"""Questions "is this number above that bound?" that a weighted sum is fitted to."""

QUESTIONS_A_COLUMN = 12

MOST_FITTED = 4_000
"""Outputs on either side that a weighted sum is fitted to."""

STEPS = 8
"""Newton steps of that fit."""

SMOOTHING = 0.5


class Score(Protocol):
    """A number for each output, larger where D is the likelier cause."""

    def of(self, observed: Observations) -> Floats: ...


@dataclass(frozen=True)
class TokenScore:
    """The log-likelihood ratio of whole outputs that were seen while learning."""

    tokens: NDArray[np.uint64]
    ratios: Floats

    @classmethod
    def fitted(cls, here: Observations, there: Observations) -> TokenScore:
        tokens, codes = np.unique(np.concatenate([here.tokens, there.tokens]), return_inverse=True)
        return cls(tokens, log_ratios(codes[: len(here)], codes[len(here) :], tokens.size))

    def of(self, observed: Observations) -> Floats:
        position = np.minimum(np.searchsorted(self.tokens, observed.tokens), self.tokens.size - 1)
        known = self.tokens[position] == observed.tokens
        return np.where(known, self.ratios[position], -np.inf)


@dataclass(frozen=True)
class ColumnScore:
    """The log-likelihood ratio of the number in one `column`, by ranges that begin at `edges`.

    With `bits` the place of the lowest set bit of the number is looked at instead. `information` is
    the mean of the ratio on D less that on D′: how much the column tells on average.
    """

    column: int
    edges: Floats
    ratios: Floats
    bits: bool
    information: float

    @classmethod
    def fitted(
        cls, here: Observations, there: Observations, column: int, bits: bool
    ) -> ColumnScore:
        first, second = (_column(each, column, bits) for each in (here, there))
        edges = edges_of(np.concatenate([first, second]))
        seen, other = (np.searchsorted(edges, each, side="left") for each in (first, second))
        ratios = log_ratios(seen, other, edges.size + 1)
        information = float(ratios[seen].mean() - ratios[other].mean())
        return cls(column, edges, ratios, bits, information)

    def of(self, observed: Observations) -> Floats:
        numbers = _column(observed, self.column, self.bits)
        ratios: Floats = self.ratios[np.searchsorted(self.edges, numbers, side="left")]
        return ratios

    @property
    def spread(self) -> float:
        """How much the column tells at best."""
        return float(np.ptp(self.ratios))


@dataclass(frozen=True)
class SumOfScores:
    """Scores of single numbers added up, which is right where they are independent."""

    parts: tuple[ColumnScore, ...]

    def of(self, observed: Observations) -> Floats:
        total = np.zeros(len(observed))
        for part in self.parts:
            total += part.of(observed)
        return total


@dataclass(frozen=True)
class WeightedScore:
    """Answers to "is this number above that bound?", weighted by logistic regression.

    Right where numbers are independent, like a sum of scores, but numbers that say the same are not
    counted twice, and those that say nothing are not counted. A penalty of ½·Σw² on the weights w
    keeps what rests on few outputs small.
    """

    columns: NDArray[np.int64]
    bounds: Floats
    weights: Floats

    @classmethod
    def fitted(
        cls, here: Observations, there: Observations, columns: list[ColumnScore]
    ) -> WeightedScore:
        """`columns` come with the most telling one first."""
        first, second = here[:MOST_FITTED], there[:MOST_FITTED]
        both = Observations.joined([first, second])
        asked = [
            (each.column, bound)
            for each in columns[: MOST_QUESTIONS // QUESTIONS_A_COLUMN]
            for bound in _thinned(each.edges, QUESTIONS_A_COLUMN)
        ]
        numbers = np.array([column for column, _ in asked], dtype=np.int64)
        bounds = np.array([bound for _, bound in asked])
        answers = _answers(both, numbers, bounds)
        is_here = np.arange(len(both)) < len(first)
        return cls(numbers, bounds, _logistic_weights(answers, is_here))

    def of(self, observed: Observations) -> Floats:
        score: Floats = _answers(observed, self.columns, self.bounds) @ self.weights
        # Sums of the same weights in another order must not differ in their last bits.
        return np.round(score, 9)


def _answers(observed: Observations, columns: NDArray[np.int64], bounds: Floats) -> Floats:
    """+1 or −1 for each output and question, and 1 for the constant; NaN is above every bound."""
    if not columns.size:
        return np.ones((len(observed), 1))
    above = ~(column_values(observed, columns) <= bounds)
    return np.hstack([np.where(above, 1.0, -1.0), np.ones((len(observed), 1))])


def _logistic_weights(answers: Floats, is_here: NDArray[np.bool_]) -> Floats:
    weights = np.zeros(answers.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(answers @ weights, -30, 30)))
        slope = answers.T @ (is_here - chance) - weights
        curve = (answers * (chance * (1 - chance))[:, None]).T @ answers
        weights = weights + np.linalg.solve(curve + np.eye(weights.size), slope)
    return weights


def _thinned(edges: Floats, most: int) -> Floats:
    inner = edges[:-1]  # nothing is above the last one but NaN
    if inner.size <= most:
        return inner
    return inner[np.linspace(0, inner.size - 1, most).astype(np.int64)]


def column_values(observed: Observations, columns: NDArray[np.int64]) -> Floats:
    """The numbers in several columns; NaN for columns that no output reaches."""
    missing = max(int(columns.max()) + 1 - observed.features.shape[1], 0)
    padded = np.pad(observed.features, ((0, 0), (0, missing)), constant_values=np.nan)
    return np.asarray(padded[:, columns])


def _column(observed: Observations, column: int, bits: bool) -> Floats:
    if column >= observed.features.shape[1]:
        return np.full(len(observed), np.nan)
    numbers = observed.features[:, column]
    return lowest_bits(numbers) if bits else numbers


def lowest_bits(numbers: Floats) -> Floats:
    """The e of the lowest set bit 2ᵉ of each double; NaN for 0 and for what is not finite.

    A sum of a count and floating-point noise is rounded to a grid that depends on the count: the
    low bits of 1 + z are zero where those of z need not be.
    """
    usable = np.isfinite(numbers) & (numbers != 0)
    mantissa, exponent = np.frexp(np.where(usable, numbers, 1.0))
    integers = np.ldexp(mantissa, 53).astype(np.int64)
    lowest = np.log2((integers & -integers).astype(np.float64)) + exponent - 53
    return np.where(usable, lowest, np.nan)


def edges_of(numbers: Floats) -> Floats:
    """Upper ends of ranges: the values themselves where they are few, else quantiles; NaN apart."""
    finite = np.sort(numbers[~np.isnan(numbers)])
    values = np.unique(finite)
    if values.size <= MOST_CATEGORIES:
        return values
    positions = np.linspace(0, finite.size - 1, MOST_CATEGORIES).astype(np.int64)
    return np.unique(finite[positions])


def log_ratios(here: NDArray[np.int64], there: NDArray[np.int64], categories: int) -> Floats:
    """ln of the share of each category `here` over that `there`, smoothed."""
    first, second = (
        np.bincount(codes, minlength=categories) + SMOOTHING for codes in (here, there)
    )
    ratios: Floats = np.log(first / first.sum()) - np.log(second / second.sum())
    return ratios
