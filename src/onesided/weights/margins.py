"""What was counted of all units, and in which of its cells each unit of a sample is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.int64]
Truths: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Margin:
    """Released counts of the cells of one question.

    - `counted`: the released number of each cell.
    - `variance`: that of the noise of one cell, from the terms of the release.
    - `pattern`: for each unit of the sample, which cells it is in, as a row of `cells`.
    - `cells`: a row for each pattern and a column for each cell.
    """

    counted: Floats
    variance: float
    pattern: Places
    cells: Truths

    @classmethod
    def of_one_cell(cls, counted: Floats, variance: float, cell: Places) -> Margin:
        """Each unit is in one `cell`, or in none where that is -1."""
        none = np.zeros((1, len(counted)), dtype=np.bool_)
        return cls(counted, variance, cell + 1, np.vstack([none, np.eye(len(counted)) > 0]))

    @cached_property
    def units(self) -> Places:
        """How many units of the sample are in each cell."""
        found = np.bincount(self.pattern, minlength=len(self.cells))
        return np.asarray(found @ self.cells, dtype=np.int64)

    @property
    def held(self) -> Truths:
        """The cells that a unit of the sample is in: no weight can fill the others."""
        return self.units > 0

    def filled(self, total: float) -> Floats:
        """The counts of held cells, which also stand for cells that the sample has no unit of.

        Where each unit has one cell, a count of an empty cell is spread over the others in
        proportion, so that it is not taken for noise. At most half of the total is.
        """
        counted = self.counted[self.held]
        if self.held.all() or (self.cells.sum(axis=1) > 1).any():
            return counted
        missing = float(np.maximum(self.counted[~self.held], 0).sum())
        return np.asarray(counted * (total / (total - min(missing, total / 2))))


def total_of(margins: Sequence[Margin], fallback: float) -> float:
    """The number of units that margins of one cell a unit count: their sums by their precision."""
    known = [each for each in margins if len(each.counted)]
    if not known:
        return fallback
    sums = np.array([each.counted.sum() for each in known])
    precision = np.array([1 / (each.variance * len(each.counted)) for each in known])
    return max(float(sums @ precision / precision.sum()), 1.0)


def noise_per_mean_cell(margins: Sequence[tuple[int, float]], total: float) -> float:
    """The expected noise of a cell as a share of the mean cell, on average over `margins`.

    - `margins`: how many cells each has, and the mean size of the noise of one.
    """
    shares = [cells * noise / max(total, 1.0) for cells, noise in margins]
    return float(np.mean(shares)) if shares else 0.0
