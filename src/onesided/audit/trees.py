"""A score that asks for one number after the other, so that it finds combinations of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onesided.audit.outputs import Observations
from onesided.audit.scores import MOST_CATEGORIES, column_values, edges_of, log_ratios
from onesided.data.histogram import Floats

DEEPEST = 10
SMALLEST_LEAF = 8
"""Questions that a tree asks at most, and outputs that must be left for another question."""

LEAST_GAIN = 6.0
"""How much a question must add to the log-likelihood: of many questions, some gain by luck."""


@dataclass(frozen=True)
class TreeScore:
    """The log-likelihood ratio of a leaf of a tree of questions "is number c in range r or below?".

    Where several numbers must come together, such as a bucket's shape and its total, the tree finds
    the combination. It asks about the columns `asked`. Node v asks about the one at `columns`[v]
    and goes on to `children`[v], plus 1 if the answer is no; leaves lead to themselves.
    """

    asked: NDArray[np.int64]
    edges: tuple[Floats, ...]
    columns: NDArray[np.int64]
    ranges: NDArray[np.int64]
    children: NDArray[np.int64]
    ratios: Floats

    @classmethod
    def fitted(cls, here: Observations, there: Observations, asked: NDArray[np.int64]) -> TreeScore:
        both = Observations.joined([here, there])
        edges = tuple(edges_of(numbers) for numbers in both.features[:, asked].T)
        codes = _codes(both, asked, edges)
        return _Growing(asked, edges, codes, np.arange(len(both)) < len(here)).tree()

    def of(self, observed: Observations) -> Floats:
        codes = _codes(observed, self.asked, self.edges)
        node, rows = np.zeros(len(observed), dtype=np.int64), np.arange(len(observed))
        for _ in range(DEEPEST):
            is_inner = self.children[node] != node
            answers = codes[rows, self.columns[node]] > self.ranges[node]
            node = np.where(is_inner, self.children[node] + answers, node)
        ratios: Floats = self.ratios[node]
        return ratios


class _Growing:
    """Grows a tree level by level: each node asks what tells D from D′ best among its outputs."""

    def __init__(
        self,
        asked: NDArray[np.int64],
        edges: tuple[Floats, ...],
        codes: NDArray[np.int64],
        is_here: NDArray[np.bool_],
    ) -> None:
        self._asked, self._edges, self._codes, self._is_here = asked, edges, codes, is_here
        self._width = MOST_CATEGORIES + 1
        self._offsets = self._width * np.arange(codes.shape[1])
        self._nodes: list[tuple[int, int, int]] = []

    def tree(self) -> TreeScore:
        node = np.zeros(self._is_here.size, dtype=np.int64)
        self._nodes, level = [(0, 0, 0)], [0]
        for _ in range(DEEPEST):
            level = [child for each in level for child in self._split(each, node)]
        columns, ranges, children = np.array(self._nodes, dtype=np.int64).T
        seen, other = node[self._is_here], node[~self._is_here]
        ratios = log_ratios(seen, other, len(self._nodes))
        return TreeScore(self._asked, self._edges, columns, ranges, children, ratios)

    def _split(self, number: int, node: NDArray[np.int64]) -> tuple[int, ...]:
        """Sends the outputs at a node on to two new ones; none where nothing is to be gained."""
        rows = np.flatnonzero(node == number)
        if rows.size < 2 * SMALLEST_LEAF or self._codes.shape[1] == 0:
            return ()
        column, code, gain = self._best_question(rows)
        if gain < LEAST_GAIN:
            return ()
        first = len(self._nodes)
        self._nodes[number] = (column, code, first)
        self._nodes += [(0, 0, first), (0, 0, first + 1)]
        node[rows] = first + (self._codes[rows, column] > code)
        return first, first + 1

    def _best_question(self, rows: NDArray[np.int64]) -> tuple[int, int, float]:
        codes, is_here = self._codes[rows], self._is_here[rows]
        below = [self._cumulated(codes[side]) for side in (is_here, ~is_here)]
        above = [each[:, -1:] - each for each in below]
        whole = [each[:, -1:] for each in below]
        gain = _information(*below) + _information(*above) - _information(*whole)
        enough = (below[0] + below[1] >= SMALLEST_LEAF) & (above[0] + above[1] >= SMALLEST_LEAF)
        gain = np.where(enough, gain, -1.0)
        best = int(np.argmax(gain))
        return best // self._width, best % self._width, float(gain.flat[best])

    def _cumulated(self, codes: NDArray[np.int64]) -> Floats:
        """How many outputs are in each range of each column, or below it."""
        flat = np.bincount(
            (codes + self._offsets).reshape(-1), minlength=self._offsets.size * self._width
        )
        return np.cumsum(flat.reshape(-1, self._width), axis=1).astype(np.float64)


def _information(here: Floats, there: Floats) -> Floats:
    """The log-likelihood of which side each of so many outputs came from, if only that is known."""
    total = np.maximum(here + there, 1e-12)
    return sum(
        (side * np.log(np.maximum(side, 1e-12) / total) for side in (here, there)),
        start=np.zeros(()),
    )


def _codes(
    observed: Observations, asked: NDArray[np.int64], edges: tuple[Floats, ...]
) -> NDArray[np.int64]:
    """For each output and column the range that the number is in."""
    codes = np.zeros((len(observed), len(edges)), dtype=np.int64)
    if edges:
        values = column_values(observed, asked)
        for column, each in enumerate(edges):
            codes[:, column] = np.searchsorted(each, values[:, column], side="left")
    return codes
