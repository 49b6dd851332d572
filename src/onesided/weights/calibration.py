"""How far to believe released counts, and the weights of a sample that follow; see calibration.md.

Nothing here reads anything but a sample and counts, both of which were released.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onesided.weights.combinations import Combinations
from onesided.weights.margins import Floats, Margin
from onesided.weights.newton import DualProblem

_GRID = 64
#: In units of the flat weight: below the first, noise alone explains what the counts say.
_LEAST = 1e-2


@dataclass(frozen=True)
class Calibrated:
    """The weights of the units of a sample.

    - `weights`: one for each unit, all above 0; they sum to `total`.
    - `kappa`: how far a weight may leave the flat one; 0 where nothing speaks for that.
    """

    weights: Floats
    total: float
    kappa: float

    @property
    def effective_units(self) -> float:
        """As many units of equal weight are as exact: (Σw)²/Σw²."""
        if not len(self.weights):
            return 0.0
        return float(self.weights.sum() ** 2 / (self.weights @ self.weights))

    def sums(self, margin: Margin) -> Floats:
        """What the weights come to in the cells of a margin."""
        found = np.bincount(margin.pattern, self.weights, minlength=len(margin.cells))
        return np.asarray(found @ margin.cells)


def calibrated(margins: Sequence[Margin], units: int, total: float) -> Calibrated:
    """Weights of the `units` of a sample, which stand for `total` units."""
    if not units:
        return Calibrated(np.zeros(0), total, 0.0)
    problem = _problem(margins, units, total)
    kappa = likeliest_kappa(problem)
    factor = problem.relative(kappa) if kappa > 0 else np.ones(len(problem.found.number))
    factor *= units / (problem.found.number @ factor)
    return Calibrated(problem.flat * factor[problem.found.of_unit], total, kappa)


def likeliest_kappa(problem: DualProblem) -> float:
    """The κ under which the released counts are likeliest beside those of the flat weights.

    r = b − A·w₀ is normal with the variance Σ + κ·M, where M is that of weights with a fixed sum.
    One decomposition of Σ^−½·M·Σ^−½ gives the likelihood at every κ of a grid.
    """
    flat = problem.found.number * problem.flat
    sums = problem.cell_sums(flat)
    if not len(sums):
        return 0.0
    moving = problem.cell_products(flat) - np.outer(sums, sums) / problem.total
    scale = 1 / np.sqrt(problem.variance)
    sizes, turned = np.linalg.eigh(moving * np.outer(scale, scale))
    sizes = np.maximum(sizes, 0.0)
    squares = (turned.T @ (scale * (problem.counted - sums))) ** 2
    most = max(problem.total, 10 * problem.flat)
    grid = np.concatenate([[0.0], np.geomspace(_LEAST * problem.flat, most, _GRID)])
    spread = 1 + np.outer(grid, sizes)
    likelihood = -(np.log(spread) + squares / spread).sum(axis=1) / 2
    return float(grid[int(np.argmax(likelihood))])


def _problem(margins: Sequence[Margin], units: int, total: float) -> DualProblem:
    held = tuple(each.held for each in margins)
    filled = [each.filled(total) for each in margins]
    variances = [
        np.full(len(own), each.variance) for each, own in zip(margins, filled, strict=True)
    ]
    return DualProblem(
        found=Combinations.of(margins, units),
        flat=total / units,
        held=held,
        counted=np.concatenate(filled) if filled else np.zeros(0),
        variance=np.concatenate(variances) if variances else np.zeros(0),
        total=total,
    )
