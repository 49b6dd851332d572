"""A source of randomness that remembers which noise was asked of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from onesided.randomness import Randomness
from onesided.randomness.entropy import SeededEntropy


@dataclass(frozen=True)
class Request:
    """So many values of two-sided noise of that rate, or coins of probability e^(−rate·m)."""

    rate: Fraction
    size: int
    coins: bool = False


class RecordingRandomness(Randomness):
    """`seeded(seed)`, with a list of the `requests` in the order in which they were made."""

    def __init__(self, seed: int) -> None:
        super().__init__(SeededEntropy((seed,)))
        self.requests: list[Request] = []

    def two_sided_geometric(self, rate: Fraction, size: int) -> NDArray[np.int64]:
        self.requests.append(Request(rate, size))
        return super().two_sided_geometric(rate, size)

    def bernoulli_exp(self, rate: Fraction, multiples: NDArray[np.int64]) -> NDArray[np.bool_]:
        self.requests.append(Request(rate, multiples.size, coins=True))
        return super().bernoulli_exp(rate, multiples)

    def rates(self, *, coins: bool = False) -> list[Fraction]:
        """The rates asked for, of noise or of coins."""
        return [request.rate for request in self.requests if request.coins == coins]
