"""The Hilbert curve through a box of any shape and dimension: neighbours on it are near each other.

The box is embedded in the smallest cube whose side is a power of two; cells outside are dropped, so
the curve may jump there. The order is a function of the shape alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Counts
from onesided.errors import RequestError


def hilbert_order(shape: tuple[int, ...]) -> Counts:
    """The bins (row-major numbers) of a histogram of this shape, in the order of the curve."""
    bits = max(max(shape) - 1, 1).bit_length()
    if bits * len(shape) > 62:
        raise RequestError("A Hilbert curve needs fewer dimensions, or shorter ones.")
    coordinates = np.indices(shape).reshape(len(shape), -1)
    return np.argsort(_positions(coordinates, bits), kind="stable")


def _positions(coordinates: NDArray[np.int64], bits: int) -> Counts:
    """Where on the curve through the cube of side 2^bits the points lie (axis first).

    The curve visits the 2ⁿ halves-of-halves of the cube in Gray-code order, each turned so that it
    begins where the last one ended. From the largest scale to the smallest, undo the turn of the
    subcube that a point is in; then read the bits of all axes together as one Gray code.
    """
    axes = coordinates.astype(np.int64)
    dimensions = len(axes)
    for scale in reversed(range(1, bits)):
        low_bits = (1 << scale) - 1
        for axis in range(dimensions):
            upper = (axes[axis] >> scale & 1).astype(np.bool_)
            # In an upper half the first axis runs backwards, in a lower one it swaps with this.
            swapped = np.where(upper, 0, (axes[0] ^ axes[axis]) & low_bits)
            axes[0] ^= np.where(upper, low_bits, swapped)
            axes[axis] ^= swapped
    return _read_gray_code(axes, bits)


def _read_gray_code(axes: NDArray[np.int64], bits: int) -> Counts:
    """The number whose Gray code is the bits of all axes, highest scale and first axis first."""
    position = np.zeros(axes.shape[1], dtype=np.int64)
    last = np.zeros(axes.shape[1], dtype=np.int64)
    for scale in reversed(range(bits)):
        for axis in axes:
            last ^= axis >> scale & 1
            position = position << 1 | last
    return position
