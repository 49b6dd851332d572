"""Holes in pictures: what takes mass away that would be visible, but was not seen."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np

from onesided.mechanisms.agreement import WIDE, disagreement
from onesided.mechanisms.easel import Easel
from onesided.mechanisms.grain import NEARLY_NOTHING, Grain, Texture
from onesided.mechanisms.pieces import Roughness
from onesided.mechanisms.solving import MOST_SHAPE, halved, shape_at

MOST_HOLES = 0.95
"""The largest share of bins that are holes in a picture."""

LOW = 1 / 10
"""What bins of blocks that are holes have of others, and of what is visible: low blocks explain
what was released as well as empty ones, and most data have no empty stretches."""

LEAST_BEYOND, BY_PITS, MOST_PITS = 1 / 3, 1 / 2, 1 / 2
"""From which part of their mass on that bins deviate by beyond chance some may well be empty; which
part of it these explain, as others differ by degrees; and how many of all bins they are at most."""

ENOUGH = 8
"""Of so many blocks some can be holes: of fewer, chance would decide how many."""


def pitted(easel: Easel, shape: float, released: Roughness) -> Grain | None:
    """Scattered bins, single ones of them empty, that deviate as if all had a `shape`; or none.

    Such pits explain a part of what they deviate by beyond chance. Where that is little of what
    bins have, or where the probe saw more of them than it would, there is no reason to expect any.
    """
    found = easel.found
    least = LEAST_BEYOND * easel.means[found.several].sum()
    if released.moved(-WIDE).deviations[0] < least:  # which is told without drawing anything
        return None
    blocks = found.blocks[0]
    grain = Grain.of_bins(shape, Texture.SCATTERED)
    by_chance = easel.deviation(grain.with_shape(0, MOST_SHAPE), blocks)
    altogether = easel.deviation(grain, blocks)
    beyond = altogether - by_chance
    if beyond < least:
        return None
    even = shape_at(
        lambda shape: easel.deviation(grain.with_shape(0, shape), blocks),
        altogether - BY_PITS * beyond,
    )
    grain = grain.with_shape(0, even)
    _, holes = halved(
        lambda holes: -easel.deviation(replace(grain, holes=holes), blocks),
        -altogether,
        0.0,
        MOST_PITS,
    )
    error = max(found.seen_error, sqrt(found.seen))
    if found.expected_to_be_seen(even, 1 - holes) < found.seen_in_several - WIDE * error:
        return None
    return replace(grain, holes=holes)


def with_holes(grain: Grain, seen: float, easel: Easel, released: Roughness) -> Grain:
    """The grain with so many holes that no more than `seen` is visible, or none.

    What differs least from all that was `released`: where bins of a block deviate little, no single
    bins among full ones can be empty, and if holes of no size agree with how bins deviate, it was
    chance that so little was seen. Where a texture has large holes only, these are the largest
    blocks of which there are enough, or larger.
    """
    if easel.visible(grain, released.threshold) <= seen:
        return grain
    numbers = easel.found.numbers
    largest = max(place for place, number in enumerate(numbers) if number >= ENOUGH or not place)
    first = min({Texture.SCATTERED: 0, Texture.LONG_TAILED: 1}.get(grain.texture, largest), largest)
    sizes = range(first, len(numbers))
    holed = [_holed(grain, place, seen, easel, released.threshold) for place in sizes]
    # By how far bins deviate without any hole is no reason for or against one.
    deviations = map(max, released.deviations, easel.deviations(grain))
    supposed = replace(released, deviations=tuple(deviations))
    return min((grain, *holed), key=lambda each: disagreement(easel, each, supposed))


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
