"""Pictures for `auto`: made-up data that agree with a probe and differ in what it leaves open."""

from __future__ import annotations

from fractions import Fraction

from onesided.data import Measurement
from onesided.mechanisms.base import Outline
from onesided.mechanisms.fitting import WIDE, grain_of_bins, measured_grain
from onesided.mechanisms.grain import Grain, Texture, made_up_levels
from onesided.mechanisms.picture import (
    ALIKE,
    Picture,
    levelled_to,
    measured_likeness,
    picture,
    thinned_to,
)
from onesided.mechanisms.probe import foreseen, released_answers, released_numbers
from onesided.mechanisms.two_levels import two_levels
from onesided.mechanisms.whereabouts import raised_to, with_gaps
from onesided.randomness import Randomness

LEAST_TRIED, MOST_REPEATS = 2048, 8
"""Pictures of few bins are drawn anew until so many bins have been tried, up to so many times."""


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
    hidden = expected
    rough, apart = released_answers(probe, outline, epsilon)
    if rough:
        hidden = raised_to(found, hidden, rough.moved(-WIDE).deviations[-1])
        found, hidden = levelled_to(found, hidden, rough, generator)
        found, hidden = thinned_to(found, hidden, rough, generator)
    bins = grain_of_bins(found, found.means + hidden, rough, generator)
    supposed = dict.fromkeys(Texture, (found, hidden))
    if local := released_numbers(probe, outline, epsilon):
        supposed[Texture.SCATTERED] = with_gaps(found, hidden, local.scale)
    grains = {
        texture: measured_grain(here, here.means + unseen, rough, bins, texture, generator)
        if rough
        else Grain.of_bins(bins.at(texture), texture)
        for texture, (here, unseen) in supposed.items()
    }
    likeness = ALIKE
    if apart:
        likely = grains[Texture.LIKELY]
        likeness = measured_likeness(found, hidden, expected, likely, apart, generator)
    drawn = [(*supposed[texture], grain) for texture, grain in grains.items()]
    if rough and (grain := two_levels(found, found.means + hidden, rough, generator)):
        drawn.append((found, hidden, grain))
    repeats = min(-(-LEAST_TRIED // found.piece.size), MOST_REPEATS)
    return [
        [
            picture(here, unseen, made_up_levels(here, grain, generator), likeness, generator)
            for _ in range(repeats)
        ]
        for here, unseen, grain in drawn
    ]
