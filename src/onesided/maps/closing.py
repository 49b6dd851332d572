"""Which places and which moves are sensitive on a public map; closing.md has the proof.

S are the sensitive places, F(a, b) is the least time of all walks from a to b, and G(a, b) of the
walks that avoid S. Somebody seen at a and then at b, and F(a, b) < G(a, b), gives away that S may
have lain between: the quickest way leads through it. Under `certain` the move is sensitive if it
was made in less than slack·G, so that no walk around S fits. Under `quickest` any time will do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onesided.errors import RequestError
from onesided.maps.edges import MICROSECONDS, Edges, Integers, Place
from onesided.maps.walks import FAR, blocks, least_times, nearest

MOST_SEARCHED_WHOLE = 2_000
"""Places of a map all of whose walks are searched; of a larger one those within `gap`."""
ANY_TIME = 6 * 10**17
"""Microseconds that no two moments of the years 1 to 9998 lie apart."""
LEAST_SLACK, MOST_SLACK = Fraction(1, 1000), Fraction(1000)
_VERSION = "onesided map 1"


class Rule(Enum):
    """When a move whose quickest way leads through S is sensitive."""

    CERTAIN = "certain"
    QUICKEST = "quickest"


@dataclass(frozen=True)
class Moves:
    """The moves that can be sensitive: from one place to another within less than `below`."""

    start: Integers
    end: Integers
    below: Integers

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, kw_only=True)
class ClosedMap:
    """A map, its sensitive places, and when moves on it are sensitive.

    - `sensitive`: S.
    - `slack`: how many times as slow as the map says people may walk; for `certain`.
    - `gap`: the most microseconds between two records that are taken for a move; None for any.
    - `outside`: the place where walks begin. What none of them reaches without S joins S.
    """

    edges: Edges
    sensitive: frozenset[Place]
    rule: Rule = Rule.CERTAIN
    slack: Fraction = Fraction(1)
    gap: int | None = None
    outside: Place | None = None

    def __post_init__(self) -> None:
        if not LEAST_SLACK <= self.slack <= MOST_SLACK or 1000 % self.slack.denominator:
            raise RequestError("slack must be from 0.001 to 1,000, with three decimals at most.")
        if self.outside is not None and self.outside in self.sensitive:
            raise RequestError(f"{self.outside!r} lies outside, and cannot be sensitive as well.")
        if len(self.edges.places) > MOST_SEARCHED_WHOLE and self.gap is None:
            raise RequestError(
                f"A map of more than {MOST_SEARCHED_WHOLE:,} places needs a gap: the most seconds "
                "between two records that are taken for a move."
            )

    @cached_property
    def enclosed(self) -> frozenset[Place]:
        """The places that no walk from outside reaches without S; none where nothing is outside."""
        if self.outside is None:
            return frozenset()
        around = self.edges.avoiding(self.edges.mask(self.sensitive))
        reached = nearest(around, [self.edges.numbers[self.outside]])
        shut = (self.edges.places[each] for each in np.flatnonzero(reached == FAR).tolist())
        return frozenset(place for place in shut if place not in self.sensitive)

    @property
    def closed(self) -> frozenset[Place]:
        """S with the places that it encloses."""
        return self.sensitive | self.enclosed

    @cached_property
    def open_places(self) -> pa.Table:
        """The places at which a record is not sensitive by itself, with their numbers."""
        shut = self.edges.mask(self.closed)
        numbers = np.flatnonzero(~shut)
        names = [self.edges.places[each] for each in numbers.tolist()]
        kind = pa.string() if isinstance(self.edges.places[0], str) else pa.int64()
        return pa.table({"place": pa.array(names, kind), "number": pa.array(numbers, pa.int32())})

    @cached_property
    def moves(self) -> Moves:
        """The moves between open places that are sensitive if they are made fast enough."""
        found = [self._moves_from(block) for block in blocks(self.edges, self._near)]
        if not found:
            return Moves(*(np.zeros(0, dtype=np.int64) for _ in range(3)))
        columns = [np.concatenate(each) for each in zip(*found, strict=True)]
        order = np.lexsort((columns[1], columns[0]))
        return Moves(*(each[order] for each in columns))

    @property
    def is_dead_end(self) -> bool:
        """Whether no move gives S away, and it encloses nothing."""
        return not len(self.moves) and not self.enclosed

    @cached_property
    def id(self) -> str:
        """The same for the same ways, sensitive places and outside, however they were written."""
        content = {
            "version": _VERSION,
            "edges": self.edges.listed(),
            "sensitive": sorted(self.sensitive),
            "outside": self.outside,
        }
        text = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
        return f"map-{hashlib.sha256(text.encode()).hexdigest()}"

    @property
    def rule_terms(self) -> Mapping[str, Any]:
        """The rule as plain JSON; exact numbers are texts."""
        gap = None if self.gap is None else seconds(self.gap)
        return {"rule": self.rule.value, "slack": str(self.slack), "gap": gap}

    @property
    def _reach(self) -> tuple[int | None, int | None]:
        """How long walks are searched for: all of them, and those that avoid S.

        Where `gap` ends the search, a walk that is too long for it, `slack` times as fast as the
        map says, is none.
        """
        if self.gap is None or len(self.edges.places) <= MOST_SEARCHED_WHOLE:
            return None, None
        fast = _up(self.gap, max(self.slack, Fraction(1)))
        return fast, max(fast, _up(self.gap, 1 / self.slack))

    @cached_property
    def _near(self) -> NDArray[np.bool_]:
        """Open places from which S can be reached: no other walk leads through it."""
        shut = self.edges.mask(self.closed)
        if not shut.any():
            return shut
        inside = np.flatnonzero(self.edges.mask(self.sensitive)).tolist()
        reach = FAR - 1 if self._reach[0] is None else self._reach[0]
        return np.asarray(~shut & (nearest(self.edges.backwards, inside) <= reach))

    def _moves_from(self, starts: Integers) -> tuple[Integers, Integers, Integers]:
        shut = self.edges.mask(self.closed)
        reach, around_reach = self._reach
        least = least_times(self.edges, starts, reach)
        around = least_times(self._around, starts, around_reach)
        ends, numbers = np.nonzero((least < around) & ~shut[:, np.newaxis])
        below = self._below(around[ends, numbers])
        real = below > 1  # a move takes a microsecond at least
        return starts[numbers][real], ends[real], below[real]

    @cached_property
    def _around(self) -> Edges:
        return self.edges.avoiding(self.edges.mask(self.sensitive))

    def _below(self, around: Integers) -> Integers:
        """The time of a move below which it is sensitive, where walks around S take `around`."""
        most = ANY_TIME if self.gap is None else min(ANY_TIME, self.gap + 1)
        if self.rule is Rule.QUICKEST:
            return np.full(len(around), most, dtype=np.int64)
        up, down = self.slack.numerator, self.slack.denominator
        far = around >= _up(ANY_TIME, 1 / self.slack)
        near = np.where(far, 0, around)
        scaled = near // down * up - (-(near % down * up) // down)
        return np.where(far, most, np.minimum(scaled, most))


def seconds(time: int) -> str:
    """Microseconds as the shortest decimal number of seconds."""
    whole, rest = divmod(time, MICROSECONDS)
    return f"{whole}.{rest:06d}".rstrip("0").rstrip(".")


def _up(time: int, factor: Fraction) -> int:
    return -(-time * factor.numerator // factor.denominator)
