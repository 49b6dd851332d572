"""`agrid`: a coarse grid over a map, refined where its noisy counts are high.

After "Differentially private grids for geospatial data" (Qardaji, Yang, Li 2013), with a noisy
total in the place of the true one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts, Floats
from onesided.errors import InputError, MechanismRefused
from onesided.mechanisms.base import Kind, PublicShape
from onesided.mechanisms.buckets.algorithm import BucketAlgorithm, Bucketed, measured_alone
from onesided.mechanisms.buckets.totals import (
    bucket_totals,
    checked_share,
    checked_shrink,
    measure_totals,
    shrunk,
    spread_evenly,
)
from onesided.randomness import Randomness

LEAST_COARSE_SIDE = 10
"""The coarse grid has at least this many cells along each side, as published."""


@dataclass(frozen=True, kw_only=True)
class AGrid(BucketAlgorithm):
    """A noisy total fixes a coarse grid, noisy coarse counts fix finer ones, both are reconciled.

    With budget a for one unit in at most k bins:

    - the total N is measured with a₀ = `total_share`·a; a' = (a − a₀)/k is left for the grids;
    - the coarse grid has m₁ × m₁ cells, m₁ = max(10, ⌈√(N·a'/c)/4⌉), c = `granularity`; its counts
      get noise of rate α·a', α = `coarse_share`;
    - a coarse cell of noisy count v is cut into m₂ × m₂, m₂ = ⌈√(v·(1−α)·a'/(c/2))⌉; these counts
      get noise of rate (1−α)·a'; then each cell and its parts are weighted by their variances;
    - `shrink` s: a fine total t becomes t − τ²/t, and 0 below τ, s times the scale of its noise.
    """

    name: ClassVar[str] = "agrid"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "two-dimensional: a coarse grid, refined where noisy counts are high"
    dimensions: ClassVar[int | None] = 2

    total_share: Fraction = Fraction(1, 20)
    coarse_share: Fraction = Fraction(1, 2)
    granularity: float = 10.0
    shrink: Fraction = Fraction(2)

    def __post_init__(self) -> None:
        for name in ("total_share", "coarse_share"):
            object.__setattr__(self, name, checked_share(getattr(self, name), name))
        object.__setattr__(self, "shrink", checked_shrink(self.shrink))
        if not 0 < self.granularity < float("inf"):
            raise InputError("granularity must be a number greater than 0.")

    def check_shape(self, shape: tuple[int, ...]) -> None:
        if len(shape) != self.dimensions:
            raise MechanismRefused(
                "agrid needs a histogram of two dimensions; use privtree for any other number."
            )

    def rough_error(self, public: PublicShape, budget: Fraction) -> float | None:
        fine = budget * (1 - self.total_share) * (1 - self.coarse_share)
        return measured_alone(public, fine, self.shrink)

    def run(
        self, counts: Counts, k: int, budget: Fraction, rng: Randomness, n: int | None = None
    ) -> Bucketed:
        self.check_shape(counts.shape)
        total_rate, coarse_rate, fine_rate = self._rates(k, budget)
        total = int(counts.sum() + rng.two_sided_geometric(total_rate, 1)[0])
        grid = Grid.even(counts.shape, self._coarse_side(total, coarse_rate + fine_rate))
        coarse = measure_totals(bucket_totals(counts, grid.cells()), coarse_rate, rng).values
        finer = Refinement.of(grid, self._fine_sides(coarse, fine_rate))
        buckets = finer.cells()
        fine = measure_totals(bucket_totals(counts, buckets), fine_rate, rng)
        totals = finer.reconciled(coarse, fine.values, float(self.coarse_share))
        return Bucketed(
            value=spread_evenly(shrunk(totals, float(self.shrink / fine_rate)), buckets),
            buckets=buckets,
            intervals=(fine.interval,),
            parts={"bucket_totals": fine.values, "coarse_totals": coarse},
        )

    def noise(self, shape: tuple[int, ...], k: int, budget: Fraction) -> str:
        total_rate, coarse_rate, fine_rate = self._rates(k, budget)
        return (
            f"two-sided geometric: rate {total_rate} on the total, rate {coarse_rate} on "
            f"each coarse cell, rate {fine_rate} on each fine one"
        )

    def _rates(self, k: int, budget: Fraction) -> tuple[Fraction, Fraction, Fraction]:
        """Those of the noise on the total, on a coarse cell and on a fine one."""
        grids = budget * (1 - self.total_share) / k
        return (
            budget * self.total_share / k,
            grids * self.coarse_share,
            grids * (1 - self.coarse_share),
        )

    def _coarse_side(self, total: int, rate: Fraction) -> int:
        ideal = sqrt(max(total, 0) * float(rate) / self.granularity) / 4
        return max(LEAST_COARSE_SIDE, ceil(ideal))

    def _fine_sides(self, coarse: Counts, rate: Fraction) -> NDArray[np.int64]:
        ideal = np.sqrt(np.maximum(coarse, 0) * float(rate) / (self.granularity / 2))
        return np.maximum(np.ceil(ideal), 1).astype(np.int64)


@dataclass(frozen=True)
class Grid:
    """A grid over a map: the grid's row of each row of bins, and its column of each column."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]

    @classmethod
    def even(cls, shape: tuple[int, ...], side: int) -> Grid:
        """`side` × `side` cells as equal as can be; never more along a side than there are bins."""
        rows, columns = (np.arange(bins) * min(side, bins) // bins for bins in shape)
        return cls(rows, columns)

    def cells(self) -> NDArray[np.int64]:
        """The number of each bin's cell."""
        across = int(self.columns[-1]) + 1
        return self.rows[:, None] * across + self.columns[None, :]


@dataclass(frozen=True)
class Refinement:
    """A grid whose cell (R, C) is cut into `down`[R, C] × `across`[R, C] parts."""

    grid: Grid
    down: NDArray[np.int64]
    across: NDArray[np.int64]

    @classmethod
    def of(cls, grid: Grid, sides: NDArray[np.int64]) -> Refinement:
        """`sides` parts along both sides of each cell, or single bins where those are fewer."""
        heights, widths = np.bincount(grid.rows), np.bincount(grid.columns)
        square = sides.reshape(heights.size, widths.size)
        return cls(grid, np.minimum(square, heights[:, None]), np.minimum(square, widths))

    def cells(self) -> NDArray[np.int64]:
        """The number of each bin's part; the parts of a cell are numbered consecutively."""
        where = np.ix_(self.grid.rows, self.grid.columns)
        parts = self.down * self.across
        first = (np.cumsum(parts) - parts.reshape(-1)).reshape(parts.shape)
        row = _position(self.grid.rows)[:, None] * self.down[where]
        column = _position(self.grid.columns)[None, :] * self.across[where]
        row //= np.bincount(self.grid.rows)[self.grid.rows][:, None]
        column //= np.bincount(self.grid.columns)[self.grid.columns][None, :]
        return np.asarray(first[where] + row * self.across[where] + column, dtype=np.int64)

    def reconciled(self, coarse: Counts, fine: Counts, alpha: float) -> Floats:
        """The best estimate of each part from its own count and its cell's.

        A cell's count has variance ∝ 1/α², the sum over its L parts ∝ L/(1−α)²; what their weighted
        mean differs from that sum is given to the parts in equal shares.
        """
        parts = (self.down * self.across).reshape(-1)
        sums = np.add.reduceat(fine, np.cumsum(parts) - parts)
        weight = alpha**2 * parts / ((1 - alpha) ** 2 + alpha**2 * parts)
        return np.asarray(fine + np.repeat(weight * (coarse - sums) / parts, parts))


def _position(runs: NDArray[np.int64]) -> NDArray[np.int64]:
    """How far each entry of an ascending array is from the first one equal to it."""
    return np.arange(runs.size) - np.searchsorted(runs, runs)
