"""The exact law of PrivTree's partition over a few bins in a row, written down independently.

A node is an interval [start, end) of bins; halving puts the larger half first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import exp, log1p

Leaves = tuple[int, ...]
"""Where the leaves of a tree begin, ascending."""


@dataclass(frozen=True)
class TreeLaw:
    """Noise of `rate`, bias of `decay` a level, split above `threshold`, `halvings` a split."""

    rate: float
    decay: int
    halvings: int
    threshold: int = 0

    def log_probabilities(self, counts: Sequence[int]) -> dict[Leaves, float]:
        """ln Pr of every tree over `counts`."""
        return self._below(tuple(counts), 0, len(counts), 0)

    def loss(self, fewer: Sequence[int], more: Sequence[int]) -> float:
        """The most that the log-probability of a tree differs between the two histograms."""
        first, second = self.log_probabilities(fewer), self.log_probabilities(more)
        return max(abs(first[leaves] - second[leaves]) for leaves in first)

    def _below(
        self, counts: tuple[int, ...], start: int, end: int, depth: int
    ) -> dict[Leaves, float]:
        if end - start == 1:
            return {(start,): 0.0}
        count = sum(counts[start:end])
        biased = max(self.threshold - self.decay, count - depth * self.decay)
        stop, split = self._log_decisions(biased - self.threshold)
        trees = {(start,): stop}
        subtrees = [
            self._below(counts, left, right, depth + 1)
            for left, right in children(start, end, self.halvings)
        ]
        for combination in product(*(each.items() for each in subtrees)):
            leaves = tuple(begin for leaves, _ in combination for begin in leaves)
            trees[leaves] = split + sum(log_probability for _, log_probability in combination)
        return trees

    def _log_decisions(self, excess: int) -> tuple[float, float]:
        """ln Pr[excess + Z ≤ 0] and ln Pr[excess + Z > 0]; Pr[Z ≥ z] = qᶻ/(1 + q) for z ≥ 0."""
        q = exp(-self.rate)
        if excess >= 1:
            stop = -self.rate * excess - log1p(q)
            return stop, log1p(-exp(stop))
        split = -self.rate * (1 - excess) - log1p(q)
        return log1p(-exp(split)), split


def children(start: int, end: int, halvings: int) -> list[tuple[int, int]]:
    """The intervals into which [start, end) is cut by halving it and its parts."""
    if halvings == 0 or end - start == 1:
        return [(start, end)]
    middle = start + (end - start + 1) // 2
    return children(start, middle, halvings - 1) + children(middle, end, halvings - 1)
