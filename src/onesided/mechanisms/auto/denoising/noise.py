"""The sum of the noise on sensitive units and on the others, whose distribution is known."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, expm1, inf

import numpy as np

from onesided.data.histogram import Floats
from onesided.mechanisms.noise import geometric_mean

LEAST = 1e-300
"""In place of probabilities that are too small for a floating-point number."""


@dataclass(frozen=True)
class Noise:
    """N − G, where N is two-sided geometric of rate `both` and G one-sided of rate `down`, or 0."""

    both: float
    down: float = inf

    @property
    def scale(self) -> float:
        return max(1 / self.both, 1 / self.down)

    def likelihood(self, noise: Floats) -> Floats:
        """Pr[N − G = e] up to a constant, with α = e^(−both) and β = e^(−down).

        αᵉ/(1 − αβ) for e ≥ 0. For e = −t it is Σ_{g≤t} α^(t−g)·β^g + αβ·βᵗ/(1 − αβ), and the sum
        is λᵗ·(1 − e^(−D(t+1)))/(1 − e^(−D)), λ the larger of α and β and D the difference of rates.
        """
        if self.down == inf:
            return np.maximum(np.exp(-self.both * np.abs(noise)), LEAST)
        beyond = -expm1(-(self.both + self.down))
        above = np.exp(-self.both * np.maximum(noise, 0)) / beyond
        t = np.maximum(-noise, 0)
        least = min(self.both, self.down)
        # Equal rates are taken to differ by a little: the limit is the same.
        apart = max(abs(self.both - self.down), 1e-6 * least)
        sums = np.exp(-least * t) * np.expm1(-apart * (t + 1)) / expm1(-apart)
        below = sums + exp(-(self.both + self.down)) * np.exp(-self.down * t) / beyond
        found: Floats = np.where(noise >= 0, above, below)
        return np.maximum(found, LEAST)

    @property
    def mean(self) -> float:
        return -geometric_mean(self.down) if self.down < inf else 0.0

    @property
    def variance(self) -> float:
        """2·α/(1 − α)² and, if there is G, β/(1 − β)²."""
        of_both, of_down = (exp(-rate) / expm1(-rate) ** 2 for rate in (self.both, self.down))
        return 2 * of_both + of_down

    @property
    def median(self) -> int:
        """About what N − G exceeds as often as not, to a small part of its scale."""
        # In scales of the noise: e^(−12) is next to nothing.
        places = np.arange(-12.0, 12.0, 1 / 8) * self.scale
        heaped = np.cumsum(self.likelihood(places))
        return round(float(places[np.searchsorted(heaped, heaped[-1] / 2)]))
