"""What data may look like, given a probe: made-up histograms to try mechanisms on.

The probe shows where non-sensitive units are, in pieces (pieces.py); some answers about all units,
with noise, tell how rough counts are inside the pieces, and others where sensitive units are. What
was not asked is told by the number of bins with y > 0. Pictures are stand-ins for the data that
agree with all of this and differ in what it leaves open. Everything here is post-processing, so
floating point does no harm.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from onesided.data.histogram import Counts
from onesided.mechanisms.agreement import WIDE
from onesided.mechanisms.easel import repeats
from onesided.mechanisms.grain import NEARLY_NOTHING, Grain, made_up_levels
from onesided.mechanisms.pieces import Floats, Pieces, Roughness, group_deviation
from onesided.mechanisms.solving import MOST_SHAPE, STEPS, shape_at
from onesided.mechanisms.whereabouts import Apart, distance

if TYPE_CHECKING:
    from numpy.random import Generator

SURELY = 2.0
"""By how many scales of its noise an answer is taken to be smaller, so that chance is seldom a
reason to give up what is usual: noise exceeds it in one case of fifteen."""

ALIKE = MOST_SHAPE
"""The concentration of shares that are taken to be all the same."""

MOST_VARIANCE = 2.0
"""Of the logarithm of how many sensitive units a bin has, given the others."""

LEAST_GROUND = 1 / 4
"""The part of all mass from which on differences between blocks are told by their ground."""


@dataclass(frozen=True)
class Picture:
    """A stand-in for the data: counts `all` of all units and `nonsensitive` ones."""

    all: Counts
    nonsensitive: Counts


def picture(
    found: Pieces, hidden_means: Floats, levels: Floats, likeness: float, generator: Generator
) -> Picture:
    """One stand-in: `hidden_means` are what bins expect of sensitive units if pieces are even.

    `levels` are what bins expect over the mean of their piece. For a piece of one bin they tell
    what the probe has hidden, which says nothing of sensitive units. See `_mixed` for `likeness`.
    """
    others, hidden = _mixed(found, hidden_means, likeness, generator)
    nonsensitive = generator.poisson(levels * others)
    sensitive = generator.poisson(np.where(found.several, levels, 1.0) * hidden)
    return Picture(nonsensitive + sensitive, nonsensitive)


def _mixed(
    found: Pieces, hidden_means: Floats, likeness: float, generator: Generator
) -> tuple[Floats, Floats]:
    """The means of units that are not sensitive and of those that are, drawn for each bin.

    Shares q vary about what is expected like a beta variable with a concentration, `likeness` c. In
    a piece of one bin the number of others is known, so that of sensitive ones varies instead: they
    are (1 − q)/q times the others, the logarithm of which has about the variance
    1/(q·(1 − q)·(c + 1)); or less, as few others need not mean that a bin is small.
    """
    if likeness >= ALIKE:
        return found.means, hidden_means
    means = found.means + hidden_means
    share = found.means / np.where(means > 0, means, 1)
    mixed = (share > NEARLY_NOTHING) & (share < 1 - NEARLY_NOTHING)
    several, alone = mixed & found.several, mixed & ~found.several
    others, hidden = found.means.copy(), hidden_means.copy()
    within = share[several]
    others[several] = means[several] * generator.beta(within * likeness, (1 - within) * likeness)
    hidden[several] = means[several] - others[several]
    variance = 1 / (share[alone] * (1 - share[alone]) * (likeness + 1))
    variance = np.minimum(variance, MOST_VARIANCE)
    hidden[alone] *= generator.lognormal(-variance / 2, np.sqrt(variance))
    return others, hidden


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
    times = repeats(found.piece.size)

    def away(likeness: float) -> float:
        total = 0
        for _ in range(times):
            levels = made_up_levels(found, grain, generator)
            drawn = picture(found, hidden_means, levels, likeness, generator)
            total += distance(drawn.all - drawn.nonsensitive, expected)
        return total / times

    least = apart.value - SURELY * apart.scale
    return ALIKE if away(ALIKE) >= least else shape_at(away, least)


def levelled_to(found: Pieces, hidden_means: Floats, released: Roughness) -> tuple[Pieces, Floats]:
    """Pieces and means of sensitive units, drawn together until they deviate as was `released`.

    The means of pieces have noise in them, and what was asked of all bins together tells that from
    differences. Pieces of one bin stand out beyond doubt and stay. Where most of the others seem to
    be empty, full ones have less and the empty ones stay so.
    """
    beyond = _levels_beyond(found, hidden_means, released)
    if beyond <= 1:
        return found, hidden_means
    several = found.several

    def drawn_together(means: Floats) -> Floats:
        middle = means[several].mean() if np.median(means[several]) > 0 else 0.0
        return np.where(several, middle + (means - middle) / beyond, means)

    return replace(found, means=drawn_together(found.means)), drawn_together(hidden_means)


def _levels_beyond(found: Pieces, hidden_means: Floats, released: Roughness) -> float:
    """How many times as far as they can, given what was `released`, the means of pieces deviate.

    Not by more than all bins do. Full bins aside, which deviate from the others of their block,
    there is a ground, all mass less what bins of small blocks deviate by; and that by which all
    bins deviate more is due to differences of the ground between blocks.
    """
    means = (found.means + hidden_means)[found.several]
    if not means.size:
        return 0.0
    within, altogether = released.deviations[0], released.deviations[-1]
    ground = 1 - within / max(float(means.sum()), 1.0)
    doubt = WIDE * released.scales[-1]
    most = altogether + doubt
    if ground > LEAST_GROUND:
        most = min(most, (altogether - within + doubt) / ground)
    return float(np.abs(means - np.median(means)).sum()) / max(most, 1.0)


def thinned_to(
    found: Pieces, hidden_means: Floats, released: Roughness, generator: Generator
) -> tuple[Pieces, Floats]:
    """Pieces and means of sensitive units, halved while they surely deviate more than `released`.

    Even counts that are equal but for chance deviate by about the root of their mean: counts that
    deviate less must be smaller. Unless that root is larger than the probe's noise, since pieces
    follow chance then. Pieces of one bin do not deviate and stay as they are; unless most units are
    in them, the number of units would no longer be right.
    """
    means = found.means + hidden_means
    several = means[found.several]
    follow_chance = several.sum() * found.noise_rate**2 > several.size
    if several.sum() > means.sum() / 2 or follow_chance:
        return found, hidden_means
    # An answer that is too low by chance would leave next to nothing of even counts.
    most = released.moved(2 * WIDE).deviations[0]
    for _ in range(STEPS):
        counts = generator.poisson(found.means + hidden_means)
        if group_deviation(counts, found.blocks[0]) <= most:
            break
        found = replace(found, means=np.where(found.several, found.means / 2, found.means))
        hidden_means = np.where(found.several, hidden_means / 2, hidden_means)
    return found, hidden_means
