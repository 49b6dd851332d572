"""How equal the counts of made-up data are inside the pieces of a probe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from math import log1p, sqrt
from typing import TYPE_CHECKING

import numpy as np

from onesided.mechanisms.pieces import SCALES, Floats, Pieces
from onesided.mechanisms.solving import MOST_SHAPE

if TYPE_CHECKING:
    from numpy.random import Generator

NEARLY_NOTHING = 1e-6
"""A level that is not 0, so that a piece whose levels all vanish can be brought to its mean."""


class Texture(Enum):
    """What a picture assumes about the bins inside a piece."""

    EVEN = "even"  # as equal as the probe allows
    LIKELY = "likely"  # half way between
    SCATTERED = "scattered"  # as unequal as the probe allows
    LONG_TAILED = "long-tailed"  # few bins that are empty, and few that are very full


@dataclass(frozen=True)
class TwoLevels:
    """A share of bins, `full`, at one level, and all others at another, `low`: 1 on average."""

    full: float
    low: float

    @property
    def high(self) -> float:
        return (1 - (1 - self.full) * self.low) / self.full

    def spread(self, bins: int, generator: Generator) -> Floats:
        """The level of each bin: full ones are as far from each other as they can be."""
        heaped = np.floor(np.arange(bins + 1) * self.full + generator.random())
        return np.where(np.diff(heaped) > 0, self.high, self.low)


EVEN_SHAPES = (MOST_SHAPE,) * (len(SCALES) + 1)


@dataclass(frozen=True)
class Grain:
    """How equal made-up counts are: the shapes of the distributions that levels are drawn from.

    `shapes` are those of the bins of a small block, of the small blocks of a larger one, and so on
    to the largest blocks of a piece; 1/shape is the square of the coefficient of variation.
    `holes` is the share of bins that have no more than a `hole_ratio` of what others have: one by
    one (`hole_place` 0), in small blocks (1) or in the largest (2). `levels` are those that bins
    have beside all of this.
    """

    shapes: tuple[float, ...]
    texture: Texture
    holes: float = 0.0
    hole_place: int = 0
    hole_ratio: float = NEARLY_NOTHING
    levels: TwoLevels | None = None

    @classmethod
    def of_bins(cls, shape: float, texture: Texture) -> Grain:
        """Bins of a `shape` in blocks that are all alike."""
        return cls((shape, *EVEN_SHAPES[1:]), texture)

    @property
    def hole_levels(self) -> TwoLevels:
        """Those of holes, which have the `hole_ratio` of all others, and of these."""
        full = 1 - self.holes
        return TwoLevels(full, self.hole_ratio / (full + (1 - full) * self.hole_ratio))

    def with_shape(self, place: int, shape: float) -> Grain:
        """Another `shape` at a `place`, counted from the bins."""
        return replace(self, shapes=(*self.shapes[:place], shape, *self.shapes[place + 1 :]))

    def draw(self, shape: float, size: int, generator: Generator) -> Floats:
        """Levels of mean 1 at a `shape`; all alike at the largest."""
        if shape >= MOST_SHAPE:
            return np.ones(size)
        if self.texture is Texture.LONG_TAILED:
            variance = log1p(1 / shape)
            return generator.lognormal(-variance / 2, sqrt(variance), size)
        return generator.gamma(shape, 1 / shape, size)


def made_up_levels(found: Pieces, grain: Grain, generator: Generator) -> Floats:
    """What each bin expects over the mean of its piece: 1 on average.

    In a piece of one bin it is what the probe may have hidden: given y = x − G, x is y₊ plus what
    noise takes from such bins.
    """
    levels = grain.draw(grain.shapes[0], found.piece.size, generator)
    for shape, block, number in zip(grain.shapes[1:], found.blocks, found.numbers[1:], strict=True):
        levels *= grain.draw(shape, number, generator)[block]
    if grain.levels is not None:
        levels *= grain.levels.spread(levels.size, generator)
    levels += NEARLY_NOTHING
    if grain.holes:
        holed = grain.hole_levels.spread(found.numbers[grain.hole_place], generator)
        levels *= generator.permutation(holed)[found.places[grain.hole_place]]
    levels *= (np.bincount(found.piece) / np.bincount(found.piece, weights=levels))[found.piece]
    alone = np.flatnonzero(~found.several)
    hidden = generator.exponential(found.taken, alone.size)
    least = np.maximum(found.means[alone], 1 / found.noise_rate)
    levels[alone] = (found.floor[alone] + hidden) / least
    return levels
