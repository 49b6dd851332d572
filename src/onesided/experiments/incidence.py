"""Which unit touches which cells of a histogram."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts
from onesided.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class Incidence:
    """Pairs of a unit and a cell, each pair once and sorted by unit.

    A unit is counted once in every cell it touches, so the histogram has the sensitivity of the
    most cells that one unit touches; `at_most` bounds it.
    """

    unit: NDArray[np.int64]
    cell: NDArray[np.int64]
    units: int
    cells: int

    @classmethod
    def of(
        cls, unit: NDArray[np.int64], cell: NDArray[np.int64], *, units: int, cells: int
    ) -> Incidence:
        """From pairs that may repeat."""
        pairs = np.unique(unit.astype(np.int64) * cells + cell)
        return cls(unit=pairs // cells, cell=pairs % cells, units=units, cells=cells)

    def counts(self, chosen: NDArray[np.bool_] | None = None) -> Counts:
        """The number of units in every cell, of all or of the `chosen` units."""
        cell = self.cell if chosen is None else self.cell[chosen[self.unit]]
        return np.bincount(cell, minlength=self.cells)

    def widest(self) -> int:
        """The most cells that one unit touches."""
        return int(np.bincount(self.unit, minlength=1).max())

    def at_most(self, k: int, rng: Randomness) -> Incidence:
        """`k` cells of every unit, drawn at random among those it touches.

        The draw for a unit looks at that unit alone, so one unit moves at most k counts by 1.
        """
        order = np.lexsort((rng.generator().random(self.unit.size), self.unit))
        unit = self.unit[order]
        starts = np.flatnonzero(np.diff(unit, prepend=-1))
        rank = np.arange(unit.size) - np.repeat(starts, np.diff(starts, append=unit.size))
        kept = np.sort(order[rank < k])
        return Incidence(
            unit=self.unit[kept], cell=self.cell[kept], units=self.units, cells=self.cells
        )
