"""`ranks-of-all`: the same counts of cells in order by ordinary differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from onesided.data import Histogram, Measurement, MeasurementTerms
from onesided.loss import Loss
from onesided.mechanisms.base import Kind, Mechanism, PublicShape
from onesided.mechanisms.cells import NoisyCells
from onesided.mechanisms.noise import two_sided_mean_size
from onesided.mechanisms.ranks import MEAN_SIZE, TAIL, blocks_of, check_block, ranked
from onesided.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class RanksOfAll(Mechanism):
    """x + Z in each cell and in each block of cells, Z two-sided geometric of rate ε/(2·levels·k).

    - `block`: the cells of a block; by default about the root of their number.
    """

    name: ClassVar[str] = "ranks-of-all"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "cells in order, by ordinary differential privacy"

    block: int | None = None

    def __post_init__(self) -> None:
        check_block(self.block)

    def loss(self, epsilon: Fraction, *, fixed_n: bool = False) -> Loss:
        """(ε/2, ε/2), as that of `laplace`: each level is one at its share of ε."""
        return Loss.differential_privacy(epsilon / 2)

    def expected_error(self, public: PublicShape, epsilon: Fraction) -> float | None:
        """Of a single cell: its own noise, which blocks and neighbours only lessen."""
        return None if public.shape is None else two_sided_mean_size(self._rate(public, epsilon))

    def expected_rank_error(self, cells: int, k: int, epsilon: Fraction) -> float:
        """By how many units the rank of a quantile is off, for any data."""
        rate = self._rate(PublicShape((cells,), k), epsilon)
        return float(MEAN_SIZE * (2 * blocks_of((cells,), self.block).variance) ** 0.5 / rate)

    def terms(self, public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
        blocks = blocks_of(public.shape or (1,), self.block)
        where = "cell" if blocks.levels == 1 else f"cell and each block of {blocks.size}"
        noise = f"two-sided geometric of rate {self._rate(public, epsilon)} on each {where}"
        return MeasurementTerms(loss=self.loss(epsilon), noise=noise, whole=False)

    def measure(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        blocks = blocks_of(data.shape, self.block)
        lines = data.all.reshape(-1, blocks.cells)
        rate = self._rate(PublicShape.of(data), epsilon)
        seen = NoisyCells.of(blocks, lines, rate, rng, two_sided=True)
        value = np.diff(seen.up_to, axis=1, prepend=0.0)
        return ranked(value, seen.bounds(TAIL), data.shape)

    def _rate(self, public: PublicShape, epsilon: Fraction) -> Fraction:
        return epsilon / (2 * blocks_of(public.shape or (1,), self.block).levels * public.k)
