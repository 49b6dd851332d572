"""Keyed coins: a pseudo-random number for each unit that every engine can compute for itself.

The coin of a unit is SHA-256(key ‖ text) as 64 hexadecimal digits, where the key is a secret of
128 bits written as 32 digits and the text names the unit injectively. A unit is kept iff its coin
is less, as text, than the threshold. Both are lower case and of fixed width, so the order of the
texts is the order of the numbers, in every engine that compares by code point.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction

from onesided.errors import InputError
from onesided.randomness.exponential import floor_exp

COIN_BITS = 256
COIN_DIGITS = COIN_BITS // 4


def coin_threshold(epsilon: Fraction) -> str:
    """⌊(1 − e^−ε)·2²⁵⁶⌋ as 64 lower-case hexadecimal digits, where ε is `epsilon` > 0.

    Rounded down, so that no unit is kept with more than the promised probability 1 − e^−ε. A
    larger ε has a threshold that is no smaller: its sample contains that of the smaller one.
    """
    if epsilon <= 0:
        raise InputError("The epsilon of a sample must be greater than 0; ask for a larger one.")
    # e^−ε is irrational, so 2²⁵⁶·e^−ε is never an integer, and its ceiling is its floor plus one.
    threshold = (1 << COIN_BITS) - 1 - floor_exp(epsilon, COIN_BITS)
    return f"{threshold:0{COIN_DIGITS}x}"


def coin(key: str, text: str) -> str:
    """The coin of the unit named by `text` under the secret `key`, as engines compute it."""
    return hashlib.sha256((key + text).encode()).hexdigest()
