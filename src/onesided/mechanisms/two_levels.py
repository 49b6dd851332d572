"""Whether counts at two levels explain what was released: full bins on even ground, or holes in it.

Counts that vary by degrees (fitting.py) miss both, and what is best for them differs most from what
is best for others: bins that are equal can be told together, and empty ones are never to be filled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

import numpy as np

from onesided.mechanisms.agreement import MOST_DISAGREEMENT, WIDE, disagreement, tolerated
from onesided.mechanisms.easel import Easel
from onesided.mechanisms.grain import EVEN_SHAPES, NEARLY_NOTHING, Grain, Texture, TwoLevels
from onesided.mechanisms.pieces import Floats, Pieces, Roughness

SHARES, MOST_FULL = 48, 0.95
"""How many shares of full bins are considered, from one bin to the most, and which is the most."""

UNLIKE = 0.15
"""By which part fewer bins may be seen than expected, as the shares of units that are not sensitive
differ from bin to bin: bins that are alike are seen most often."""

DEVIATIONS = (-1.0, -0.5, 0.0, 0.5, 1.0)
"""The deviations that are considered, as parts of what the answer leaves open to either side."""


def two_levels(easel: Easel, released: Roughness) -> Grain | None:
    """The grain of counts at two levels that agrees with all that was `released`, if one does.

    Bins that may all be alike need no two levels.
    """
    even = Grain(EVEN_SHAPES, Texture.EVEN)
    if easel.deviation(even, easel.found.blocks[0]) >= released.moved(-WIDE).deviations[0]:
        return None
    levels = _Evidence.of(easel.found, easel.means, released).explained()
    if levels is None:
        return None
    grain = Grain(EVEN_SHAPES, Texture.EVEN, levels=levels)
    return grain if disagreement(easel, grain, released) <= MOST_DISAGREEMENT else None


@dataclass(frozen=True)
class _Evidence:
    """Stretches of equal bins in pieces of several: `sizes`, and means of `all` units and others.

    And the `answers` that speak for their levels: how much mass is visible below the `threshold`,
    how far bins deviate, and how many of them a probe of noise `rate` saw; each with what of it is
    `tolerated` as chance.
    """

    sizes: Floats
    all: Floats
    nonsensitive: Floats
    threshold: int
    rate: float
    answers: Floats
    tolerated: Floats

    @classmethod
    def of(cls, found: Pieces, means: Floats, released: Roughness) -> _Evidence:
        several = found.several
        piece, here = found.piece[several], means[several]
        # The bins of a piece need not expect as many sensitive units as each other.
        begins = (np.diff(piece, prepend=-1) != 0) | (np.diff(here, prepend=-1) != 0)
        first = np.flatnonzero(begins)
        answers = np.array([released.visible, released.deviations[0], found.seen_in_several])
        scales = np.array([*released.scales[:2], found.seen_error])
        return cls(
            np.diff(first, append=piece.size).astype(np.float64),
            here[first],
            found.means[several][first],
            released.threshold,
            found.noise_rate,
            answers,
            tolerated(answers, scales),
        )

    @property
    def mass(self) -> float:
        return float(self.all @ self.sizes)

    def explained(self) -> TwoLevels | None:
        """The levels that agree best with the answers; if 0 is among those that do, with 0."""
        if self.mass <= 0:
            return None
        deviations = self.answers[1] + np.array(DEVIATIONS) * self.tolerated[1]
        considered = [
            (levels.low > 0, wrong, levels)
            for each in deviations / self.mass
            for wrong, levels in self._considered(each)
            if wrong <= 1
        ]
        return min(considered, key=lambda each: each[:2], default=(None, None, None))[-1]

    def _considered(self, apart: float) -> Iterator[tuple[float, TwoLevels]]:
        """Levels that deviate by a part `apart` of all mass, and how wrong they are.

        With a share f at h and the others at l, f·h + (1 − f)·l = 1, bins deviate by
        min(f, 1 − f)·(h − l). So l is 1 − `apart`, or less where most bins are full; f is at most
        1/(1 + `apart`), where l is 0.
        """
        apart = min(max(apart, 0.0), 1.0)
        most = min(1 / (1 + apart), MOST_FULL)
        full = np.exp(np.linspace(-log(max(self.sizes.sum(), 2)), log(most), SHARES))[:, None]
        low = 1 - apart * np.maximum(1.0, full / (1 - full))
        low[low < NEARLY_NOTHING] = 0.0
        high = low + apart / np.minimum(full, 1 - full)

        def mean(at_high: Floats, at_low: Floats) -> Floats:
            return np.asarray((full * at_high + (1 - full) * at_low) @ self.sizes)

        visible = mean(
            np.minimum(high * self.all, self.threshold), np.minimum(low * self.all, self.threshold)
        )
        seen = mean(
            -np.expm1(-self.rate * high * self.nonsensitive),
            -np.expm1(-self.rate * low * self.nonsensitive),
        )
        told = np.stack([visible, np.full(visible.size, apart * self.mass), seen], axis=1)
        allowed = np.tile(self.tolerated, (visible.size, 1))
        allowed[:, -1] += np.where(seen > self.answers[-1], UNLIKE * self.answers[-1], 0.0)
        wrong = (np.abs(told - self.answers) / allowed).max(axis=1)
        for each, *levels in zip(wrong, full[:, 0], low[:, 0], strict=True):
            yield float(each), TwoLevels(*map(float, levels))
