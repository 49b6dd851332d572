"""What data may look like, given a probe: made-up histograms to try mechanisms on.

The probe shows where non-sensitive units are, in pieces (pieces.py); some answers about all units,
with noise, tell how rough counts are inside the pieces, and others where sensitive units are. What
was not asked is told by the number of bins with y > 0. Pictures are stand-ins for the data that
agree with all of this and differ in what it leaves open. Everything here is post-processing, so
floating point does no harm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from math import exp, log, log1p, sqrt
from typing import TYPE_CHECKING

import numpy as np

from onesided.data.histogram import Counts
from onesided.mechanisms.pieces import (
    SCALES,
    Floats,
    Pieces,
    Roughness,
    group_deviation,
)
from onesided.mechanisms.whereabouts import Apart, distance

if TYPE_CHECKING:
    from numpy.random import Generator

LEAST_SHAPE, MOST_SHAPE = 1e-2, 1e6
"""The range of the gamma distribution's shape, from one bin in hundreds filled to all alike."""

SURELY = 4.0
"""By how many scales of its noise an answer is taken to be smaller, so that chance is no reason to
give up what is usual: noise exceeds it in one case of a hundred."""

ALIKE = MOST_SHAPE
"""The concentration of shares that are taken to be all the same."""

STEPS = 7
"""Halvings of a range in which a number is looked for: of shapes on the scale of ratios."""

LEAST_DRAWN, MOST_REPEATED = 1024, 16
"""Few bins are drawn again and again for one number, until there are so many or so often."""

NEARLY_NOTHING = 1e-6
"""A level that is not 0, so that a piece whose levels all vanish can be brought to its mean."""

NEGLIGIBLE = 0.05
"""By how much more than it may a made-up deviation may be, as it is drawn by chance."""

MOST_HOLES = 0.95
"""The largest share of bins that a picture leaves empty."""

SLACK = 1.0
"""How many standard errors of the number of seen bins the pictures lie from it."""

WIDE = 1.5
"""How many scales of their noise the pictures lie from the answers."""


class Texture(Enum):
    """What a picture assumes about the bins inside a piece."""

    EVEN = "even"  # as equal as the probe allows
    LIKELY = "likely"  # half way between
    SCATTERED = "scattered"  # as unequal as the probe allows
    LONG_TAILED = "long-tailed"  # few bins that are empty, and few that are very full


@dataclass(frozen=True)
class Picture:
    """A stand-in for the data: counts `all` of all units and `nonsensitive` ones."""

    all: Counts
    nonsensitive: Counts


EVEN_SHAPES = (MOST_SHAPE,) * (len(SCALES) + 1)


@dataclass(frozen=True)
class Grain:
    """How equal made-up counts are: the shapes of the distributions that levels are drawn from.

    `shapes` are those of the bins of a small block, of the small blocks of a larger one, and so on
    to the largest blocks of a piece; 1/shape is the square of the coefficient of variation.
    `holes` is the share of bins that are empty: one by one (`hole_place` 0), in small blocks (1) or
    in the largest (2).
    """

    shapes: tuple[float, ...]
    texture: Texture
    holes: float = 0.0
    hole_place: int = 0

    @classmethod
    def of_bins(cls, shape: float, texture: Texture) -> Grain:
        """Bins of a `shape` in blocks that are all alike."""
        return cls((shape, *EVEN_SHAPES[1:]), texture)

    def with_shape(self, place: int, shape: float) -> Grain:
        """Another `shape` at a `place`, counted from the bins."""
        return replace(self, shapes=(*self.shapes[:place], shape, *self.shapes[place + 1 :]))

    def draw(self, shape: float, size: int, generator: Generator) -> Floats:
        """Levels of mean 1 at a `shape`."""
        if self.texture is Texture.LONG_TAILED:
            variance = log1p(1 / shape)
            return generator.lognormal(-variance / 2, sqrt(variance), size)
        return generator.gamma(shape, 1 / shape, size)


def picture(
    found: Pieces, hidden_means: Floats, levels: Floats, likeness: float, generator: Generator
) -> Picture:
    """One stand-in: `hidden_means` are what bins expect of sensitive units if pieces are even.

    `levels` are what bins expect over the mean of their piece; whether a unit is sensitive depends
    on nothing but its bin, see `_mixed` for `likeness`.
    """
    means, share = _mixed(found, hidden_means, likeness, generator)
    counts = generator.poisson(levels * means)
    return Picture(counts.astype(np.int64), generator.binomial(counts, share).astype(np.int64))


def _mixed(
    found: Pieces, hidden_means: Floats, likeness: float, generator: Generator
) -> tuple[Floats, Floats]:
    """The means of all units, and the shares of those that are not sensitive, drawn for each bin.

    Shares q vary about what is expected like a beta variable with a concentration, `likeness` c. In
    a piece of one bin the number of others is known, so that of sensitive ones varies instead: they
    are (1 − q)/q times the others, the logarithm of which has about the variance
    1/(q·(1 − q)·(c + 1)).
    """
    means = found.means + hidden_means
    share = found.means / np.where(means > 0, means, 1)
    if likeness >= ALIKE:
        return means, share
    mixed = (share > NEARLY_NOTHING) & (share < 1 - NEARLY_NOTHING)
    several, alone = mixed & found.several, mixed & ~found.several
    means = means.copy()
    within = share[several]
    share[several] = generator.beta(within * likeness, (1 - within) * likeness)
    variance = 1 / (share[alone] * (1 - share[alone]) * (likeness + 1))
    times = generator.lognormal(-variance / 2, np.sqrt(variance))
    means[alone] = found.means[alone] + hidden_means[alone] * times
    share[alone] = found.means[alone] / means[alone]
    return means, share


def measured_likeness(
    found: Pieces,
    hidden_means: Floats,
    expected: Floats,
    grain: Grain,
    apart: Apart,
    generator: Generator,
) -> float:
    """How alike the shares of bins are, if sensitive units are as far `apart` as beyond doubt.

    That is, from where they were `expected`.
    """
    repeats = _repeats(found.piece.size)

    def away(likeness: float) -> float:
        total = 0
        for _ in range(repeats):
            levels = made_up_levels(found, grain, generator)
            drawn = picture(found, hidden_means, levels, likeness, generator)
            total += distance(drawn.all - drawn.nonsensitive, expected)
        return total / repeats

    least = apart.value - SURELY * apart.scale
    return ALIKE if away(ALIKE) >= least else _solve(away, least)


@dataclass(frozen=True)
class Span:
    """The shapes that an answer allows: up to `even`, down to `uneven`."""

    even: float
    uneven: float

    def within(self, other: Span) -> Span:
        """What both allow; the nearest end of this one if that is nothing."""
        lowest, highest = self.uneven, self.even
        return Span(*(min(max(end, lowest), highest) for end in (other.even, other.uneven)))

    def at(self, texture: Texture) -> float:
        ends = {Texture.EVEN: self.even, Texture.SCATTERED: self.uneven}
        return ends.get(texture, sqrt(self.even * self.uneven))


@dataclass(frozen=True)
class _Easel:
    """Made-up counts around `means`, what bins expect if pieces are even."""

    found: Pieces
    means: Floats
    generator: Generator

    def draw(self, grain: Grain) -> list[Counts]:
        """Counts of a `grain`; several times where bins are few."""
        repeats = _repeats(self.means.size)
        levels = (made_up_levels(self.found, grain, self.generator) for _ in range(repeats))
        return [self.generator.poisson(each * self.means) for each in levels]

    def deviation(self, grain: Grain, groups: Counts) -> float:
        drawn = self.draw(grain)
        return sum(group_deviation(each, groups) for each in drawn) / len(drawn)

    def visible(self, grain: Grain, threshold: int) -> float:
        drawn = self.draw(grain)
        return sum(self.found.visible(each, threshold) for each in drawn) / len(drawn)


def grain_of_bins(
    found: Pieces, means: Floats, released: Roughness | None, generator: Generator
) -> Span:
    """The shapes of the bins of a block that agree with all that was released.

    That is the number of bins that the probe saw and, where it was asked, how much mass is visible
    and how far bins deviate: the former tells nearly empty bins from few full ones, the latter even
    ones from uneven ones. `means` are what bins expect if pieces are even.
    """
    seen = Span(_shape_seen(found, SLACK), _shape_seen(found, -SLACK))
    if released is None:
        return seen
    easel = _Easel(found, means, generator)
    threshold = released.threshold

    def deviation(shape: float) -> float:
        return easel.deviation(Grain.of_bins(shape, Texture.LIKELY), found.blocks[0])

    def hidden(shape: float) -> float:
        return -easel.visible(Grain.of_bins(shape, Texture.LIKELY), threshold)

    smoothest, roughest = released.moved(-WIDE), released.moved(WIDE)
    by_deviation = Span(
        _solve(deviation, smoothest.deviations[0]), _solve(deviation, roughest.deviations[0])
    )
    by_mass = Span(_solve(hidden, -smoothest.visible), _solve(hidden, -roughest.visible))
    return by_deviation.within(seen).within(by_mass)


def measured_grain(
    found: Pieces,
    means: Floats,
    released: Roughness,
    bins: Span,
    texture: Texture,
    generator: Generator,
) -> Grain:
    """The grain with `bins` as the shape of bins, and of blocks what was `released` asks for.

    One scale after the other, from the smaller blocks, which deviate less the more equal they are.
    Mass that is visible then, but beyond doubt was not, is taken away by holes.
    """
    target = released.moved({Texture.EVEN: -WIDE, Texture.SCATTERED: WIDE}.get(texture, 0.0))
    easel = _Easel(found, means, generator)
    grain = Grain.of_bins(bins.at(texture), texture)
    for place, groups in enumerate(found.groups[1:], start=1):
        # Where most bins are empty all deviate as much as there is, however alike blocks are:
        # noise beyond that is no reason to take them for unlike.
        most = easel.deviation(grain.with_shape(place, LEAST_SHAPE), groups)
        # The lambda is used before the loop goes on.
        shape = _solve(
            lambda shape: easel.deviation(grain.with_shape(place, shape), groups),  # noqa: B023
            min(target.deviations[place], (1 - NEGLIGIBLE) * most),
        )
        grain = grain.with_shape(place, shape)
    shown = easel.visible(grain, released.threshold)
    seen = released.visible + (1 if texture is Texture.SCATTERED else 2) * WIDE * released.scales[0]
    holes = min(max(1 - seen / max(shown, 1.0), 0.0), MOST_HOLES)
    return _with_holes(grain, holes, easel, released) if holes else grain


def _with_holes(grain: Grain, holes: float, easel: _Easel, released: Roughness) -> Grain:
    """The grain with a share of `holes`, as small as the deviations that were `released` allow.

    Where bins of a block deviate little, no single bins among full ones can be empty.
    """
    first = {Texture.SCATTERED: 0, Texture.LONG_TAILED: 1}.get(grain.texture, len(SCALES))
    most = released.moved(WIDE).deviations
    for place in range(first, len(SCALES)):
        holed = replace(grain, holes=holes, hole_place=place)
        groups = easel.found.blocks[place]
        allowed = max(most[place], easel.deviation(grain, groups)) * (1 + NEGLIGIBLE)
        if easel.deviation(holed, groups) <= allowed:
            return holed
    return replace(grain, holes=holes, hole_place=len(SCALES))


def _repeats(bins: int) -> int:
    """How often few bins are drawn again for one number."""
    return min(-(-LEAST_DRAWN // bins), MOST_REPEATED)


def _solve(deviation: Callable[[float], float], target: float) -> float:
    """The shape at which a decreasing `deviation` comes to `target`, within its range."""
    low, high = _halved(
        lambda exponent: deviation(exp(exponent)), target, log(LEAST_SHAPE), log(MOST_SHAPE)
    )
    return exp((low + high) / 2)


def _halved(
    deviation: Callable[[float], float], target: float, low: float, high: float
) -> tuple[float, float]:
    """The range in which a decreasing `deviation` comes to `target`, halved again and again."""
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if deviation(middle) > target else (low, middle)
    return low, high


def _shape_seen(found: Pieces, slack: float) -> float:
    """The gamma shape s that the number of seen bins speaks for.

    A bin with x non-sensitive units is seen with probability 1 − e^(−r·x), so for counts of mean μ
    the share seen is 1 − (1 + r·μ/s)^(−s), which grows with s. The number of seen bins is moved by
    `slack` of its standard errors.
    """
    exponents = found.noise_rate * found.means
    certain = float(-np.expm1(-exponents[~found.several]).sum())
    several = exponents[found.several]
    target = found.seen - certain + slack * found.seen_error

    def unseen(shape: float) -> float:
        return -float(-np.expm1(-shape * np.log1p(several / shape)).sum())

    return _solve(unseen, -target)


def made_up_levels(found: Pieces, grain: Grain, generator: Generator) -> Floats:
    """What each bin expects over the mean of its piece: 1 on average.

    In a piece of one bin it is what the probe may have hidden: given y = x − G, and nothing known
    of x before, x is y₊ plus noise like G again.
    """
    levels = grain.draw(grain.shapes[0], found.piece.size, generator)
    for shape, block in zip(grain.shapes[1:], found.blocks, strict=True):
        levels *= grain.draw(shape, int(block[-1]) + 1, generator)[block]
    levels += NEARLY_NOTHING
    if grain.holes:
        places = (np.arange(levels.size), *found.blocks)[grain.hole_place]
        full = generator.random(int(places[-1]) + 1) >= grain.holes
        levels *= np.where(full, 1.0, NEARLY_NOTHING)[places]
    levels *= (np.bincount(found.piece) / np.bincount(found.piece, weights=levels))[found.piece]
    alone = found.floor + generator.exponential(1 / found.noise_rate, found.floor.size)
    return np.where(found.several, levels, alone / np.maximum(found.means, 1 / found.noise_rate))


def levelled_to(
    found: Pieces, hidden_means: Floats, released: Roughness, generator: Generator
) -> tuple[Pieces, Floats]:
    """Pieces and means of sensitive units, drawn together until they deviate as was `released`.

    The means of pieces have noise in them, and what was asked of all bins together tells that from
    differences. Pieces of one bin stand out beyond doubt and stay.
    """
    most = released.moved(WIDE).deviations[-1]
    several, together = found.several, found.groups[-1]

    def drawn_together(means: Floats, share: float) -> Floats:
        return np.where(several, means + share * (means[several].mean() - means), means)

    def deviation(share: float) -> float:
        counts = generator.poisson(drawn_together(found.means + hidden_means, share))
        return group_deviation(counts, together)

    if not several.any() or deviation(0.0) <= most:
        return found, hidden_means
    _, share = _halved(deviation, most, 0.0, 1.0)
    found = replace(found, means=drawn_together(found.means, share))
    return found, drawn_together(hidden_means, share)


def thinned_to(
    found: Pieces, hidden_means: Floats, released: Roughness, generator: Generator
) -> tuple[Pieces, Floats]:
    """Pieces and means of sensitive units, halved until they deviate no more than was `released`.

    Even counts that are equal but for chance deviate by about the root of their mean: counts that
    deviate less must be smaller. Pieces of one bin do not deviate and stay as they are; unless most
    units are in them, the number of units would no longer be right.
    """
    means = found.means + hidden_means
    if means[found.several].sum() > means.sum() / 2:
        return found, hidden_means
    most = released.moved(WIDE).deviations[0]
    for _ in range(STEPS):
        counts = generator.poisson(found.means + hidden_means)
        if group_deviation(counts, found.blocks[0]) <= most:
            break
        found = replace(found, means=np.where(found.several, found.means / 2, found.means))
        hidden_means = np.where(found.several, hidden_means / 2, hidden_means)
    return found, hidden_means
