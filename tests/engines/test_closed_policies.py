"""A closed policy means the same on every engine, and what its definition says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from onesided.engine.base import Engine, Ngrams
from onesided.engine.maps import ClosedPredicate, HoldsMaps, held_map
from onesided.maps import ClosedMap, Edges, Rule
from onesided.randomness import seeded
from support.engines import (
    Opener,
    column_total,
    comparable,
    count_query,
    counted,
    sample_query,
    sampled,
)
from support.maps import (
    EVERYBODY,
    NOON,
    ODD_PLACES,
    PLACES,
    SECOND,
    passage,
    sensitive_units,
    trips,
)

UNIT = ("device", "day")
POLICY = "consent = FALSE"


def random_maps(count: int) -> Iterator[ClosedMap]:
    rng = seeded(6)
    for number in range(count):
        drawn = rng.below(6, 3 * 9).reshape(9, 3).tolist()
        ways = [(PLACES[a], PLACES[b], time % 4 * SECOND) for a, b, time in drawn]
        edges = Edges.between([*ways, (ODD_PLACES[2], "a", SECOND)], directed=number % 3 == 0)
        names = [place for place in PLACES if place in edges.numbers]
        yield ClosedMap(
            edges=edges,
            sensitive=frozenset(names[1 : 2 + number % 2]),
            rule=(Rule.CERTAIN, Rule.QUICKEST)[number % 4 == 1],
            slack=Fraction("1.5") if number % 2 else Fraction(1),
            gap=(None, 3 * SECOND)[number % 3 == 1],
            outside=(None, names[0])[number % 2],
        )


def over(engine: Engine, query: Any, closed: ClosedMap, time: str = "ts") -> Any:
    """The query under the closed policy."""
    assert isinstance(engine, HoldsMaps)
    held = held_map(engine, closed)
    policy = ClosedPredicate.over(query.policy, closed, held, engine.schema, "place", time)
    return replace(query, policy=policy)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return trips()


def test_every_engine_says_what_the_definition_says(opened: Opener, table: pa.Table) -> None:
    engine = opened(table, UNIT)
    try:
        for closed in random_maps(8):
            query = over(engine, count_query(engine, POLICY, UNIT), closed)
            found = counted(engine.count(query))
            hidden = {(device, day) for device, day, _, others in found if others == 0}
            assert len(found) == EVERYBODY
            assert hidden == sensitive_units(table, closed)
    finally:
        engine.close()


def test_every_kind_of_question_asks_the_closed_policy(opened: Opener, table: pa.Table) -> None:
    closed = passage()
    hidden = sensitive_units(table, closed)
    assert len(hidden) > len(sensitive_units(table, replace(closed, gap=1))) > 0
    rows = [row for row in table.to_pylist() if row["device"] is not None]
    shown = [row for row in rows if (row["device"], row["day"]) not in hidden]
    engine = opened(table, UNIT)
    try:
        sample = over(engine, sample_query(engine, POLICY, epsilon="60"), closed)
        kept = comparable(sampled(engine, sample))
        by_place = over(engine, count_query(engine, POLICY, ["place"]), closed)
        places = counted(engine.count(by_place))
        cut = counted(engine.count(replace(by_place, max_groups=1)))
        late = over(engine, count_query(engine, POLICY, [], where="second > 3"), closed)
        some = counted(engine.count(late))
        totals = (column_total("second", Fraction(1), 100),)
        summed = counted(engine.count(replace(by_place, by=(), totals=totals)))
        tally = counted(engine.count(replace(by_place, tally=True)))
        grams = Ngrams("place", "second", 1)
        (grams_key,) = by_place.by
        windows = engine.count(replace(by_place, by=(grams_key,), grams=grams))
    finally:
        engine.close()
    assert sorted(kept) == sorted(comparable([tuple(row.values()) for row in shown]))
    expected = Counter(place for *_, place in {(r["device"], r["day"], r["place"]) for r in shown})
    assert {place: n for place, _, n in places if n} == dict(expected)
    assert sum(n for *_, n in cut) == len({(row["device"], row["day"]) for row in shown})
    assert some[0][1] == len({(r["device"], r["day"]) for r in shown if r["second"] > 3})
    assert summed[0][1] == sum(row["second"] for row in shown)
    assert sum(n for *_, n in tally) == EVERYBODY - len(hidden)
    assert int(windows.nonsensitive.sum()) == sum(expected.values())


def test_moments_may_be_whole_seconds(opened: Opener, table: pa.Table) -> None:
    """And numbers at the ends of 64 bits are no moments."""
    far = [2**63 - 1, -(2**63), 250_000_000_001]
    seconds = far + table.column("second").to_pylist()[len(far) :]
    other = table.set_column(5, "second", pa.array(seconds, pa.int64()))
    expected = sensitive_units(other, passage(), "second")
    expected |= {(row["device"], row["day"]) for row in other.slice(0, len(far)).to_pylist()}
    engine = opened(other, UNIT)
    try:
        query = over(engine, count_query(engine, POLICY, UNIT), passage(), "second")
        found = counted(engine.count(query))
    finally:
        engine.close()
    assert {(device, day) for device, day, _, others in found if others == 0} == expected


def test_a_dead_end_changes_only_who_was_there(opened: Opener, table: pa.Table) -> None:
    edges = Edges.between([("a", other, SECOND) for other in "bcdef"])
    closed = ClosedMap(edges=edges, sensitive=frozenset({"b"}), outside="a")
    assert closed.is_dead_end
    there = "consent = FALSE OR place = 'b' OR place NOT IN ('a', 'c', 'd', 'e', 'f') OR ts IS NULL"
    far = "ts > TIMESTAMP '9998-12-31 23:59:59'"
    engine = opened(table, UNIT)
    try:
        query = over(engine, count_query(engine, POLICY, UNIT), closed)
        plain = count_query(engine, f"{there} OR {far}", UNIT)
        assert counted(engine.count(query)) == counted(engine.count(plain))
    finally:
        engine.close()


def test_units_of_one_row_have_no_moves(opened: Opener) -> None:
    table = pa.table(
        {
            "device": pa.array(range(4), pa.int32()),
            "place": pa.array(list("abcd")),
            "ts": pa.array([NOON] * 4, pa.timestamp("us")),
        }
    )
    engine = opened(table, ("device",))
    try:
        query = over(engine, count_query(engine, "FALSE", ["device"]), passage())
        assert [others for *_, others in counted(engine.count(query))] == [1, 0, 1, 1]
    finally:
        engine.close()
