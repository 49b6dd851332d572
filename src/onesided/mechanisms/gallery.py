"""Pictures for `auto`: made-up data that agree with a probe and differ in what it leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from onesided.data import Measurement
from onesided.mechanisms.agreement import WIDE, disagreement
from onesided.mechanisms.base import PublicShape
from onesided.mechanisms.easel import Easel
from onesided.mechanisms.fitting import grain_of_bins, measured_grain
from onesided.mechanisms.grain import Grain, Texture, made_up_levels
from onesided.mechanisms.localities import Located
from onesided.mechanisms.picture import (
    ALIKE,
    Picture,
    levelled_to,
    measured_likeness,
    picture,
    thinned_to,
)
from onesided.mechanisms.pieces import Floats, Pieces, Roughness
from onesided.mechanisms.probe import foreseen, released_answers, released_numbers
from onesided.mechanisms.two_levels import two_levels
from onesided.mechanisms.whereabouts import Apart, raised_to, where_others_lack, with_gaps
from onesided.randomness import Randomness

if TYPE_CHECKING:
    from numpy.random import Generator

LEAST_TRIED, MOST_REPEATS = 2048, 8
"""Pictures of few bins are drawn anew until so many bins have been tried, up to so many times."""

CONTRADICTED = 2.5
"""A picture that differs from an answer by so many times what is tolerated is none, unless all do:
then one that differs by so many times as much as the best."""


@dataclass(frozen=True)
class _Sketch:
    """What pictures are drawn from: means on an `easel`, a `grain`, and how alike shares are."""

    easel: Easel
    grain: Grain
    likeness: float

    def picture(self) -> Picture:
        found, generator = self.easel.found, self.easel.generator
        levels = made_up_levels(found, self.grain, generator)
        return picture(found, self.easel.hidden, levels, self.likeness, generator)


def pictures(
    probe: Measurement, public: PublicShape, epsilon: Fraction, dice: Randomness
) -> list[list[Picture]]:
    """Made-up data that agree with the probe, bins along a line; none if no key was found.

    One list for each texture and, if they may be so, for bins at two levels and for sensitive units
    where others lack; of several pictures where bins are few. What may be empty is so in the most
    scattered of them.
    """
    if probe.value.size == 0:
        return []
    generator = dice.generator()
    found, expected = foreseen(probe, public, epsilon)
    rough, apart = released_answers(probe, public, epsilon)
    local = released_numbers(probe, public, epsilon)
    if rough and apart and local:
        sketches = _as_answered(found, expected, rough, local, apart, generator)
    else:
        easel = Easel(found, expected, generator)
        bins = grain_of_bins(easel, None)
        grains = [Grain.of_bins(bins.at(texture), texture) for texture in Texture]
        sketches = [_Sketch(easel, each, ALIKE) for each in grains]
    repeats = min(-(-LEAST_TRIED // found.piece.size), MOST_REPEATS)
    return [[each.picture() for _ in range(repeats)] for each in sketches]


def _as_answered(
    found: Pieces,
    expected: Floats,
    rough: Roughness,
    local: Located,
    apart: Apart,
    generator: Generator,
) -> list[_Sketch]:
    """What to draw from so that all answers are met."""
    hidden = raised_to(found, expected, rough.moved(-WIDE).deviations[-1])
    levelled, hidden = levelled_to(found, hidden, rough)
    levelled, hidden = thinned_to(levelled, hidden, rough, generator)
    easel = Easel(levelled, hidden, generator)
    gaps = Easel(*with_gaps(levelled, hidden, local.scale), generator)
    supposed = {**dict.fromkeys(Texture, easel), Texture.SCATTERED: gaps}
    bins = grain_of_bins(easel, rough)
    grains = {
        texture: measured_grain(each, rough, bins, texture) for texture, each in supposed.items()
    }
    drawn = [(supposed[texture], grain) for texture, grain in grains.items()]
    if grain := two_levels(easel, rough):
        drawn.append((easel, grain))
    differ = [disagreement(each, grain, rough) for each, grain in drawn]
    most = CONTRADICTED * max(min(differ), 1.0)
    likely = grains[Texture.LIKELY]
    likeness = measured_likeness(levelled, hidden, expected, likely, apart, generator)
    sketches = [
        _Sketch(each, grain, likeness)
        for (each, grain), by in zip(drawn, differ, strict=True)
        if by < most
    ]
    if likeness < ALIKE and found.many_alone:
        lacking = Easel(found, where_others_lack(found, expected, apart), generator)
        sketches.insert(0, _Sketch(lacking, likely, ALIKE))
    return sketches
