"""Where random words come from: the operating system, or a seed for tests and experiments."""

from __future__ import annotations

import hashlib
import itertools
import os
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

WORD_BYTES = 8


class Entropy(Protocol):
    """A source of uniform 64-bit words."""

    description: str
    seeded: bool

    def words(self, count: int) -> NDArray[np.uint64]:
        """`count` independent uniform words."""
        ...

    def child(self) -> Entropy:
        """A source independent of this one and of its other children."""
        ...

    def bit_generator(self) -> np.random.BitGenerator:
        """A fresh numpy bit generator, for floating-point work."""
        ...


class SystemEntropy:
    """Words of `os.urandom`.

    Nothing is kept between calls, so there is nothing that threads or forked processes could
    share, and nothing to find in a memory dump.
    """

    description = "operating system"
    seeded = False

    def words(self, count: int) -> NDArray[np.uint64]:
        # A bytearray keeps the result writable without a copy.
        return np.frombuffer(bytearray(os.urandom(WORD_BYTES * count)), dtype=np.uint64)

    def child(self) -> SystemEntropy:
        return SystemEntropy()

    def bit_generator(self) -> np.random.BitGenerator:
        return np.random.Philox(key=int.from_bytes(os.urandom(16), "little"))


class SeededEntropy:
    """Words of the counter-based generator Philox-4×64, the same on every platform.

    The key is SHA-256 of the path (seed, child, grandchild, …), which is injective as text, so
    different seeds and different children have unrelated streams. A forked process continues a
    copy of the same stream: give each process a child of its own.
    """

    seeded = True

    def __init__(self, path: tuple[int, ...]) -> None:
        self._path = path
        self._children = itertools.count()
        self._stream = self._philox("words")
        seed, *lineage = path
        suffix = f", stream {'.'.join(map(str, lineage))}" if lineage else ""
        self.description = f"seed {seed}{suffix}"

    def words(self, count: int) -> NDArray[np.uint64]:
        # random_raw holds the generator's lock, and is the documented, frozen stream of Philox.
        words: NDArray[np.uint64] = self._stream.random_raw(count)
        return words

    def child(self) -> SeededEntropy:
        return SeededEntropy((*self._path, next(self._children)))

    def bit_generator(self) -> np.random.BitGenerator:
        return self.child()._philox("floating point")

    def _philox(self, purpose: str) -> np.random.Philox:
        label = f"onesided {purpose} {'/'.join(map(str, self._path))}"
        key = int.from_bytes(hashlib.sha256(label.encode()).digest()[:16], "little")
        return np.random.Philox(key=key)
