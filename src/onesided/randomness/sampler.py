"""`Randomness`: one source of entropy and everything that is drawn from it."""

from __future__ import annotations

from fractions import Fraction
from numbers import Rational

import numpy as np
from numpy.typing import NDArray

from onesided.errors import InputError
from onesided.randomness.entropy import Entropy, SeededEntropy, SystemEntropy
from onesided.randomness.geometric import geometric_sampler
from onesided.randomness.lazy import LazyUniform, UnsignedArray

WORD_BITS = 64


class Randomness:
    """Draws exactly: integers, from uniform bits, by integer arithmetic (proofs: randomness.md).

    Made by `system()` for releases and by `seeded(n)` for tests and experiments.
    """

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy

    def __repr__(self) -> str:
        return f"Randomness({self.description})"

    @property
    def description(self) -> str:
        """Where the entropy comes from, for receipts: "operating system" or "seed 7"."""
        return self._entropy.description

    @property
    def seeded(self) -> bool:
        """Whether the draws can be repeated by whoever knows the seed."""
        return self._entropy.seeded

    def words(self, count: int) -> NDArray[np.uint64]:
        """`count` independent uniform 64-bit words."""
        return self._entropy.words(_size(count))

    def bits(self, count: int, width: int) -> UnsignedArray:
        """`count` independent uniform integers of `width` bits, 1 ≤ width ≤ 64.

        As many as fit are cut from each word, in the narrowest type that holds them.
        """
        lane_bytes = next(size for size in (1, 2, 4, 8) if width <= 8 * size)
        lanes_per_word = 8 // lane_bytes
        words = self.words(-(-count // lanes_per_word))
        # Little-endian lanes on every machine, so that a seed means the same everywhere.
        lanes = words.astype("<u8", copy=False).view(f"<u{lane_bytes}")[:count]
        surplus = 8 * lane_bytes - width
        return lanes >> lanes.dtype.type(surplus) if surplus else lanes

    def geometric(self, rate: Fraction, size: int) -> NDArray[np.int64]:
        """`size` values of G with Pr[G=g] = (1 − e⁻ʳ)·e^(−r·g), g ≥ 0, where r is `rate` ≥ 2⁻⁵⁰."""
        return geometric_sampler(_exact(rate)).draw(self, _size(size))

    def two_sided_geometric(self, rate: Fraction, size: int) -> NDArray[np.int64]:
        """`size` values of Z with Pr[Z=z] = (1 − e⁻ʳ)/(1 + e⁻ʳ)·e^(−r·|z|), where r is `rate`.

        Z is the difference of two independent geometric variables.
        """
        values = self.geometric(rate, size)
        values -= self.geometric(rate, size)
        return values

    def bernoulli_exp(self, rate: Fraction, multiples: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Element i is True with probability e^(−r·mᵢ), where r is `rate` ≥ 0 and mᵢ ≥ 0 is
        `multiples[i]`: that is Pr[G ≥ mᵢ], so one geometric draw decides each."""
        if not np.can_cast(multiples.dtype, np.int64) or np.any(multiples < 0):
            raise InputError("The multiples of a rate must be 64-bit integers of 0 or more.")
        if _exact(rate) == 0:
            return np.ones(multiples.shape, dtype=np.bool_)
        draws = self.geometric(rate, multiples.size).reshape(multiples.shape)
        return draws >= multiples

    def below(self, bound: int, size: int) -> NDArray[np.int64]:
        """`size` uniform integers in [0, `bound`), by rejection; 1 ≤ bound ≤ 2⁶³."""
        if not 1 <= bound <= 1 << (WORD_BITS - 1):
            raise InputError("The bound of uniform integers must be from 1 to 2^63.")
        values = np.zeros(_size(size), dtype=np.int64)
        width = (bound - 1).bit_length()
        pending = np.arange(values.size if width else 0)
        while pending.size:
            candidates = self.bits(pending.size, width).astype(np.int64)
            accepted = candidates < bound
            values[pending[accepted]] = candidates[accepted]
            pending = pending[~accepted]
        return values

    def lazy_uniform(self) -> LazyUniform:
        """One uniform number on [0, 1) that draws only the bits its comparisons need."""
        return LazyUniform(self)

    def coin_key(self) -> str:
        """A key for coins: 128 bits as 32 lower-case hexadecimal digits."""
        return "".join(f"{word:016x}" for word in self.words(2).tolist())

    def generator(self) -> np.random.Generator:
        """Floating-point draws for idealised mechanisms, simulators and experiments.

        **Nothing drawn from it may be released**: rounding makes some outputs possible on one
        of two neighbouring data sets only. Each call gives a fresh, independent generator.
        """
        return np.random.Generator(self._entropy.bit_generator())

    def spawn(self, count: int) -> list[Randomness]:
        """`count` children, independent of this source and of each other.

        Children of a seeded source are determined by its seed and by how many came before.
        """
        return [Randomness(self._entropy.child()) for _ in range(_size(count))]


def system() -> Randomness:
    """Entropy of the operating system: the only kind for releases."""
    return Randomness(SystemEntropy())


def seeded(seed: int) -> Randomness:
    """A repeatable source for tests and experiments, where `seed` is any integer."""
    if not isinstance(seed, (int, np.integer)):
        raise InputError("A seed must be an integer.")
    return Randomness(SeededEntropy((int(seed),)))


def fresh_coin_key() -> str:
    """A key for coins from the operating system: 32 hexadecimal digits."""
    return system().coin_key()


def _exact(rate: Fraction) -> Fraction:
    """Refuses floating point, which would silently stand for a number nobody wrote."""
    if not isinstance(rate, Rational):
        raise InputError("A rate must be an exact rational number; convert it to a Fraction first.")
    return Fraction(rate)


def _size(count: int) -> int:
    if count < 0:
        raise InputError("The number of draws must not be negative; give 0 or more.")
    return count
