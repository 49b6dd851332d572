"""Histograms of many kinds, drawn from a seed: what `auto` is judged on beside public data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from onesided.data import Histogram
from onesided.data.histogram import Counts
from onesided.datasets.sampling import HiLoSampling, MSampling, OptIn
from onesided.randomness import Randomness, seeded

if TYPE_CHECKING:
    from numpy.random import Generator

Floats = NDArray[np.float64]

BINS = (64, 256, 1_000, 4_096)
UNITS = (2_000, 2_000_000)
"""The least and the greatest number of units; it is drawn on the scale of ratios."""

SHARES = (0.99, 0.9, 0.75, 0.5, 0.25, 0.1, 0.05, 0.01)
CONCENTRATION = 2.0
"""That of the shares of bins which differ from bin to bin: most are near 0 or near 1."""


def even(bins: int, dice: Generator) -> Floats:
    return np.ones(bins)


def rough(bins: int, dice: Generator) -> Floats:
    return dice.gamma(2.0, 1.0, bins)


def smooth(bins: int, dice: Generator) -> Floats:
    places = np.linspace(0, 1, bins)
    return np.exp(-(((places - dice.uniform(0.3, 0.7)) / dice.uniform(0.1, 0.3)) ** 2) / 2)


def zipf(bins: int, dice: Generator) -> Floats:
    return dice.permutation(1 / np.arange(1, bins + 1) ** dice.uniform(0.8, 1.6))


def spikes(bins: int, dice: Generator) -> Floats:
    levels = np.ones(bins)
    levels[dice.integers(0, bins, max(bins // 50, 2))] += dice.uniform(20, 200)
    return levels


def spikes_alone(bins: int, dice: Generator) -> Floats:
    levels = np.zeros(bins)
    levels[dice.integers(0, bins, max(bins // 20, 2))] = dice.lognormal(0, 1)
    return levels


def steps(bins: int, dice: Generator) -> Floats:
    return np.repeat(dice.lognormal(0, 1.5, 8), -(-bins // 8))[:bins]


def unaligned_steps(bins: int, dice: Generator) -> Floats:
    cuts = np.searchsorted(np.sort(dice.random(11)), np.linspace(0, 1, bins))
    return dice.lognormal(0, 1.5, 12)[cuts]


def heavy_tails(bins: int, dice: Generator) -> Floats:
    return dice.lognormal(0, 2, bins)


def islands(bins: int, dice: Generator) -> Floats:
    levels = np.zeros(bins)
    width = max(bins // 32, 2)
    for start in dice.integers(0, bins - width, 5):
        levels[start : start + width] = dice.lognormal(0, 1)
    return levels


def waves(bins: int, dice: Generator) -> Floats:
    return 1 + dice.uniform(0.5, 1) * np.sin(np.linspace(0, dice.uniform(2, 40), bins))


def ramp(bins: int, dice: Generator) -> Floats:
    return np.linspace(0, 1, bins) ** dice.uniform(0.5, 3)


def decay(bins: int, dice: Generator) -> Floats:
    return np.exp(-np.linspace(0, dice.uniform(3, 12), bins))


def bumps(bins: int, dice: Generator) -> Floats:
    places = np.linspace(0, 1, bins)[:, None]
    heights, widths = dice.lognormal(0, 1, 6), dice.uniform(0.005, 0.05, 6)
    return 0.05 + (heights * np.exp(-(((places - dice.random(6)) / widths) ** 2) / 2)).sum(axis=1)


def weeks(bins: int, dice: Generator) -> Floats:
    return np.tile(dice.lognormal(0, 0.8, 7), -(-bins // 7))[:bins] * dice.lognormal(0, 0.2, bins)


def every_other(bins: int, dice: Generator) -> Floats:
    return (np.arange(bins) % 2).astype(np.float64)


def half_empty(bins: int, dice: Generator) -> Floats:
    return dice.gamma(1.0, 1.0, bins) * (dice.random(bins) < 0.5)


def ages(bins: int, dice: Generator) -> Floats:
    """A population: fewer old ones, and heaps at round numbers."""
    years = np.arange(bins) * 100 / bins
    levels = 1 / (1 + np.exp((years - dice.uniform(50, 75)) / 8))
    levels[:: max(bins // 20, 2)] *= dice.uniform(1.2, 3)
    return np.asarray(levels)


KINDS: dict[str, Callable[[int, Generator], Floats]] = {
    each.__name__.replace("_", " "): each
    for each in (
        even,
        rough,
        smooth,
        zipf,
        spikes,
        spikes_alone,
        steps,
        unaligned_steps,
        heavy_tails,
        islands,
        waves,
        ramp,
        decay,
        bumps,
        weeks,
        every_other,
        half_empty,
        ages,
    )
}


@dataclass(frozen=True)
class ByChance:
    """Every unit is non-sensitive with the same chance, independently of the others."""

    name: str = "by chance"

    def sample(self, x: Counts, share: float, rng: Randomness) -> Counts:
        return rng.generator().binomial(x, share)


@dataclass(frozen=True)
class ByBin:
    """The share of non-sensitive units differs from bin to bin."""

    name: str = "by bin"

    def sample(self, x: Counts, share: float, rng: Randomness) -> Counts:
        dice = rng.generator()
        shares = dice.beta(CONCENTRATION * share, CONCENTRATION * (1 - share), x.size)
        return dice.binomial(x, shares)


POLICIES: tuple[OptIn, ...] = (MSampling(), HiLoSampling(), ByChance(), ByBin())


@dataclass(frozen=True)
class Made:
    """One histogram, and how it came about."""

    kind: str
    bins: int
    units: int
    share: float
    policy: str
    histogram: Histogram

    @property
    def name(self) -> str:
        return f"{self.kind}, {self.bins} bins, {self.units} units, {self.share:g} {self.policy}"


def made(kind: str, bins: int, rng: Randomness) -> Made:
    """A histogram of a kind: the number of units, their share and policy are drawn as well."""
    dice = rng.generator()
    units = int(np.exp(dice.uniform(*np.log(UNITS))))
    share = float(dice.choice(SHARES))
    policy = POLICIES[int(dice.integers(len(POLICIES)))]
    levels = KINDS[kind](bins, dice)
    counts = dice.poisson(levels * units / levels.sum())
    drawn = policy.sample(counts, share, rng)
    return Made(kind, bins, units, share, policy.name, Histogram(counts, drawn))


def all_kinds(seed: int) -> list[Made]:
    """One histogram of each kind and number of bins."""
    wanted = [(kind, bins) for kind in KINDS for bins in BINS]
    return [
        made(kind, bins, rng)
        for (kind, bins), rng in zip(wanted, seeded(seed).spawn(len(wanted)), strict=True)
    ]
