"""Which records of a histogram are non-sensitive: the two opt-in policies of the paper.

Both take a histogram x and a share ρ and return x_ns ≤ x with round(ρ·Σx) records, drawn without
replacement. *Close* (`MSampling`) leaves the shape alone, *Far* (`HiLoSampling`) does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from onesided.data.histogram import Counts, Floats
from onesided.errors import RequestError
from onesided.randomness import Randomness

if TYPE_CHECKING:
    from numpy.random import Generator

MOST_ATTEMPTS = 20_000
# Below this many open records the race is run record by record.
FEW_RECORDS = 2_048
LARGEST_WEIGHT = 50.0


class OptIn(Protocol):
    """A way to draw the non-sensitive part of a histogram."""

    @property
    def name(self) -> str: ...

    def sample(self, x: Counts, share: float, rng: Randomness) -> Counts:
        """x_ns ≤ x with round(share·Σx) records."""
        ...


@dataclass(frozen=True, kw_only=True)
class MSampling:
    """Close: a subset whose bin positions have nearly the mean and deviation of the whole.

    μ and σ are the mean and standard deviation of the bin position (from 0) over records, and θ is
    `theta`. A uniformly drawn subset is accepted when |μ' − μ| ≤ θμ and |σ' − σ| ≤ θσ. So the
    result is uniform among all subsets that meet the bounds.
    """

    theta: float = 0.1
    name: str = "Close"

    def sample(self, x: Counts, share: float, rng: Randomness) -> Counts:
        records = _size(x, share)
        generator = rng.generator()
        mean, deviation = position_moments(x)
        for _ in range(MOST_ATTEMPTS):
            drawn = _uniform_subset(x, records, generator)
            new_mean, new_deviation = position_moments(drawn)
            if (
                abs(new_mean - mean) <= self.theta * mean
                and abs(new_deviation - deviation) <= self.theta * deviation
            ):
                return drawn
        raise RequestError(
            f"No sample of {records} records keeps mean and deviation within {self.theta:g}: "
            "ask for a larger share or a wider bound."
        )


@dataclass(frozen=True, kw_only=True)
class HiLoSampling:
    """Far: bins within ±βd of a random bin b weigh γ and the others 1; records go by weight.

    d is the number of bins, γ = `gamma`, β = `beta`. Records are drawn one after the other without
    replacement, each with probability proportional to its weight among those left. Only the number
    of records from the high region needs the weights; within a region all weigh the same, so the
    rest is uniform.
    """

    gamma: float = 5.0
    beta: float = 0.4
    name: str = "Far"

    def __post_init__(self) -> None:
        # Beyond this the chances of heavy records underflow when nearly all records are drawn.
        if not 1 <= self.gamma <= LARGEST_WEIGHT:
            raise RequestError(f"The weight gamma must lie between 1 and {LARGEST_WEIGHT:g}.")

    def sample(self, x: Counts, share: float, rng: Randomness) -> Counts:
        records = _size(x, share)
        generator = rng.generator()
        centre = int(generator.integers(0, x.size))
        high = np.abs(np.arange(x.size) - centre) <= self.beta * x.size
        total_high, total_low = int(x[high].sum()), int(x[~high].sum())
        from_high = weighted_draws(total_high, total_low, records, self.gamma, generator)
        drawn = np.zeros_like(x)
        drawn[high] = _uniform_subset(x[high], from_high, generator)
        drawn[~high] = _uniform_subset(x[~high], records - from_high, generator)
        return drawn


def weighted_draws(heavy: int, light: int, draws: int, weight: float, generator: Generator) -> int:
    """How many of `draws` records are heavy, when `heavy` records weigh `weight` and `light` 1.

    The law (Wallenius) is that of a race: let each record arrive after an exponential time with
    its weight as rate; the first arrivals are the draws. On the clock s = 1 − e^−t of the light
    records, light ones arrive uniformly on [0, 1] and heavy ones with distribution function
    F(s) = 1 − (1−s)^weight. We halve the interval that holds the last draw: given how many of each
    kind arrive within it, those in its first half are binomial. So the result is exact, up to
    floating point, in logarithmic time.
    """
    early, late = 0.0, 1.0
    won = np.zeros(2, dtype=np.int64)
    open_ = np.array([heavy, light])
    while open_.sum() > FEW_RECORDS:
        middle = (early + late) / 2
        chance = _arrived(early, middle, weight) / _arrived(early, late, weight)
        first_half = generator.binomial(open_, np.minimum(chance, 1.0))
        if (won + first_half).sum() <= draws:
            won, open_, early = won + first_half, open_ - first_half, middle
        else:
            open_, late = first_half, middle
    span = _arrived(early, late, weight)
    # Arrival times within the interval, by the inverse of F; light records have weight one.
    heavy_times = 1 - ((1 - early) ** weight - generator.random(int(open_[0])) * span[0]) ** (
        1 / weight
    )
    light_times = early + generator.random(int(open_[1])) * span[1]
    order = np.argsort(np.concatenate([heavy_times, light_times]), kind="stable")
    return int(won[0] + (order[: draws - int(won.sum())] < open_[0]).sum())


def _arrived(start: float, stop: float, weight: float) -> Floats:
    """Chance that a heavy and that a light record arrives between `start` and `stop`."""
    return np.array([(1 - start) ** weight - (1 - stop) ** weight, stop - start])


def position_moments(x: Counts) -> tuple[float, float]:
    """Mean and standard deviation of the bin position, from 0, over the records of x."""
    total = int(x.sum())
    if not total:
        return 0.0, 0.0
    position = np.arange(x.size)
    mean = float(x @ position) / total
    return mean, float(np.sqrt(x @ (position - mean) ** 2 / total))


def _uniform_subset(x: Counts, records: int, generator: Generator) -> Counts:
    """`records` records of x, every subset equally likely."""
    drawn = np.zeros_like(x)
    filled = np.flatnonzero(x)
    if records:
        drawn[filled] = generator.multivariate_hypergeometric(
            x[filled], records, method="marginals"
        )
    return drawn


def _size(x: Counts, share: float) -> int:
    """Number of records that a share of x has."""
    if x.ndim != 1 or not np.issubdtype(x.dtype, np.integer) or (x < 0).any():
        raise RequestError("A histogram to sample from must be one row of counts from 0.")
    if not 0 <= share <= 1:
        raise RequestError("The share of non-sensitive records must lie between 0 and 1.")
    return round(share * int(x.sum()))
