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

WELL_POSSIBLE = 2.0
"""By how much the logarithm of its likelihood may fall short of the largest, and bins that hold
less than the noise's scale are still taken for empty: two standard errors."""

ANY_COUNT = 0.5
"""How many full bins more are supposed than others tell of, with any count alike, so that none is
ruled out."""

MORE_EMPTY = 1 / 32
"""How many more empty bins are supposed than there seem to be, so that 0 is never ruled out."""

BLOCK_ROUNDS, SETTLED = 20, 1e-3
"""Rounds of expectation maximisation for the shares of empty bins by block, at most, until none of
them moves by more than that."""

CERTAIN = 1 - 1e-9
"""The largest share of empty bins."""

LEAST_CORRELATION, MOST_CORRELATION = 1e-6, 0.999
"""Between blocks that are all alike, and blocks of nothing but full or empty bins."""

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


def likely_counts(
    noisy: Counts, noise: Noise, *, least: Counts | None = None, block: Counts | None = None
) -> Counts:
    """Given `noisy` = x + `noise` for counts x ≥ 0, the x̂ of least expected Σ|x̂ − x|/max(x, 1).

    That is the median of what x may be, each value v weighted with its probability over max(v, 1).
    No x is below `least`, where that is known. Bins of one `block` are about as likely to be empty;
    otherwise all are.
    """
    values = noisy.reshape(-1)
    bounds = np.zeros_like(values) if least is None else least.reshape(-1)
    blocks = np.zeros_like(values) if block is None else block.reshape(-1)
    estimate = np.maximum(values - noise.median, 0)
    drowned = np.flatnonzero(values <= FAR * noise.scale)
    if drowned.size:
        here = _Block(blocks[drowned], np.bincount(blocks))
        estimate[drowned] = _medians(values[drowned], noise, bounds[drowned], here)
    return estimate.reshape(noisy.shape)


@dataclass(frozen=True)
class _Block:
    """The block `of` each bin that is looked at, and the sizes of all blocks, far counts included.

    Far counts are those of bins that are not empty beyond doubt.
    """

    of: Counts
    sizes: Counts

    def sums(self, values: Floats) -> Floats:
        return np.bincount(self.of, values, self.sizes.size).astype(np.float64)


def _medians(noisy: Counts, noise: Noise, least: Counts, block: _Block) -> Counts:
    scale = noise.scale
    # Noisy counts that noise cannot tell apart are treated as one.
    width = max(1, round(scale * FINE))
    places, where, times = np.unique(
        np.floor_divide(noisy, width), return_inverse=True, return_counts=True
    )
    supposed = _supposed(float(noisy.max()), scale)
    if supposed.size == 1:
        return np.zeros_like(noisy)
    middles = places * width + (width - 1) / 2
    likelihood = noise.likelihood(middles[:, None] - supposed[None, :])
    prior = _most_likely(likelihood, times)
    if not least.any():
        prior = _plainest(prior, likelihood, times, int(np.searchsorted(supposed, scale)))
    empty, full = likelihood[:, 0], likelihood[:, 1:] * _of_others(prior, likelihood, times)
    odds = _odds_of_empty(float(prior[0]), empty[where], full.sum(axis=1)[where], block)
    # The weights of counts above 0, heaped up, and of 0 in the same units.
    heaped = np.cumsum(full / supposed[1:], axis=1)
    zero = empty[where] * odds
    first = np.searchsorted(supposed[1:], least)
    excluded = np.where(first > 0, heaped[where, np.maximum(first, 1) - 1], 0.0)
    half = (heaped[where, -1] + np.where(least > 0, excluded, -zero)) / 2
    chosen = supposed[1:][_first_reaching(heaped, where, half)]
    return np.where(half > 0, chosen, 0).astype(np.int64)


def _first_reaching(heaped: Floats, row: Counts, wanted: Floats) -> Counts:
    """The first column of each bin's `row` of `heaped`, which grows, that is what is `wanted`."""
    low, high = np.zeros_like(row), np.full_like(row, heaped.shape[1] - 1)
    while np.any(low < high):
        middle = (low + high) // 2
        enough = heaped[row, middle] >= wanted
        high = np.where(enough, middle, high)
        low = np.where(enough, low, np.minimum(middle + 1, high))
    return low


def _odds_of_empty(everywhere: float, empty: Floats, full: Floats, block: _Block) -> Floats:
    """How much likelier bins are to be empty than full, as the others of their blocks tell.

    `empty` and `full` are the likelihoods of what was measured if a bin is so; `everywhere` is the
    share of empty bins to begin with. By expectation maximisation: a bin's own likelihood does not
    enter its share, and the share of all bins counts as much as blocks are alike. Far counts are
    full ones too, but those that are looked at are not among them: of the full ones only a part
    `near`, which is learnt with the shares, could have been measured as they were.
    """
    looked_at, everyone = block.of.size, int(block.sizes.sum())
    everywhere = min(everywhere, CERTAIN)
    if block.sizes.size == 1:
        return np.full(looked_at, everywhere / (1 - everywhere))
    share = np.full(looked_at, everywhere * looked_at / everyone)
    seem_full = (1 - everywhere) * looked_at
    for _ in range(BLOCK_ROUNDS):
        near = max(seem_full / (seem_full + everyone - looked_at), 1 - CERTAIN)
        weight = share * empty
        likely = weight / (weight + (1 - share) * near * full)
        empties = block.sums(likely)
        seem_full = max(float(np.sum(1 - likely)), 1 - CERTAIN)
        more = _bins_in_common(empties, block.sizes)
        common = more * empties.sum() / everyone
        others, left = block.sizes[block.of] - 1, empties[block.of] - likely
        former, share = share, np.clip((left + common) / (others + more), 1 - CERTAIN, CERTAIN)
        if np.abs(share - former).max() < SETTLED:
            break
    return np.asarray(share / ((1 - share) * near))


def _bins_in_common(empties: Floats, sizes: Counts) -> float:
    """How many bins the share of all bins should count for in a block: κ = 1/ρ − 1.

    ρ is the correlation of being empty within blocks: how much the shares of blocks vary beyond
    what they would by chance, p·(1 − p)/size, as a part of the most they can, p·(1 − p).
    """
    empties, sizes = empties[sizes > 0], sizes[sizes > 0]
    p = empties.sum() / sizes.sum()
    most = p * (1 - p)
    chance = most * sizes.size / sizes.sum()
    between = np.sum(sizes * (empties / sizes - p) ** 2) / sizes.sum()
    correlation = (between - chance) / (most - chance) if most > chance else 0.0
    return float(1 / np.clip(correlation, LEAST_CORRELATION, MOST_CORRELATION) - 1)


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
    total = times.sum() + MORE_EMPTY
    for _ in range(ROUNDS):
        shares = times / (likelihood @ prior)
        prior = prior * (shares @ likelihood)
        prior[0] += MORE_EMPTY
        prior /= total
    return prior


def _of_others(prior: Floats, likelihood: Floats, times: Counts) -> Floats:
    """The distribution of counts above 0 that a row is judged by: what the other bins tell of it.

    A lone noise far above 0 would otherwise speak for itself.
    """
    full = prior[1:] * likelihood[:, 1:]
    own = full / (likelihood @ prior)[:, None]
    others = np.maximum(times.sum() * prior[1:] - own, 0.0) + ANY_COUNT / own.shape[1]
    return np.asarray(others / others.sum(axis=1, keepdims=True))


def _plainest(prior: Floats, likelihood: Floats, times: Counts, small: int) -> Floats:
    """`prior` with as many of the first `small` columns taken for 0 as may well be.

    In few bins noise that is a little above 0 on average looks like small counts, and those cost
    much where bins are empty; 0 in place of small counts costs little.
    """
    best = times @ np.log(likelihood @ prior)
    for last in range(small, 0, -1):
        plain = prior.copy()
        plain[1 : last + 1] *= 1 - CERTAIN
        plain[0] += prior[1 : last + 1].sum() * CERTAIN
        if best - times @ np.log(likelihood @ plain) <= WELL_POSSIBLE:
            return plain
    return prior
