"""Pictures for `auto`: made-up data that agree with a probe and differ in what it leaves open."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from onesided.data import Measurement
from onesided.mechanisms.agreement import WIDE, disagreement
from onesided.mechanisms.base import Outline
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
from onesided.mechanisms.whereabouts import Apart, raised_to, with_gaps
from onesided.randomness import Randomness

if TYPE_CHECKING:
    from numpy.random import Generator

LEAST_TRIED, MOST_REPEATS = 2048, 8
"""Pictures of few bins are drawn anew until so many bins have been tried, up to so many times."""

CONTRADICTED = 2.5
"""A picture that differs from an answer by so many times what is tolerated is none, unless all do:
then one that differs by so many times as much as the best."""


def pictures(
    probe: Measurement, outline: Outline, epsilon: Fraction, dice: Randomness
) -> list[list[Picture]]:
    """Made-up data that agree with the probe, bins along a line; none if no key was found.

    One list for each texture and, if they may be so, for bins at two levels; of several pictures
    where bins are few. What may be empty is so in the most scattered of them.
    """
    if probe.value.size == 0:
        return []
    generator = dice.generator()
    found, expected = foreseen(probe, outline, epsilon)
    rough, apart = released_answers(probe, outline, epsilon)
    local = released_numbers(probe, outline, epsilon)
    if rough and apart and local:
        drawn, likeness = _as_answered(found, expected, rough, local, apart, generator)
    else:
        easel, likeness = Easel(found, expected, generator), ALIKE
        bins = grain_of_bins(easel, None)
        drawn = [(easel, Grain.of_bins(bins.at(texture), texture)) for texture in Texture]
    repeats = min(-(-LEAST_TRIED // found.piece.size), MOST_REPEATS)
    return [
        [
            picture(
                each.found,
                each.hidden,
                made_up_levels(each.found, grain, generator),
                likeness,
                generator,
            )
            for _ in range(repeats)
        ]
        for each, grain in drawn
    ]


def _as_answered(
    found: Pieces,
    expected: Floats,
    rough: Roughness,
    local: Located,
    apart: Apart,
    generator: Generator,
) -> tuple[list[tuple[Easel, Grain]], float]:
    """What to draw from so that all answers are met, and how alike the shares of bins are."""
    hidden = raised_to(found, expected, rough.moved(-WIDE).deviations[-1])
    found, hidden = levelled_to(found, hidden, rough)
    found, hidden = thinned_to(found, hidden, rough, generator)
    easel = Easel(found, hidden, generator)
    gaps = Easel(*with_gaps(found, hidden, local.scale), generator)
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
    likeness = measured_likeness(found, hidden, expected, likely, apart, generator)
    return [each for each, by in zip(drawn, differ, strict=True) if by < most], likeness
