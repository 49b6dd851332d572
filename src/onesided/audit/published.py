"""Ways to get it wrong that are in print or in use, for the auditor to find.

None of them is in the registry, and a session knows none of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.audit.world import Database, SmallWorld
from onesided.data import Histogram
from onesided.data.histogram import Counts
from onesided.mechanisms.published.dawa_reference import reference_partitions
from onesided.randomness import Randomness, coin, coin_threshold

Row = tuple[str, bool]
"""What a row says, and whether that makes it sensitive."""


@dataclass(frozen=True)
class FloatingPointLaplace:
    """x + Laplace(2/ε) in doubles: the right distribution, on the wrong numbers.

    1 + z is rounded to a coarser grid than z, so the low bits of an output tell where it came from.
    """

    epsilon: Fraction

    def release(self, data: Histogram, rng: Randomness) -> NDArray[np.float64]:
        return np.asarray(self.release_many(data, 1, rng)[0])

    def release_many(self, data: Histogram, runs: int, rng: Randomness) -> NDArray[np.float64]:
        noise = rng.generator().laplace(0.0, 2 / float(self.epsilon), (runs, data.bins))
        return data.all.reshape(-1) + noise


@dataclass(frozen=True)
class ContentCoins:
    """A sample in which the coin of a row is a keyed hash of what the row says.

    Rows that say the same are kept or left out together, and one of them alone never leaves.
    """

    epsilon: Fraction

    def release(self, data: tuple[Row, ...], rng: Randomness) -> Counter[str]:
        key, threshold = rng.coin_key(), coin_threshold(self.epsilon)
        return Counter(
            text for text, is_sensitive in data if not is_sensitive and coin(key, text) < threshold
        )


@dataclass(frozen=True)
class UnitCoins:
    """The sample as sessions draw it: the coin of a unit is a keyed hash of its own key."""

    epsilon: Fraction

    def release(self, data: tuple[Row, ...], rng: Randomness) -> Counter[str]:
        key, threshold = rng.coin_key(), coin_threshold(self.epsilon)
        return Counter(
            text
            for number, (text, is_sensitive) in enumerate(data)
            if not is_sensitive and coin(key, str(number)) < threshold
        )


@dataclass(frozen=True)
class IdealUnitCoins:
    """`UnitCoins` with ideal hashes: kept exactly where 256 uniform bits are below the threshold.

    Its law is rational, so the exact audit can say what the threshold, rounded down, costs.
    """

    epsilon: Fraction

    def release(self, data: tuple[Row, ...], rng: Randomness) -> Counter[str]:
        kept = _ideal_coins(len(data), self.epsilon, rng)
        return Counter(
            text
            for (text, is_sensitive), is_kept in zip(data, kept, strict=True)
            if is_kept and not is_sensitive
        )


@dataclass(frozen=True)
class IdealContentCoins:
    """`ContentCoins` with ideal hashes."""

    epsilon: Fraction

    def release(self, data: tuple[Row, ...], rng: Randomness) -> Counter[str]:
        texts = sorted({text for text, _ in data})
        kept = dict(zip(texts, _ideal_coins(len(texts), self.epsilon, rng), strict=True))
        return Counter(text for text, is_sensitive in data if kept[text] and not is_sensitive)


def _ideal_coins(count: int, epsilon: Fraction, rng: Randomness) -> list[bool]:
    keep = Fraction(int(coin_threshold(epsilon), 16), 1 << 256)
    # A rational probability is drawn by nobody but the source that lists all outcomes.
    draw: Any = rng.generator().binomial
    return [bool(each) for each in draw(np.ones(count, dtype=np.int64), keep)]


@dataclass(frozen=True)
class PartitionStage:
    """The choice of buckets of `dawa-reference` alone, at add/remove budget `epsilon`.

    Three times as much is left for the totals, as its usual split has it; the totals themselves
    are measured as they should be, so they are not looked at.
    """

    epsilon: Fraction

    def release(self, data: Histogram, rng: Randomness) -> NDArray[np.bool_]:
        return np.asarray(self.release_many(data, 1, rng)[0])

    def release_many(self, data: Histogram, runs: int, rng: Randomness) -> NDArray[np.bool_]:
        budget = float(self.epsilon)
        return reference_partitions(data.all, budget, 3 * budget, rng, runs)


def record_world(rows: tuple[Row, ...] = (("a", False), ("b", False), ("c", True))) -> SmallWorld:
    """A universe of rows, of which the mechanism sees the whole table."""

    def build(database: Database) -> Any:
        return database

    return SmallWorld(rows, frozenset(row for row in rows if row[1]), build)


def printed_ratio(
    value: NDArray[Any], buckets: Counts, looks_empty: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The last step of the recipe as printed: survivors of bucket B times |B| / |Z ∩ B|.

    Z are the bins that look empty. The right factor is |B| / |B∖Z|, which keeps each bucket's mass.
    As printed it divides by zero where nothing looks empty; such buckets are left as they are here.
    """
    sizes, removed = np.bincount(buckets), np.bincount(buckets, weights=looks_empty)
    factor = np.where(removed > 0, sizes / np.maximum(removed, 1), 1.0)
    return np.where(looks_empty, 0.0, value * factor[buckets])
