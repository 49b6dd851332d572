"""How totals go on beyond what noise lets through: the tails that may be, and what bounds clip.

Few units have the largest totals, and noise hides them, so their number is carried on from what is
seen. One family has the tails that we know: of the units above s, as many are above b as

    S(b) = exp(−a·((b/s)^c − 1)/c),    S(b) = (b/s)^−a where c = 0.

c = 0 is a power law, c = 1 is exponential, and a log-normal is between them for as far as anybody
sees. Each pair (a, c) of a grid weighs as much as the noisy counts are likely under it. What a
bound clips is the mean over all of them: a tail that may be heavy is not taken for a light one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

_TELLING = 3
"""A count tells from noise of a third of it."""
_BEFORE, _BEYOND = 6, 5
"""A tail is fitted from so many rungs before the last that tells to so many after it."""
_BENDS = np.array([0, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.3])
"""c: from a power law to what falls faster than an exponential."""
_SLOPES = np.geomspace(0.05, 12, 60)
"""a: by how many times a share falls where b grows by a small one; a step is a tenth."""
_REACH, _POINTS = 7, 60
"""What lies above a bound is added up to so many doublings above it, at so many points."""
_UNLIKELY = 1e-4


@dataclass(frozen=True)
class SpreadOfTotals:
    """How totals are spread: how many are from each number of the ladder to before the next.

    - `counts`: noisy, and right on average.
    - `scale`: that of their noise.
    """

    ladder: tuple[Fraction, ...]
    counts: tuple[float, ...]
    scale: float

    def clipped(self, bound: Fraction) -> float:
        """By how much all totals together are expected to fall short with this bound."""
        if not len(self._telling):
            return 0.0
        places, low = self._places, float(bound)
        start = places[self._start]
        above = sum(
            float(self.counts[each]) * max((places[each] * places[each + 1]) ** 0.5 - low, 0.0)
            for each in self._telling
            if each < self._start
        )
        if low < start:
            above, low = above + self._beyond * (start - low), start
        points = low * np.geomspace(1, 2.0**_REACH, _POINTS)
        weights, slopes, bends = self._tails
        shares = _share(points / start, slopes[:, None], bends[:, None])
        clipped = float(weights @ np.trapezoid(shares, points, axis=1))
        return float(above + self._beyond * clipped)

    @cached_property
    def _places(self) -> list[float]:
        return [*map(float, self.ladder), float(self.ladder[-1] * 2)]

    @cached_property
    def _telling(self) -> list[int]:
        """The rungs whose counts tell from noise."""
        return [place for place, each in enumerate(self.counts) if each > _TELLING * self.scale]

    @cached_property
    def _start(self) -> int:
        """The rung from which the tail is fitted: none before the fullest."""
        return max(int(np.argmax(self.counts)), self._telling[-1] - _BEFORE)

    @property
    def _beyond(self) -> float:
        """How many totals there are from that rung on."""
        return max(float(sum(self.counts[self._start : self._telling[-1] + 1])), 1.0)

    @cached_property
    def _tails(self) -> tuple[Floats, Floats, Floats]:
        """The weights of the tails that are likely, with their slopes and bends."""
        last = min(self._telling[-1] + _BEYOND, len(self.counts))
        edges = np.array(self._places[self._start : last + 1]) / self._places[self._start]
        slopes, bends = (each.reshape(-1) for each in np.meshgrid(_SLOPES, _BENDS))
        shares = _share(edges, slopes[:, None], bends[:, None])
        foreseen = -self._beyond * np.diff(shares, axis=1)
        variance = self.scale**2 + np.maximum(foreseen, 1.0)
        off = np.array(self.counts[self._start : last]) - foreseen
        likely = -0.5 * (off**2 / variance + np.log(variance)).sum(axis=1)
        weights = np.exp(likely - likely.max())
        kept = weights > _UNLIKELY * weights.sum()
        return weights[kept] / weights[kept].sum(), slopes[kept], bends[kept]


def _share(ratios: Floats, slopes: Floats, bends: Floats) -> Floats:
    """S, of units above the start those above `ratios` times it."""
    logs = np.log(ratios)
    grown = np.where(bends > 0, np.expm1(bends * logs) / np.where(bends > 0, bends, 1.0), logs)
    return np.asarray(np.exp(-slopes * grown))
