"""Where sensitive units are, as far as the probe of `auto` and its questions tell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts
from onesided.mechanisms.base import PublicShape
from onesided.mechanisms.buckets.deviation import largest_count
from onesided.mechanisms.localities import BEYOND_DOUBT, localities_of
from onesided.mechanisms.pieces import Pieces
from onesided.mechanisms.residual import SensitiveTotal

Floats = NDArray[np.float64]

LEAST_ELSEWHERE = 0.5
"""Which part of all units must be elsewhere for some bins to be taken for empty."""

NEARLY_IMPOSSIBLE = 1e-9
"""A smaller probability, the difference of two that are nearly equal, is mostly rounding."""


@dataclass(frozen=True)
class Apart:
    """A noisy `distance` of sensitive units from where they are expected, and its noise's scale."""

    value: float
    scale: float


def distance(sensitive: Counts, expected: Floats) -> int:
    """Σ|xᵢ − mᵢ| for counts x of `sensitive` units, m what bins are `expected` to have, rounded."""
    rounded = np.rint(np.minimum(expected, largest_count(expected.size))).astype(np.int64)
    return int(np.abs(sensitive - rounded).sum())


def with_gaps(found: Pieces, hidden_means: Floats, scale: float) -> tuple[Pieces, Floats]:
    """The same units, none of them in pieces that may be empty as far as noise tells.

    These are pieces of several bins whose mean, with that of all pieces of the same level, is not
    above 0 beyond doubt. They stay as they are where the numbers of sensitive units by locality,
    whose noise has the `scale`, speak against it, or where most units would have to be elsewhere.
    """
    _, level = np.unique(np.where(found.several, found.means, -1.0), return_inverse=True)
    error = 1 / (found.noise_rate * np.sqrt(np.bincount(level)))[level]
    gap = found.several & (found.means <= BEYOND_DOUBT * error)
    touched = np.unique(localities_of(found)[gap]).size
    others, hidden = float(found.means[~gap].sum()), float(hidden_means[~gap].sum())
    all_others, all_hidden = float(found.means.sum()), float(hidden_means.sum())
    counted = all_hidden - hidden > BEYOND_DOUBT * scale * sqrt(2 * touched)
    few = others + hidden < LEAST_ELSEWHERE * (all_others + all_hidden)
    if counted or few or others <= 0 or hidden <= 0:
        return found, hidden_means
    means = np.where(gap, 0.0, found.means * (all_others / others))
    return replace(found, means=means), np.where(gap, 0.0, hidden_means * (all_hidden / hidden))


def where_others_lack(found: Pieces, expected: Floats, apart: Apart) -> Floats:
    """Means of as many sensitive units in each locality that make up for what others lack there.

    Counts of all units may be even where those of the others are not. That moves sensitive units
    away from where they were `expected`: all the way, or as far as they are `apart`.
    """
    place = localities_of(found)
    lacking = np.empty(expected.size)
    order, ends = np.argsort(place, kind="stable"), np.cumsum(np.bincount(place))
    for here in np.split(order, ends[:-1]):
        lacking[here] = filled(found.means[here], float(expected[here].sum()))
    away = float(np.abs(lacking - expected).sum())
    part = min(max(apart.value, 0.0) / max(away, 1.0), 1.0)
    return np.asarray(expected + part * (lacking - expected))


def filled(means: Floats, units: float) -> Floats:
    """What each of these `means` gets of so many `units` if the lowest are brought to one level."""
    lowest = np.sort(means)
    below = np.cumsum(lowest)
    # So many units bring all that are lower to the level of each.
    needed = np.arange(lowest.size) * lowest - (below - lowest)
    raised = max(int(np.searchsorted(needed, units)), 1)
    level = (units + below[raised - 1]) / raised
    return np.asarray(np.maximum(level - means, 0.0))


def raised_to(found: Pieces, hidden_means: Floats, deviation: float) -> Floats:
    """Means of as many sensitive units, enough of them in pieces of several bins to deviate so.

    The bins of all such pieces together deviate from their median by no more than they have. Where
    their `deviation` is larger, units are moved there from bins that stand alone and spread evenly:
    as many as it takes if counts thin out exponentially, which deviate by ln 2 of what they have.
    """
    several = found.several
    here = float(found.means[several].sum() + hidden_means[several].sum())
    elsewhere = float(hidden_means[~several].sum())
    if deviation <= here or not several.any() or not elsewhere:
        return hidden_means
    moved = min(deviation / log(2) - here, elsewhere)
    more, fewer = moved / np.count_nonzero(several), 1 - moved / elsewhere
    return np.where(several, hidden_means + more, hidden_means * fewer)


def number_of_sensitive(found: Pieces, answer: SensitiveTotal | None, public: PublicShape) -> float:
    """How many sensitive units there are: as was answered, as n and the probe tell, or both.

    Each of the two counts the less the larger the variance of its noise is, and what noise puts
    beyond what is possible is brought back to what may be expected.
    """
    if public.total is None:
        assert answer is not None  # what n does not tell is always asked
        return max(float(answer.value), 0.0)
    left = public.total - found.units
    if public.shape is None:  # the bins that were not seen have no noise to speak of
        return min(max(left, 0.0), float(public.total))
    variance = max(found.seen, 1) / found.noise_rate**2
    if answer:
        own = 2 / float(answer.rate) ** 2
        left += variance / (variance + own) * (answer.value - left)
        variance *= own / (variance + own)
    return mean_within(left, sqrt(variance), float(public.total))


def mean_within(estimate: float, error: float, most: float) -> float:
    """The mean of a normal variable about `estimate` that is known to lie between 0 and `most`."""
    normal = NormalDist()
    low, high = -estimate / error, (most - estimate) / error
    inside = normal.cdf(high) - normal.cdf(low)
    if inside < NEARLY_IMPOSSIBLE:
        return min(max(estimate, 0.0), most)
    return estimate + error * (normal.pdf(low) - normal.pdf(high)) / inside
