"""Cutting a line of noisy values into pieces inside which they differ by no more than noise.

All cuts look for the least Σ squares/2 + price·pieces, values being in units of their noise's
standard deviation. Everything here is post-processing, so floating point does no harm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts

Floats = NDArray[np.float64]

MOST_ROUNDS = 16
"""How often all pieces are cut, and joined, at once."""


def pieces_anywhere(values: Floats, price: float) -> Counts:
    """For each bin the number of its piece; pieces begin anywhere.

    Dyadic pieces are cut further where that pays, and neighbours joined where that pays: a step
    that lies at no multiple of a power of two is in one place instead of many.
    """
    begins = np.diff(dyadic_pieces(values, price), prepend=-1) != 0
    piece = np.cumsum(_cut_further(values, begins, price)) - 1
    sizes = np.bincount(piece)
    run = joined(np.bincount(piece, weights=values) / sizes, sizes, price)
    return np.asarray(run[piece], dtype=np.int64)


def _cut_further(values: Floats, begins: NDArray[np.bool_], price: float) -> NDArray[np.bool_]:
    """Each piece cut in two at the place where most is gained, as long as that is the price."""
    places = np.arange(values.size)
    heaped = np.cumsum(values)
    for _ in range(MOST_ROUNDS):
        piece = np.cumsum(begins) - 1
        starts = np.flatnonzero(begins)
        sizes = np.diff(starts, append=values.size)
        totals = np.add.reduceat(values, starts)
        left = places - starts[piece] + 1
        right = sizes[piece] - left
        sums = heaped - (heaped[starts] - values[starts])[piece]
        apart = sums - left * (totals / sizes)[piece]
        gains = apart**2 * sizes[piece] / (2 * left * np.maximum(right, 1)) * (right > 0)
        best = np.maximum.reduceat(gains, starts)
        last = np.flatnonzero((gains == best[piece]) & (best > price)[piece])
        if not last.size:
            break
        begins = begins.copy()
        begins[last + 1] = True
    return begins


def joined(means: Floats, precisions: NDArray[Any], price: float) -> Counts:
    """For each of the `means` the number of its run.

    Neighbours are in one run if less than the price keeps them apart. The variance of a mean is 1
    over its precision.
    """
    weighted = means * precisions
    begins = np.ones(means.size, dtype=np.bool_)
    for _ in range(MOST_ROUNDS):
        starts = np.flatnonzero(begins)
        weights = np.add.reduceat(precisions, starts)
        levels = np.add.reduceat(weighted, starts) / weights
        left, right = weights[:-1], weights[1:]
        apart = np.diff(levels) ** 2 * left * right / (2 * (left + right))
        around = np.pad(apart, 1, constant_values=np.inf)
        ends = (apart < price) & (apart < around[:-2]) & (apart <= around[2:])
        if not ends.any():
            break
        begins[starts[1:][ends]] = False
    return np.cumsum(begins) - 1


def dyadic_pieces(values: Floats, price: float) -> Counts:
    """For each bin the number of its piece in the best dyadic partition, found in O(d)."""
    padded = 1 << max(values.size - 1, 0).bit_length()
    sums, squares, sizes = (np.zeros(padded) for _ in range(3))
    sums[: values.size], squares[: values.size], sizes[: values.size] = values, values**2, 1
    best = np.where(sizes > 0, price, 0.0)
    whole = []
    while best.size > 1:
        sums, squares, sizes, apart = (
            each[0::2] + each[1::2] for each in (sums, squares, sizes, best)
        )
        spread = squares - sums**2 / np.maximum(sizes, 1)
        together = np.where(sizes > 0, spread / 2 + price, 0.0)
        whole.append(together <= apart)
        best = np.minimum(together, apart)
    label = np.zeros(1, dtype=np.int64)
    settled = np.zeros(1, dtype=np.bool_)
    for each in reversed(whole):
        settled |= each
        # A settled piece hands its label on; an open one gives its halves labels of their own.
        label, settled = np.repeat(2 * label, 2), np.repeat(settled, 2)
        label[1::2] += ~settled[1::2]
    changed = np.diff(label[: values.size], prepend=label[0]) != 0
    return np.cumsum(changed)
