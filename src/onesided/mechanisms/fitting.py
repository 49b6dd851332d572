"""Which grain of counts agrees with a probe and with what was released about their roughness."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from onesided.mechanisms.easel import Easel
from onesided.mechanisms.grain import NEARLY_NOTHING, Grain, Texture
from onesided.mechanisms.pieces import Floats, Pieces, Roughness
from onesided.mechanisms.solving import LEAST_SHAPE, MOST_SHAPE, halved, shape_at

NEGLIGIBLE = 0.05
"""By how much more than it may a made-up deviation may be, as it is drawn by chance."""

MOST_HOLES = 0.95
"""The largest share of bins that are holes in a picture."""

LOW = 1 / 10
"""What bins of blocks that are holes have of others, and of what is visible: low blocks explain
what was released as well as empty ones, and most data have no empty stretches."""

ENOUGH = 8
"""Of so many blocks some can be holes: of fewer, chance would decide how many."""

MOST_OF_AN_ANSWER = 0.5
"""Which part of how far bins deviate may be due to one block that is a hole or not by chance."""

SLACK = 1.0
"""How many standard errors of the number of seen bins the pictures lie from it."""

WIDE = 1.5
"""How many scales of their noise the pictures lie from the answers."""


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


def grain_of_bins(easel: Easel, released: Roughness | None) -> Span:
    """The shapes of the bins of a block that agree with all that was released.

    That is the number of bins that the probe saw and, where it was asked, how much mass is visible
    and how far bins deviate: the former tells nearly empty bins from few full ones, the latter even
    ones from uneven ones.
    """
    found = easel.found
    seen = Span(_shape_seen(found, SLACK), _shape_seen(found, -SLACK))
    if released is None:
        return seen
    threshold = released.threshold

    def deviation(shape: float) -> float:
        return easel.deviation(Grain.of_bins(shape, Texture.LIKELY), found.blocks[0])

    def hidden(shape: float) -> float:
        return -easel.visible(Grain.of_bins(shape, Texture.LIKELY), threshold)

    smoothest, roughest = released.moved(-WIDE), released.moved(WIDE)
    by_deviation = Span(
        shape_at(deviation, smoothest.deviations[0]), shape_at(deviation, roughest.deviations[0])
    )
    by_mass = Span(shape_at(hidden, -smoothest.visible), shape_at(hidden, -roughest.visible))
    return by_deviation.within(seen).within(by_mass)


def measured_grain(easel: Easel, released: Roughness, bins: Span, texture: Texture) -> Grain:
    """The grain with `bins` as the shape of bins, and of blocks what was `released` asks for.

    One scale after the other, from the smaller blocks, which deviate less the more equal they are.
    Mass that is visible then, but beyond doubt was not, is taken away by holes.
    """
    target = released.moved({Texture.EVEN: -WIDE, Texture.SCATTERED: WIDE}.get(texture, 0.0))
    grain = Grain.of_bins(bins.at(texture), texture)
    for place, groups in enumerate(easel.found.groups[1:], start=1):
        # Where most bins are empty all deviate as much as there is, however alike blocks are:
        # noise beyond that is no reason to take them for unlike.
        most = easel.deviation(grain.with_shape(place, LEAST_SHAPE), groups)
        # The lambda is used before the loop goes on.
        shape = shape_at(
            lambda shape: easel.deviation(grain.with_shape(place, shape), groups),  # noqa: B023
            min(target.deviations[place], (1 - NEGLIGIBLE) * most),
        )
        grain = grain.with_shape(place, shape)
    seen = released.visible + (1 if texture is Texture.SCATTERED else 2) * WIDE * released.scales[0]
    return _with_holes(grain, seen, easel, released)


def _with_holes(grain: Grain, seen: float, easel: Easel, released: Roughness) -> Grain:
    """The grain with so many holes that no more than `seen` is visible, or none.

    What differs least from all that was `released`: where bins of a block deviate little, no single
    bins among full ones can be empty, and if holes of no size agree with how bins deviate, it was
    chance that so little was seen. Where a texture has large holes only, these are the largest
    blocks of which there are enough, or larger.
    """
    if easel.visible(grain, released.threshold) <= seen:
        return grain
    numbers = [int(each[-1]) + 1 for each in easel.found.places]
    largest = max(place for place, number in enumerate(numbers) if number >= ENOUGH or not place)
    first = min({Texture.SCATTERED: 0, Texture.LONG_TAILED: 1}.get(grain.texture, largest), largest)
    sizes = range(first, len(numbers))
    holed = [_holed(grain, place, seen, easel, released.threshold) for place in sizes]
    return min((grain, *holed), key=lambda each: disagreement(easel, each, released))


def _holed(grain: Grain, place: int, seen: float, easel: Easel, threshold: int) -> Grain:
    """The grain with as many holes of one size as leave no more than `seen` visible.

    Bins that are not in a hole are so much fuller, whatever its size. Blocks that are holes or not
    need not be unlike beside that.
    """
    grain = grain.with_shape(place, MOST_SHAPE) if place else grain
    drawn = [each.astype(np.float64) for each in easel.draw(grain)]
    here = easel.means[easel.found.several]
    ratio = LOW * threshold / max(float(here.sum()) / max(here.size, 1), threshold)
    grain = replace(grain, hole_place=place, hole_ratio=ratio if place else NEARLY_NOTHING)

    def visible(holes: float) -> float:
        levels = replace(grain, holes=holes).hole_levels
        high = sum(easel.found.visible(each * levels.high, threshold) for each in drawn)
        low = sum(easel.found.visible(each * levels.low, threshold) for each in drawn)
        return ((1 - holes) * high + holes * low) / len(drawn)

    _, holes = halved(visible, seen, 0.0, MOST_HOLES)
    return replace(grain, holes=holes)


def disagreement(easel: Easel, grain: Grain, released: Roughness) -> float:
    """How many times what is tolerated as chance made-up counts differ from an answer, at most."""
    visible = easel.visible(grain, released.threshold)
    deviations = (easel.deviation(grain, groups) for groups in easel.found.groups)
    answers, scales = np.array(released.values), np.array(released.scales)
    apart = np.abs(np.array([visible, *deviations]) - answers)
    a_block = easel.means.sum() / np.array([each[-1] + 1 for each in easel.found.places])
    by_chance = np.minimum(a_block, MOST_OF_AN_ANSWER * np.array(released.deviations))
    most = tolerated(answers, scales) + np.array([0.0, *np.maximum(by_chance, 0.0)])
    return float(np.max(apart / np.maximum(most, 1.0)))


def tolerated(answers: Floats, scales: Floats) -> Floats:
    """By how much what is made up may differ from answers with noise of these `scales`."""
    return WIDE * scales + NEGLIGIBLE * np.abs(answers)


def _shape_seen(found: Pieces, slack: float) -> float:
    """The gamma shape s that the number of seen bins speaks for.

    A bin with x non-sensitive units is seen with probability 1 − e^(−r·x), so for counts of mean μ
    the share seen is 1 − (1 + r·μ/s)^(−s), which grows with s. The number of seen bins is moved by
    `slack` of its standard errors.
    """
    several = found.noise_rate * found.means[found.several]
    target = found.seen_in_several + slack * found.seen_error

    def unseen(shape: float) -> float:
        return -float(-np.expm1(-shape * np.log1p(several / shape)).sum())

    return shape_at(unseen, -target)
