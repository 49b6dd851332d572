"""The counts of least relative error, given noisy ones: empirical Bayes, as post-processing.

What counts there are is estimated from all noisy ones together (the distribution under which they
are most likely, by expectation maximisation), and then each count from its own noisy one. Nothing
here reads data, so floating point does no harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, expm1, inf

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts

Floats = NDArray[np.float64]

ROUNDS = 60
"""Rounds of expectation maximisation; the last ones move next to nothing."""

NEAR, FAR = 3.0, 25.0
"""In scales of the noise: counts up to `NEAR` are told apart finely, and beyond `FAR` noise does so
little that they stay as they are but for its median."""

FINE, COARSE = 1 / 8, 1 / 4
"""How far apart the supposed counts are, in scales of the noise, below and above `NEAR`."""

FIRST_EMPTY = 0.5
"""The share of empty bins that is supposed at first. Counts far below the noise are not told from 0
by anything, and 0 is never wrong by more than the count itself."""

APART = 1e-6
"""Rates that differ by less are taken to differ by so much."""

MEDIAN_REACH = 12.0
"""Beyond so many scales there is next to nothing of the noise."""

IMPOSSIBLE = 1e-300
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
            return np.maximum(np.exp(-self.both * np.abs(noise)), IMPOSSIBLE)
        beyond = -expm1(-(self.both + self.down))
        above = np.exp(-self.both * np.maximum(noise, 0)) / beyond
        t = np.maximum(-noise, 0)
        least = min(self.both, self.down)
        apart = max(abs(self.both - self.down), APART * least)
        sums = np.exp(-least * t) * np.expm1(-apart * (t + 1)) / expm1(-apart)
        below = sums + exp(-(self.both + self.down)) * np.exp(-self.down * t) / beyond
        found: Floats = np.where(noise >= 0, above, below)
        return np.maximum(found, IMPOSSIBLE)

    @property
    def median(self) -> int:
        """About what N − G exceeds as often as not, to a small part of its scale."""
        places = np.arange(-MEDIAN_REACH, MEDIAN_REACH, FINE) * self.scale
        heaped = np.cumsum(self.likelihood(places))
        return round(float(places[np.searchsorted(heaped, heaped[-1] / 2)]))


def likely_counts(noisy: Counts, noise: Noise) -> Counts:
    """Given `noisy` = x + `noise` for counts x ≥ 0, the x̂ of least expected Σ|x̂ − x|/max(x, 1).

    That is the median of what x may be, each value v weighted with its probability over max(v, 1).
    """
    values = noisy.reshape(-1)
    estimate = np.maximum(values - noise.median, 0)
    drowned = np.flatnonzero(values <= FAR * noise.scale)
    if drowned.size:
        estimate[drowned] = _medians(values[drowned], noise)
    return estimate.reshape(noisy.shape)


def _medians(noisy: Counts, noise: Noise) -> Counts:
    scale = noise.scale
    # Noisy counts that noise cannot tell apart are treated as one.
    width = max(1, round(scale * FINE))
    places, where, times = np.unique(
        np.floor_divide(noisy, width), return_inverse=True, return_counts=True
    )
    supposed = _supposed(float(noisy.max()), scale)
    middles = places * width + (width - 1) / 2
    likelihood = noise.likelihood(middles[:, None] - supposed[None, :])
    prior = _most_likely(likelihood, times)
    weights = np.cumsum(likelihood * (prior / np.maximum(supposed, 1)), axis=1)
    chosen = np.argmax(weights >= weights[:, -1:] / 2, axis=1)
    counts: Counts = supposed[chosen].astype(np.int64)[where]
    return counts


def _supposed(largest: float, scale: float) -> Floats:
    """What counts there may be: 0, and multiples of parts of the noise's scale."""
    near = np.arange(2 * FINE, NEAR, FINE)
    far = np.arange(NEAR, FAR + 2, COARSE)
    found = np.unique(np.rint(np.concatenate([[0.0], near * scale, far * scale])))
    return np.asarray(found[found <= max(largest, 0) + scale], dtype=np.float64)


def _most_likely(likelihood: Floats, times: Counts) -> Floats:
    """The distribution over columns under which the rows, each seen so many `times`, are likely."""
    size = likelihood.shape[1]
    prior = np.full(size, (1 - FIRST_EMPTY) / size)
    prior[0] += FIRST_EMPTY
    total = times.sum() + 1
    for _ in range(ROUNDS):
        shares = times / (likelihood @ prior)
        prior = prior * (shares @ likelihood)
        prior[0] += 1  # one more empty bin, so that 0 is never ruled out
        prior /= total
    return prior
