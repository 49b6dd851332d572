"""Randomness for made-up data, which are nobody's: quick instead of exact."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from onesided.randomness import Randomness
from onesided.randomness.entropy import SeededEntropy


class Simulated(Randomness):
    """Noise in floating point, for candidates that are tried on scenarios.

    **Nothing drawn from it may be released.** The samplers of a release take a hundred times as
    long to make as small scenarios take to run, and one is needed for each rate.
    """

    def __init__(self, seed: int) -> None:
        super().__init__(SeededEntropy((seed,)))
        self.dice = self.generator()

    def geometric(self, rate: Fraction, size: int) -> NDArray[np.int64]:
        """The whole part of an exponential variable of that rate has the same distribution."""
        return self.dice.exponential(1 / float(rate), size).astype(np.int64)
