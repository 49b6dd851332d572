"""`privbayes`: a Bayesian network over the attributes, and noisy marginals for its edges.

After "PrivBayes: private data release via Bayesian networks" (Zhang et al. 2014, 2017), calibrated
to adding or removing a unit, so that it needs no public number of units. For many attributes: the
noise is that of a few small tables, not that of the whole domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from onesided.data import Interval, Measured
from onesided.data.histogram import Counts, Floats
from onesided.errors import InputError, MechanismRefused
from onesided.mechanisms.base import Kind, PublicShape
from onesided.mechanisms.buckets.algorithm import BucketAlgorithm, Bucketed
from onesided.mechanisms.buckets.totals import checked_share
from onesided.mechanisms.noise import CONFIDENCE, geometric_quantile, two_sided_mean_size
from onesided.randomness import Randomness

LARGEST_DOMAIN = 10_000_000
"""The whole histogram is returned, so it has to fit into memory."""

SCORE_SENSITIVITY = 2
"""The most that `dependence` moves when one count moves by 1; the proof is in privbayes.md."""

INTEGER_LIMIT = 2**31
"""Below this total, products of two counts fit into 64 bits."""

BLOCKS = 4
"""Into how many groups the attributes are divided to compute marginals step by step."""

TRIES = 64
"""Candidates proposed at a time by the exponential mechanism."""

Axes = tuple[int, ...]


@dataclass(frozen=True)
class Edge:
    """One attribute of the network with its parents, as positions of axes."""

    attribute: int
    parents: Axes

    @property
    def axes(self) -> Axes:
        """The axes of the marginal that the edge needs, ascending."""
        return tuple(sorted((self.attribute, *self.parents)))


@dataclass(frozen=True, kw_only=True)
class PrivBayes(BucketAlgorithm):
    """N · Π p(attribute | parents): noisy total N, network by the exponential mechanism.

    - `total_share` of the budget pays for N;
    - `network_share` pays for the network, in equal parts for each attribute after the first, with
      score ½·Σ|c(x,π) − c(x)·c(π)/n|, the distance from independence in units;
    - the rest pays for the marginals;
    - `degree`: the most parents of an attribute;
    - `usefulness` θ: a marginal may have so many cells that the mean count of a cell is at least θ
      times the scale of its noise.
    """

    name: ClassVar[str] = "privbayes"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "several attributes: a Bayesian network with noisy marginals"

    total_share: Fraction = Fraction(1, 20)
    network_share: Fraction = Fraction(3, 10)
    degree: int = 2
    usefulness: float = 4.0

    def __post_init__(self) -> None:
        for name in ("total_share", "network_share"):
            object.__setattr__(self, name, checked_share(getattr(self, name), name))
        if self.total_share + self.network_share >= 1:
            raise InputError(
                "total_share and network_share must leave something for the marginals."
            )
        if self.degree < 1 or not 0 < self.usefulness < float("inf"):
            raise InputError("degree must be at least 1 and usefulness a number greater than 0.")

    def check_shape(self, shape: tuple[int, ...]) -> None:
        if prod(shape) > LARGEST_DOMAIN:
            raise MechanismRefused(
                f"privbayes returns the whole histogram, of at most {LARGEST_DOMAIN:,} bins; "
                "count by fewer attributes or coarser ones."
            )

    def rough_error(self, public: PublicShape, budget: Fraction) -> float | None:
        """2m + E|Z|/d, for any data: both histograms are not negative, their totals known.

        m = n·k/d is the mean count, and Z the noise of the total.
        """
        if public.density is None or public.bins is None:
            return None
        noise = two_sided_mean_size(budget * self.total_share / public.k)
        return 2 * public.density + noise / public.bins

    def run(
        self, counts: Counts, k: int, budget: Fraction, rng: Randomness, n: int | None = None
    ) -> Bucketed:
        self.check_shape(counts.shape)
        # An attribute with a single value says nothing and should not cost anything.
        table = Marginals(counts.reshape([side for side in counts.shape if side > 1] or [1]))
        network_budget, marginal_budget = self._budgets(table.attributes, budget)

        total_rate = budget * self.total_share / k
        total = int(table.total + rng.two_sided_geometric(total_rate, 1)[0])
        # Each attribute after the first needs one marginal; the first is part of another's.
        expected_rate = marginal_budget / (max(table.attributes - 1, 1) * k)
        most_cells = max(total, 0) * expected_rate / Fraction(self.usefulness)
        network = self._network(table, most_cells, network_budget / k, rng)
        axes_to_measure = maximal(edge.axes for edge in network)
        rate = marginal_budget / (len(axes_to_measure) * k)
        marginals = {axes: table.noisy(axes, rate, rng) for axes in axes_to_measure}

        share = joint_distribution(network, marginals, table.counts.shape)
        return Bucketed(
            value=(max(total, 0) * share).reshape(counts.shape),
            buckets=np.arange(counts.size).reshape(counts.shape),
            intervals=(_cell_bounds(marginals, rate, table.counts.shape),),
        )

    def noise(self, shape: tuple[int, ...], k: int, budget: Fraction) -> str:
        network, marginals = self._budgets(sum(side > 1 for side in shape), budget)
        return (
            f"two-sided geometric: rate {budget * self.total_share / k} on the total, rate "
            f"{marginals / k} divided by the number of marginals on each cell of one; exponential "
            f"mechanism of budget {network} for the network"
        )

    def _budgets(self, attributes: int, budget: Fraction) -> tuple[Fraction, Fraction]:
        """For the network, which a single attribute does not need, and for all marginals."""
        network = budget * self.network_share if attributes > 1 else Fraction(0)
        return network, budget * (1 - self.total_share) - network

    def _network(
        self, table: Marginals, most_cells: Fraction, budget: Fraction, rng: Randomness
    ) -> list[Edge]:
        """Attributes one after the other, each with the parents among the earlier ones."""
        network = [Edge(0, ())]
        steps = table.attributes - 1
        for _ in range(steps):
            candidates = list(self._candidates(network, table.counts.shape, most_cells))
            scores = np.array([table.dependence(each) for each in candidates], dtype=np.int64)
            rate = budget / (steps * 2 * SCORE_SENSITIVITY)
            network.append(candidates[exponential_choice(scores, rate, rng)])
        return network

    def _candidates(self, network: list[Edge], sides: Axes, most_cells: Fraction) -> Iterator[Edge]:
        """Each attribute that is left, with each set of parents that is as large as allowed."""
        placed = sorted(edge.attribute for edge in network)
        for attribute in sorted(set(range(len(sides))) - set(placed)):
            room = most_cells / sides[attribute]
            allowed = [
                parents
                for size in range(min(self.degree, len(placed)) + 1)
                for parents in combinations(placed, size)
                if size == 0 or prod(sides[axis] for axis in parents) <= room
            ]
            yield from (Edge(attribute, parents) for parents in maximal(allowed))


class Marginals:
    """The counts of all attributes, their marginals, and how far these are from independence."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self.attributes = counts.ndim
        self.total = int(counts.sum())
        self._marginals: dict[Axes, Counts] = {}

    def marginal(self, axes: Axes) -> Counts:
        """The counts over ascending `axes` alone."""
        if len(axes) == self.attributes:
            return self.counts
        if axes not in self._marginals:
            around = self._around(axes)
            others = tuple(i for i, axis in enumerate(around) if axis not in axes)
            self._marginals[axes] = np.asarray(self.marginal(around).sum(axis=others))
        return self._marginals[axes]

    def _around(self, axes: Axes) -> Axes:
        """A larger set of axes on the way to `axes`: whole quarters of all, or all of them.

        Marginals share these few intermediate tables, so the full one is not summed for each.
        """
        quarter = -(-self.attributes // BLOCKS)
        touched = {axis // quarter for axis in axes}
        around = tuple(axis for axis in range(self.attributes) if axis // quarter in touched)
        return around if len(around) > len(axes) else tuple(range(self.attributes))

    def noisy(self, axes: Axes, rate: Fraction, rng: Randomness) -> Counts:
        """A marginal with two-sided geometric noise of `rate` on each cell."""
        exact = self.marginal(axes)
        return exact + rng.two_sided_geometric(rate, exact.size).reshape(exact.shape)

    def dependence(self, edge: Edge) -> int:
        """⌊½·Σ|c(x,π) − c(x)·c(π)/n|⌋ = ⌊Σ|n·c(x,π) − c(x)·c(π)| / 2n⌋, in integers throughout."""
        if not edge.parents or self.total == 0:
            return 0
        joint = np.moveaxis(self.marginal(edge.axes), edge.axes.index(edge.attribute), 0)
        joint = joint.reshape(joint.shape[0], -1)
        if self.total >= INTEGER_LIMIT:
            joint = joint.astype(object)
        product = joint.sum(axis=1)[:, None] * joint.sum(axis=0)[None, :]
        return int(np.abs(self.total * joint - product).sum()) // (2 * self.total)


def exponential_choice(scores: Counts, rate: Fraction, rng: Randomness) -> int:
    """Position i with probability exactly ∝ e^(rate·scoreᵢ), by rejection.

    A uniform proposal i is accepted with probability e^(−rate·(max − scoreᵢ)).
    """
    gaps = scores.max() - scores
    while True:
        proposals = rng.below(scores.size, TRIES)
        accepted = np.flatnonzero(rng.bernoulli_exp(rate, gaps[proposals]))
        if accepted.size:
            return int(proposals[accepted[0]])


def maximal(sets: Iterable[Axes]) -> list[Axes]:
    """Those of `sets` that are no part of another, each once, in the order of appearance."""
    distinct = list(dict.fromkeys(sets))
    return [one for one in distinct if not any(set(one) < set(other) for other in distinct)]


def joint_distribution(network: list[Edge], marginals: dict[Axes, Counts], sides: Axes) -> Floats:
    """Π p(attribute | parents) over the whole domain, from the noisy marginals."""
    share = np.ones(sides)
    for edge in network:
        axes = next(axes for axes in marginals if set(edge.axes) <= set(axes))
        positive = np.maximum(marginals[axes], 0).astype(np.float64)
        others = tuple(i for i, axis in enumerate(axes) if axis not in edge.axes)
        joint = positive.sum(axis=others)
        position = edge.axes.index(edge.attribute)
        given = joint.sum(axis=position, keepdims=True)
        # Parents that were not seen at all say nothing about the attribute.
        uniform = np.full_like(joint, 1 / joint.shape[position])
        conditional = np.divide(joint, given, out=uniform, where=given > 0)
        share *= _placed(conditional, edge.axes, sides)
    return share


def _placed(table: NDArray[Any], axes: Axes, sides: Axes) -> NDArray[Any]:
    """A table over ascending `axes`, shaped to be broadcast over the whole domain."""
    return table.reshape([side if axis in axes else 1 for axis, side in enumerate(sides)])


def _cell_bounds(marginals: dict[Axes, Counts], rate: Fraction, sides: Axes) -> Interval:
    """0 ≤ x ≤ the least upper bound of the marginal cells that a bin is part of.

    All of them hold together with the stated confidence, since each may fail with an equal share.
    """
    reach = geometric_quantile(rate, (1 - CONFIDENCE) / len(marginals))
    upper = np.full(sides, np.iinfo(np.int64).max)
    for axes, noisy in marginals.items():
        np.minimum(upper, _placed(np.maximum(noisy + reach, 0), axes, sides), out=upper)
    return Interval(
        Measured.BUCKETS, np.zeros(upper.size, dtype=np.int64), upper.reshape(-1), float(CONFIDENCE)
    )
