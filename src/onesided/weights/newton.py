"""The weights for one strength of belief, by Newton's method on the dual; see calibration.md."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from onesided.weights.combinations import Combinations
from onesided.weights.margins import Floats, Truths

_MOST_STEPS = 60
#: A step that changes no weight by more than this is the last: the next one would be its square.
_NEAR = 1e-4
#: The most that a step changes the logarithm of a weight: beyond it the quadratic says little.
_FARTHEST = 3.0
_HALVINGS = 40


@dataclass(frozen=True)
class DualProblem:
    """Minimise Σ n·w₀·exp(Bᵀμ) − μᵀb + μᵀdiag(ridge)μ/2 over a multiplier μ for each held cell.

    - `flat`: w₀, the weight of every unit before.
    - `held`: for each margin the cells that have a multiplier.
    - `counted`: b, of these cells one margin after the other.
    - `variance`: of the noise of each of them.
    - `total`: what the weights sum to, by a multiplier of its own that has no ridge.
    """

    found: Combinations
    flat: float
    held: tuple[Truths, ...]
    counted: Floats
    variance: Floats
    total: float

    def relative(self, kappa: float) -> Floats:
        """By how much the weight of each combination differs from the flat one, as a factor."""
        ridge = np.append(self.variance / kappa, 0.0)
        target = np.append(self.counted, self.total)
        multipliers = np.zeros(len(target))
        factor, value = self._at(multipliers, target, ridge)
        for _ in range(_MOST_STEPS):
            weights = self.found.number * self.flat * factor
            gradient = self._sums(weights) + ridge * multipliers - target
            step = -_solved(self._curvature(weights) + np.diag(ridge), gradient)
            farthest = float(np.abs(self._spread(step)).max())
            if farthest < _NEAR:
                return self._at(multipliers + step, target, ridge)[0]
            step *= min(1.0, _FARTHEST / farthest)
            for _ in range(_HALVINGS):
                trial, below = self._at(multipliers + step, target, ridge)
                if below <= value + float(gradient @ step) / 4:
                    break
                step /= 2
            else:
                break  # no step helps any more: the rest is rounding
            multipliers, factor, value = multipliers + step, trial, below
        return factor

    def cell_sums(self, weights: Floats) -> Floats:
        """What `weights` of the combinations come to in the held cells."""
        sums = zip(self.found.sums(weights), self.held, strict=True)
        return np.concatenate([own[held] for own, held in sums]) if self.held else np.zeros(0)

    def cell_products(self, weights: Floats) -> Floats:
        """A·diag(`weights`)·Aᵀ over the held cells."""
        if not self.held:
            return np.zeros((0, 0))
        held = np.concatenate(self.held)
        return self.found.products(weights)[np.ix_(held, held)]

    def _at(self, multipliers: Floats, target: Floats, ridge: Floats) -> tuple[Floats, float]:
        factor = np.exp(self._spread(multipliers))
        size = float(self.flat * (self.found.number @ factor))
        bent = float((ridge * multipliers) @ multipliers) / 2
        return factor, size + bent - float(multipliers @ target)

    def _spread(self, multipliers: Floats) -> Floats:
        """For each combination the sum of its multipliers, with that of the total."""
        own, start = [], 0
        for held in self.held:
            each = np.zeros(len(held))
            each[held] = multipliers[start : start + int(held.sum())]
            own.append(each)
            start += int(held.sum())
        return np.asarray(self.found.exponents(own) + multipliers[-1])

    def _sums(self, weights: Floats) -> Floats:
        return np.append(self.cell_sums(weights), weights.sum())

    def _curvature(self, weights: Floats) -> Floats:
        sums = self.cell_sums(weights)[:, np.newaxis]
        corner = np.array([[weights.sum()]])
        return np.block([[self.cell_products(weights), sums], [sums.T, corner]])


def _solved(matrix: Floats, right: Floats) -> Floats:
    """The solution; the least one where rounding has left the matrix without an inverse."""
    try:
        return np.asarray(np.linalg.solve(matrix, right))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0])
