"""How likely bins are to be empty, as the others around them tell.

Nothing here reads data, so floating point does no harm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from onesided.data.histogram import Counts, Floats

BOX = 64
"""Bins over which the share of empty ones is taken for the same: it is known to 6 % then."""

TINY = float(np.finfo(np.float32).eps)
"""No share is nearer to 0 or 1: one bin in eight million."""


@dataclass(frozen=True)
class Boxes:
    """The box `of` each bin that is looked at, and the `sizes` of all boxes.

    Bins that are not empty beyond doubt are not looked at, but they are in the sizes.
    """

    of: Counts
    sizes: Counts

    def sums(self, values: Floats) -> Floats:
        return np.bincount(self.of, values, self.sizes.size).astype(np.float64)


def boxes_along(bins: int) -> Counts:
    """For each bin of a line the number of its box; four of them at least, if there are bins."""
    return np.arange(bins) // max(1, min(BOX, bins // 4))


def odds_of_empty(
    everywhere: float, empty: Floats, full: Floats, boxes: Boxes, rounds: int
) -> Floats:
    """How much likelier bins are to be empty than full, as the others of their boxes tell.

    `empty` and `full` are the likelihoods of what was measured if a bin is so; `everywhere` is the
    share of empty bins to begin with. By expectation maximisation: a bin's own likelihood does not
    enter its share, and the share of all bins counts as much as boxes are alike. Bins that are not
    looked at are full ones too: of the full ones only a part `near`, which is learnt with the
    shares, could have been measured as those were that are looked at.
    """
    looked_at, everyone = boxes.of.size, int(boxes.sizes.sum())
    everywhere = min(everywhere, 1 - TINY)
    if boxes.sizes.size == 1:
        return np.full(looked_at, everywhere / (1 - everywhere))
    share = np.full(looked_at, everywhere * looked_at / everyone)
    seem_full = (1 - everywhere) * looked_at
    near = 1.0
    for _ in range(rounds):
        near = max(seem_full / (seem_full + everyone - looked_at), TINY)
        weight = share * empty
        likely = weight / (weight + (1 - share) * near * full)
        empties = boxes.sums(likely)
        seem_full = max(float(np.sum(1 - likely)), TINY)
        more = _bins_in_common(empties, boxes.sizes)
        common = more * empties.sum() / everyone
        others, left = boxes.sizes[boxes.of] - 1, empties[boxes.of] - likely
        share = np.clip((left + common) / (others + more), TINY, 1 - TINY)
    return np.asarray(share / ((1 - share) * near))


def _bins_in_common(empties: Floats, sizes: Counts) -> float:
    """How many bins the share of all bins should count for in a box: κ = 1/ρ − 1.

    ρ is the correlation of being empty within boxes: how much the shares of boxes vary beyond
    what they would by chance, p·(1 − p)/size, as a part of the most they can, p·(1 − p).
    """
    empties, sizes = empties[sizes > 0], sizes[sizes > 0]
    p = empties.sum() / sizes.sum()
    most = p * (1 - p)
    chance = most * sizes.size / sizes.sum()
    between = np.sum(sizes * (empties / sizes - p) ** 2) / sizes.sum()
    correlation = (between - chance) / (most - chance) if most > chance else 0.0
    return float(1 / np.clip(correlation, TINY, 1 - TINY) - 1)
