"""Maps and trips on them, and a closed policy evaluated by its tables in plain Python."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from onesided.maps import ClosedMap, Edges, Rule
from onesided.maps.meaning import Meaning
from onesided.randomness import seeded

SECOND = 1_000_000
PLACES = "abcdef"
NOON = datetime(2024, 2, 29, 12)
ODD_PLACES = (None, "nowhere", 'it\'s {"odd"} \\ 🚪', "A")
EVERYBODY = 240


@st.composite
def drawn_maps(draw: st.DrawFn) -> ClosedMap:
    """Few places and short ways, so that ties and ends that nothing joins are frequent."""
    place = st.sampled_from(PLACES)
    ways = draw(st.lists(st.tuples(place, place, st.integers(0, 4)), min_size=1, max_size=9))
    edges = Edges.between(ways, directed=draw(st.booleans()))
    sensitive = draw(st.sets(st.sampled_from(edges.places), max_size=2))
    open_places = [each for each in edges.places if each not in sensitive]
    return ClosedMap(
        edges=edges,
        sensitive=frozenset(sensitive),
        rule=draw(st.sampled_from(Rule)),
        slack=draw(st.sampled_from([Fraction(1), Fraction(1, 2), Fraction("1.5"), Fraction(3)])),
        gap=draw(st.none() | st.integers(1, 9)),
        outside=draw(st.sampled_from([None, *open_places])),
    )


def trips(units: int = EVERYBODY) -> pa.Table:
    """Units of up to six rows on few moments; some rows stand out in every way that there is."""
    rng, rows = seeded(5), []
    for unit in range(units):
        for _ in range(1 + int(rng.below(6, 1)[0])):
            place, moment, odd = (int(each) for each in rng.below(120, 3))
            ts = NOON + timedelta(seconds=moment % 7)
            where: str | None = PLACES[place % len(PLACES)]
            if odd < len(ODD_PLACES):
                where = ODD_PLACES[odd]
            consent: bool | None = {10: False, 11: None}.get(odd, True)
            times = {12: None, 13: datetime(1, 1, 1), 14: datetime(9999, 6, 1)}
            rows.append((unit // 3, unit % 3, where, times.get(odd, ts), consent, moment % 7))
    rows.append((None, 0, "a", NOON, True, 1))
    kinds = (pa.int32(), pa.int32(), pa.string(), pa.timestamp("us"), pa.bool_(), pa.int64())
    names = ("device", "day", "place", "ts", "consent", "second")
    columns = zip(*rows, strict=True)
    return pa.table([pa.array(c, k) for c, k in zip(columns, kinds, strict=True)], names=names)


def sensitive_units(table: pa.Table, closed: ClosedMap, time: str = "ts") -> set[tuple[int, int]]:
    """By the definition."""
    meaning, rows = Meaning(closed), defaultdict[tuple[int, int], list[dict[str, Any]]](list)
    for row in table.to_pylist():
        if row["device"] is not None:
            rows[row["device"], row["day"]].append(row)
    return {
        unit
        for unit, found in rows.items()
        if any(row["consent"] is not True for row in found)
        or meaning.is_sensitive((row["place"], moment(row[time])) for row in found)
    }


def moment(value: datetime | int | None) -> int | None:
    if isinstance(value, datetime):
        passed = value - datetime(1970, 1, 1)
        return None if value.year > 9998 else passed // timedelta(microseconds=1)
    return None if value is None else value * SECOND


def passage() -> ClosedMap:
    """Through b from one half of the places to the other, and a longer way around."""
    short = [("a", "b", SECOND), ("b", "c", SECOND), ("c", "d", SECOND), ("a", "e", SECOND)]
    around = [("e", "f", 2 * SECOND), ("f", "d", SECOND)]
    edges = Edges.between([*short, *around])
    return ClosedMap(edges=edges, sensitive=frozenset({"b"}), outside="a")
