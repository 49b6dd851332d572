"""Which grain of counts agrees with a probe and with what was released about their roughness."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from onesided.mechanisms.agreement import MOST_DISAGREEMENT, NEGLIGIBLE, WIDE, disagreement
from onesided.mechanisms.easel import Easel
from onesided.mechanisms.grain import Grain, Texture
from onesided.mechanisms.holes import pitted, with_holes
from onesided.mechanisms.pieces import Pieces, Roughness
from onesided.mechanisms.solving import LEAST_SHAPE, shape_at

SLACK = 1.0
"""How many standard errors of the number of seen bins the pictures lie from it."""


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

    Bins that may be empty are so in the most scattered texture. Mass that is visible, but beyond
    doubt was not, is taken away by holes.
    """
    target = released.moved({Texture.EVEN: -WIDE, Texture.SCATTERED: WIDE}.get(texture, 0.0))
    if texture is Texture.SCATTERED and (grain := pitted(easel, bins.even, released)):
        grain = _with_blocks(grain, easel, target)
        if disagreement(easel, grain, released) <= MOST_DISAGREEMENT:
            return grain
    grain = _with_blocks(Grain.of_bins(bins.at(texture), texture), easel, target)
    seen = released.visible + (1 if texture is Texture.SCATTERED else 2) * WIDE * released.scales[0]
    return with_holes(grain, seen, easel, released)


def _with_blocks(grain: Grain, easel: Easel, target: Roughness) -> Grain:
    """The grain with blocks as unequal as the `target` asks for.

    One scale after the other, from the smaller blocks, which deviate less the more equal they are.
    """
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
    return grain


def _shape_seen(found: Pieces, slack: float) -> float:
    """The gamma shape s that the number of seen bins speaks for.

    The number of bins that are expected to be seen grows with s; that of seen bins is moved by
    `slack` of its standard errors.
    """
    target = found.seen_in_several + slack * found.seen_error
    return shape_at(lambda shape: -found.expected_to_be_seen(shape), -target)
