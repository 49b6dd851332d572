"""Choices that a seed repeats: what makes tables, requests and sources."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

from onesided.randomness import seeded

Choice = TypeVar("Choice")
_WORDS = 256


class Dice:
    """Independent choices, determined by a path of numbers and names."""

    def __init__(self, *path: int | str) -> None:
        digest = hashlib.sha256(repr(path).encode()).digest()
        self._source = seeded(int.from_bytes(digest[:8], "big"))
        self._words: list[int] = []

    def below(self, bound: int) -> int:
        """A whole number in [0, `bound`); which numbers are made of it is no matter of privacy."""
        if not self._words:
            self._words = self._source.words(_WORDS).tolist()
        return self._words.pop() % bound

    def one_in(self, count: int) -> bool:
        """True once in `count` times."""
        return self.below(count) == 0

    def pick(self, choices: Sequence[Choice]) -> Choice:
        """One of them."""
        return choices[self.below(len(choices))]

    def some(self, choices: Sequence[Choice], most: int) -> list[Choice]:
        """At most `most` different ones, at least one, in their order."""
        count = 1 + self.below(min(most, len(choices)))
        places = sorted(range(len(choices)), key=lambda _: self.below(2**32))[:count]
        return [choices[place] for place in sorted(places)]
