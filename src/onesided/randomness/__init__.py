"""Entropy, exact integer samplers and keyed coins: the only place that draws.

    system()            Randomness from the operating system, for releases
    seeded(n)           repeatable Randomness, for tests and experiments
    Randomness          geometric, two_sided_geometric, bernoulli_exp, below, words, spawn, …
    LazyUniform         a uniform number compared exactly with numbers of certified error
    floor_exp           ⌊2ᵇ·e⁻ʳ⌋ exactly; exp_bounds encloses it
    fresh_coin_key, coin, coin_threshold
                        the keyed coins of a sample

Proofs are in randomness.md. From the bottom: exponential (certified integers), lazy (bits on
demand), inverse (table sampling), geometric, coins, entropy, sampler (the class Randomness).
"""

from __future__ import annotations

from onesided.randomness.coins import coin, coin_threshold
from onesided.randomness.exponential import Enclosing, Enclosure, exp_bounds, floor_exp
from onesided.randomness.geometric import MINIMUM_RATE
from onesided.randomness.lazy import BitSource, LazyUniform
from onesided.randomness.sampler import Randomness, fresh_coin_key, seeded, system

__all__ = [
    "MINIMUM_RATE",
    "BitSource",
    "Enclosing",
    "Enclosure",
    "LazyUniform",
    "Randomness",
    "coin",
    "coin_threshold",
    "exp_bounds",
    "floor_exp",
    "fresh_coin_key",
    "seeded",
    "system",
]
