"""The units of a sample that no margin can tell apart have one weight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from onesided.weights.margins import Floats, Margin, Places

#: So many counters are faster than sorting the units.
_MOST_COUNTERS = 1 << 23


@dataclass(frozen=True)
class Combinations:
    """The distinct combinations of cells in a sample.

    - `number`: how many units have each.
    - `of_unit`: which one each unit has.
    - `patterns`: for each margin the pattern of each combination.
    - `margins`: where those patterns say what they stand for.
    """

    number: Floats
    of_unit: Places
    patterns: tuple[Places, ...]
    margins: tuple[Margin, ...]

    @classmethod
    def of(cls, margins: Sequence[Margin], units: int) -> Combinations:
        """Those of the units of a sample."""
        code, kinds = np.zeros(units, dtype=np.int64), 1
        for each in margins:
            code = code * len(each.cells) + each.pattern
            kinds *= len(each.cells)
            if kinds > _MOST_COUNTERS:  # numbered anew, so that codes never run over
                code, kinds = _numbered(code)
        code, kinds = _numbered(code) if kinds > _MOST_COUNTERS else _counted(code, kinds)
        first = np.zeros(kinds, dtype=np.int64)
        first[code] = np.arange(units)
        number = np.bincount(code, minlength=kinds).astype(np.float64)
        patterns = tuple(each.pattern[first] for each in margins)
        return cls(number, code, patterns, tuple(margins))

    def exponents(self, multipliers: Sequence[Floats]) -> Floats:
        """For each combination the sum of the multipliers of its cells."""
        found = np.zeros(len(self.number))
        for each, pattern, own in zip(self.margins, self.patterns, multipliers, strict=True):
            found += (each.cells @ own)[pattern]
        return found

    def sums(self, weights: Floats) -> Iterator[Floats]:
        """For each margin what `weights` of the combinations come to in its cells."""
        for each, pattern in zip(self.margins, self.patterns, strict=True):
            by_pattern = np.bincount(pattern, weights, minlength=len(each.cells))
            yield np.asarray(by_pattern @ each.cells, dtype=np.float64)

    def products(self, weights: Floats) -> Floats:
        """A·diag(`weights`)·Aᵀ over the cells of all margins."""
        rows = []
        for place, (first, left) in enumerate(zip(self.margins, self.patterns, strict=True)):
            row = []
            for second, right in zip(self.margins[place:], self.patterns[place:], strict=True):
                shape = len(first.cells), len(second.cells)
                both = np.bincount(left * shape[1] + right, weights, minlength=shape[0] * shape[1])
                row.append(first.cells.T @ both.reshape(shape) @ second.cells)
            rows.append(np.hstack(row))
        size = rows[0].shape[1] if rows else 0
        upper = np.vstack([np.pad(row, ((0, 0), (size - row.shape[1], 0))) for row in rows])
        return np.asarray(np.triu(upper) + np.triu(upper, 1).T, dtype=np.float64)


def _numbered(code: Places) -> tuple[Places, int]:
    found, number = np.unique(code, return_inverse=True)
    return number.reshape(-1).astype(np.int64), len(found)


def _counted(code: Places, kinds: int) -> tuple[Places, int]:
    """The same without sorting, where there are few kinds."""
    present = np.bincount(code, minlength=kinds) > 0
    number = np.cumsum(present) - 1
    return number[code], int(present.sum())
