"""How totals are spread over a public ladder: the one-sided look that bounds are found by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from onesided.mechanisms.one_sided import subtract_noise
from onesided.randomness import Randomness

GROUPS_SHARE = Fraction(1, 8)
"""The part of the look that pays for the number of groups."""


@dataclass(frozen=True)
class SpreadOfRungs:
    """Noisy numbers of totals at each rung of the ladder, and of groups."""

    counts: tuple[int, ...]
    groups: int


def totals_rate(epsilon: Fraction, k: int) -> Fraction:
    """That of the noise on each rung."""
    return epsilon * (1 - GROUPS_SHARE) / k


def groups_rate(epsilon: Fraction, k: int) -> Fraction:
    """That of the noise on the number of groups."""
    return epsilon * GROUPS_SHARE / k


def release_spread(
    reached: Sequence[int], groups: int, epsilon: Fraction, rng: Randomness, *, k: int
) -> SpreadOfRungs:
    """x − G for each rung and for the number of groups: the pair (0, ε), see `sums.md`.

    - `reached`: how many totals of non-sensitive units, in all groups, are at least at each rung.
    - `groups`: in how many groups some non-sensitive unit reaches the first rung.
    - `k`: in how many groups a unit is at most.
    """
    at = np.array(reached, dtype=np.int64)
    counts = subtract_noise(at - np.append(at[1:], 0), totals_rate(epsilon, k), rng)
    number = subtract_noise(np.array([groups], dtype=np.int64), groups_rate(epsilon, k), rng)
    return SpreadOfRungs(tuple(counts.tolist()), int(number[0]))
