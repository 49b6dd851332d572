"""The ways between places: who can walk from where to where, and how long that takes at least."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onesided.errors import RequestError, SourceError

Place: TypeAlias = str | int
Integers: TypeAlias = NDArray[np.int64]

MICROSECONDS = 1_000_000
MOST_SECONDS = 10_000_000
"""The longest way. So the sum over all ways of a map stays far below 64 bits."""
MOST_EDGES = 5_000_000
_NAMED = ("from", "to", "seconds")
_SHAPE = "The edges of a map are a table of two or three columns: from, to and seconds"


@dataclass(frozen=True)
class Edges:
    """Directed ways between places by number, each pair once with its least time.

    - `places`: the names, sorted; all texts or all integers.
    - `start`, `end`: places by number; `time`: microseconds, 0 where only reachability is known.
    """

    places: tuple[Place, ...]
    start: Integers
    end: Integers
    time: Integers

    @classmethod
    def of(cls, table: pa.Table, *, directed: bool) -> Edges:
        """From a table with from, to and perhaps seconds; both ways unless `directed`."""
        first, second, seconds = _columns(table)
        starts, ends = _places(first), _places(second)
        if seconds is None and (starts[:1], ends[:1]) == (["from"], ["to"]):
            starts, ends = starts[1:], ends[1:]  # in a file of texts alone nothing tells the header
        if not starts:
            raise SourceError("The map has no edges; name the ways between its places.")
        if len({type(each) for each in (*starts, *ends)}) > 1:
            raise SourceError("The places of a map must be all texts or all whole numbers.")
        times = [0] * len(starts) if seconds is None else _times(seconds)
        return cls.between(zip(starts, ends, times, strict=True), directed=directed)

    @classmethod
    def between(cls, ways: Iterable[tuple[Place, Place, int]], *, directed: bool = False) -> Edges:
        """From triples of two places and microseconds."""
        least: dict[tuple[Place, Place], int] = {}
        names: set[Place] = set()
        for start, end, time in ways:
            names |= {start, end}
            for pair in ((start, end),) if directed else ((start, end), (end, start)):
                if start != end:
                    least[pair] = min(time, least.get(pair, time))
        places = tuple(sorted(names))
        number = {place: index for index, place in enumerate(places)}
        found = sorted((number[one], number[two], time) for (one, two), time in least.items())
        columns = np.array(found, dtype=np.int64).reshape(-1, 3).T
        return cls(places, *(np.ascontiguousarray(each) for each in columns))

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def numbers(self) -> dict[Place, int]:
        """Each place's number."""
        return {place: index for index, place in enumerate(self.places)}

    def mask(self, places: Iterable[Place]) -> NDArray[np.bool_]:
        """Which places are among these."""
        found = np.zeros(len(self.places), dtype=np.bool_)
        found[[self.numbers[place] for place in places]] = True
        return found

    def avoiding(self, places: NDArray[np.bool_]) -> Edges:
        """Without the ways that touch one of these places."""
        kept = ~(places[self.start] | places[self.end])
        return Edges(self.places, self.start[kept], self.end[kept], self.time[kept])

    @cached_property
    def backwards(self) -> Edges:
        """Every way the other way round."""
        order = np.lexsort((self.start, self.end))
        return Edges(self.places, self.end[order], self.start[order], self.time[order])

    @cached_property
    def leaving(self) -> list[list[tuple[int, int]]]:
        """For each place its ways, as (place, microseconds)."""
        found: list[list[tuple[int, int]]] = [[] for _ in self.places]
        triples = zip(self.start.tolist(), self.end.tolist(), self.time.tolist(), strict=True)
        for start, end, time in triples:
            found[start].append((end, time))
        return found

    @cached_property
    def offers(self) -> list[tuple[Integers, Integers]]:
        """For each place the places before it, and the times from there as a column."""
        back = self.backwards
        cuts = np.searchsorted(back.start, np.arange(len(self.places) + 1))
        return [
            (back.end[low:high], back.time[low:high, np.newaxis])
            for low, high in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
        ]

    @cached_property
    def in_order(self) -> tuple[int, ...]:
        """All places, those that are near each other near each other."""
        out, back = self.leaving, self.backwards.leaving
        seen, order = bytearray(len(self.places)), list[int]()
        for first in range(len(self.places)):
            waiting = deque([] if seen[first] else [first])
            seen[first] = 1
            while waiting:
                here = waiting.popleft()
                order.append(here)
                for there, _ in (*out[here], *back[here]):
                    if not seen[there]:
                        seen[there] = 1
                        waiting.append(there)
        return tuple(order)

    def listed(self) -> list[tuple[Place, Place, int]]:
        """All ways in a fixed order, with the names of places."""
        triples = zip(self.start.tolist(), self.end.tolist(), self.time.tolist(), strict=True)
        return [(self.places[start], self.places[end], time) for start, end, time in triples]


def microseconds(value: Any, what: str, most: int = MOST_SECONDS) -> int:
    """A number of seconds as whole microseconds; a float means the decimal that it prints."""
    number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    exact = Decimal(repr(value) if isinstance(value, float) else value) if number else None
    if exact is None or not exact.is_finite() or not 0 <= exact <= most:
        raise SourceError(f"{what} must be a number of seconds from 0 to {most:,}.")
    whole = exact * MICROSECONDS
    if whole != whole.to_integral_value():
        raise SourceError(f"{what} must have no more than six decimal places of a second.")
    return int(whole)


def _columns(table: pa.Table) -> tuple[pa.ChunkedArray, pa.ChunkedArray, pa.ChunkedArray | None]:
    """By their names where these are ours, otherwise in this order."""
    lower = [name.strip().lower() for name in table.column_names]
    if len(set(lower)) == len(lower) and {"from", "to"} <= set(lower):
        chosen = [table.column(lower.index(name)) for name in _NAMED if name in lower]
    elif table.num_columns in (2, 3):
        chosen = list(table.columns)
    else:
        raise SourceError(f"{_SHAPE}; this one has {table.num_columns} columns.")
    if table.num_rows > MOST_EDGES:
        raise SourceError(f"A map has at most {MOST_EDGES:,} edges.")
    return chosen[0], chosen[1], chosen[2] if len(chosen) > 2 else None


def _places(column: pa.ChunkedArray) -> list[Place]:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if not (text or pa.types.is_integer(kind)):
        raise SourceError(f"{_SHAPE}; places are texts or whole numbers.")
    found: list[Place] = column.to_pylist()
    if any(each is None for each in found):
        raise SourceError("An edge of the map has no place at one of its ends; fill it in.")
    return found


def _times(column: pa.ChunkedArray) -> list[int]:
    return [microseconds(each, "The time of an edge") for each in column.to_pylist()]


def check_known(edges: Edges, places: Sequence[Place], what: str) -> None:
    """Refuse names that are no places of the map."""
    from onesided.spelling import meant

    for place in places:
        if place not in edges.numbers:
            near = meant(place, map(str, edges.places)) if isinstance(place, str) else ""
            raise RequestError(f"{what} {place!r} is no place of the map{near}.")
