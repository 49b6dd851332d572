"""A closed policy on rows in Python, by the tables that engines join with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise, product

from onesided.maps.closing import ClosedMap
from onesided.maps.edges import Place

Seen = Sequence[tuple[Place | None, int | None]]


class MapJudge:
    """Says of units whether the map makes them sensitive."""

    def __init__(self, closed: ClosedMap) -> None:
        self._closed = closed

    @cached_property
    def _numbers(self) -> dict[Place | None, int]:
        names, numbers = (column.to_pylist() for column in self._closed.open_places.columns)
        return dict(zip(names, numbers, strict=True))

    @cached_property
    def _below(self) -> dict[tuple[int, int], int]:
        moves = self._closed.moves
        pairs = zip(moves.start.tolist(), moves.end.tolist(), strict=True)
        return dict(zip(pairs, moves.below.tolist(), strict=True))

    def stands_out(self, rows: Seen) -> bool:
        """Whether a row is sensitive by itself: by where it is, or because that is not known."""
        return any(place not in self._numbers or time is None for place, time in rows)

    def is_sensitive(self, rows: Seen) -> bool:
        """Whether a row stands out, or a move gives a sensitive place away."""
        if self.stands_out(rows):
            return True
        at: dict[int, set[int]] = {}
        for place, time in rows:
            assert time is not None
            at.setdefault(time, set()).add(self._numbers[place])
        return any(
            late - early < self._below.get(pair, 0)
            for early, late in pairwise(sorted(at))
            for pair in product(at[early], at[late])
        )
