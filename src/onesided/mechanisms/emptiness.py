"""How likely bins are to be empty, as the others around them tell.

Nothing here reads data, so floating point does no harm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts

Floats = NDArray[np.float64]

BLOCK_ROUNDS, SETTLED = 20, 1e-3
"""Rounds of expectation maximisation for the shares of empty bins by block, at most, until none of
them moves by more than that."""

CERTAIN = 1 - 1e-9
"""The largest share of empty bins."""

LEAST_CORRELATION, MOST_CORRELATION = 1e-6, 0.999
"""Between blocks that are all alike, and blocks of nothing but full or empty bins."""


@dataclass(frozen=True)
class Block:
    """The block `of` each bin that is looked at, and the sizes of all blocks, far counts included.

    Far counts are those of bins that are not empty beyond doubt.
    """

    of: Counts
    sizes: Counts

    def sums(self, values: Floats) -> Floats:
        return np.bincount(self.of, values, self.sizes.size).astype(np.float64)


def odds_of_empty(everywhere: float, empty: Floats, full: Floats, block: Block) -> Floats:
    """How much likelier bins are to be empty than full, as the others of their blocks tell.

    `empty` and `full` are the likelihoods of what was measured if a bin is so; `everywhere` is the
    share of empty bins to begin with. By expectation maximisation: a bin's own likelihood does not
    enter its share, and the share of all bins counts as much as blocks are alike. Far counts are
    full ones too, but those that are looked at are not among them: of the full ones only a part
    `near`, which is learnt with the shares, could have been measured as they were.
    """
    looked_at, everyone = block.of.size, int(block.sizes.sum())
    everywhere = min(everywhere, CERTAIN)
    if block.sizes.size == 1:
        return np.full(looked_at, everywhere / (1 - everywhere))
    share = np.full(looked_at, everywhere * looked_at / everyone)
    seem_full = (1 - everywhere) * looked_at
    for _ in range(BLOCK_ROUNDS):
        near = max(seem_full / (seem_full + everyone - looked_at), 1 - CERTAIN)
        weight = share * empty
        likely = weight / (weight + (1 - share) * near * full)
        empties = block.sums(likely)
        seem_full = max(float(np.sum(1 - likely)), 1 - CERTAIN)
        more = _bins_in_common(empties, block.sizes)
        common = more * empties.sum() / everyone
        others, left = block.sizes[block.of] - 1, empties[block.of] - likely
        former, share = share, np.clip((left + common) / (others + more), 1 - CERTAIN, CERTAIN)
        if np.abs(share - former).max() < SETTLED:
            break
    return np.asarray(share / ((1 - share) * near))


def _bins_in_common(empties: Floats, sizes: Counts) -> float:
    """How many bins the share of all bins should count for in a block: κ = 1/ρ − 1.

    ρ is the correlation of being empty within blocks: how much the shares of blocks vary beyond
    what they would by chance, p·(1 − p)/size, as a part of the most they can, p·(1 − p).
    """
    empties, sizes = empties[sizes > 0], sizes[sizes > 0]
    p = empties.sum() / sizes.sum()
    most = p * (1 - p)
    chance = most * sizes.size / sizes.sum()
    between = np.sum(sizes * (empties / sizes - p) ** 2) / sizes.sum()
    correlation = (between - chance) / (most - chance) if most > chance else 0.0
    return float(1 / np.clip(correlation, LEAST_CORRELATION, MOST_CORRELATION) - 1)
