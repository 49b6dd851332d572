"""The tables that engines join with say what the definition says, on random maps."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.errors import InputError
from onesided.maps import ClosedMap, Edges, Rule
from onesided.maps import closing as closing_module
from onesided.maps.judging import MapJudge
from onesided.maps.meaning import Meaning
from support.maps import SECOND, drawn_maps

CORRIDOR = Edges.between(
    [
        ("hall", "yard", 30 * SECOND),
        ("yard", "lab", 30 * SECOND),
        ("hall", "stairs", 60 * SECOND),
        ("stairs", "lab", 90 * SECOND),
        ("yard", "shed", 10 * SECOND),
    ]
)
PASSAGE = ClosedMap(edges=CORRIDOR, sensitive=frozenset({"yard"}), outside="hall")
records = st.lists(
    st.tuples(st.sampled_from([*"abcdef", "nowhere", None]), st.integers(0, 9) | st.none()),
    max_size=6,
)


def test_a_passage() -> None:
    meaning = Meaning(PASSAGE)
    assert PASSAGE.enclosed == {"shed"}
    assert meaning.move_is_sensitive("hall", "lab", 149 * SECOND)
    assert not meaning.move_is_sensitive("hall", "lab", 150 * SECOND)
    moves = {(a, b): below for a, b, below in named_moves(PASSAGE)}
    assert moves[("hall", "lab")] == moves[("lab", "hall")] == 150 * SECOND
    assert named_moves(replace(PASSAGE, slack=Fraction("1.5")))[0][2] == 225 * SECOND
    assert {each[2] for each in named_moves(replace(PASSAGE, gap=100 * SECOND))} == {100000001}
    quickest = named_moves(replace(PASSAGE, rule=Rule.QUICKEST))
    assert {each[2] for each in quickest} == {closing_module.ANY_TIME}


def test_a_dead_end_adds_exactly_nothing() -> None:
    edges = Edges.between([("hall", "yard", SECOND), ("hall", "lab", SECOND), ("lab", "x", 1)])
    for rule in Rule:
        closed = ClosedMap(edges=edges, sensitive=frozenset({"yard"}), rule=rule, outside="hall")
        assert closed.is_dead_end
        assert len(closed.moves) == 0


def test_without_times_only_the_ways_count() -> None:
    table = pa.table({"a": ["hall", "yard"], "b": ["yard", "lab"]})
    closed = ClosedMap(edges=Edges.of(table, directed=False), sensitive=frozenset({"yard"}))
    assert Meaning(closed).move_is_sensitive("hall", "lab", 10**15)
    assert {each[2] for each in named_moves(closed)} == {closing_module.ANY_TIME}


@given(drawn_maps())
def test_the_table_of_moves_is_the_definition(closed: ClosedMap) -> None:
    meaning = Meaning(closed)
    assert set(closed.closed) == meaning.shut
    below = {(a, b): limit for a, b, limit in named_moves(closed)}
    opened = [place for place in closed.edges.places if place not in meaning.shut]
    around = {time + step for time in meaning.around.values() for step in (-1, 0, 1)}
    for a, b in product(opened, repeat=2):
        for time in sorted(around | {1, 2, 3, 10**9}):
            if time > 0:
                expected = meaning.move_is_sensitive(a, b, time)
                assert (time < below.get((a, b), 0)) == expected


@given(drawn_maps(), records)
def test_the_order_of_rows_says_nothing_and_the_table_is_enough(
    closed: ClosedMap, rows: list[tuple[str | None, int | None]]
) -> None:
    expected = Meaning(closed).is_sensitive(rows)
    assert Meaning(closed).is_sensitive(rows[::-1]) == expected
    assert MapJudge(closed).is_sensitive(rows) == expected


@given(drawn_maps(), records, st.sampled_from("abcdef"), st.sampled_from(["1", "1.5", "3"]))
def test_more_in_s_more_slack_and_the_other_rule_are_stricter(
    closed: ClosedMap, rows: list[tuple[str | None, int | None]], more: str, factor: str
) -> None:
    if not Meaning(closed).is_sensitive(rows):
        return
    stricter = [
        replace(closed, slack=min(Fraction(1000), closed.slack * Fraction(factor))),
        replace(closed, rule=Rule.QUICKEST),
        replace(closed, gap=None),
    ]
    if more in closed.edges.numbers and more != closed.outside:
        stricter.append(replace(closed, sensitive=closed.sensitive | {more}))
    assert all(Meaning(each).is_sensitive(rows) for each in stricter)


@given(drawn_maps(), st.integers(1, 9), st.sampled_from(["1", "0.5", "2"]))
def test_if_a_walk_fits_one_around_does(closed: ClosedMap, time: int, pace: str) -> None:
    """The promise of `certain`, for everybody who walks at a steady pace."""
    meaning = Meaning(replace(closed, rule=Rule.CERTAIN, slack=Fraction(2), gap=None))
    opened = [place for place in closed.edges.places if place not in meaning.shut]
    for pair in product(opened, repeat=2):
        if meaning.move_is_sensitive(*pair, time) or pair not in meaning.least:
            continue
        if Fraction(pace) * meaning.least[pair] <= time:
            assert Fraction(pace) * meaning.around[pair] <= time


@given(drawn_maps(), st.integers(1, 6))
def test_a_search_that_ends_at_the_gap_keeps_the_promise(closed: ClosedMap, gap: int) -> None:
    whole = replace(closed, gap=gap)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(closing_module, "MOST_SEARCHED_WHOLE", 1)
        bounded = named_moves(replace(closed, gap=gap))
    meaning, reach = Meaning(whole), gap * max(closed.slack, Fraction(1))
    expected = [each for each in named_moves(whole) if meaning.least[each[0], each[1]] <= reach]
    assert bounded == expected


def test_the_hash_is_of_what_the_map_says() -> None:
    table = pa.table({"to": ["b", "c"], "seconds": [1.0, 2.5], "from": ["a", "b"]})
    one = ClosedMap(edges=Edges.of(table, directed=False), sensitive=frozenset({"b"}))
    turned = pa.table({"x": ["c", "b", "a", "b"], "y": ["b", "a", "b", "c"], "z": [2.5, 1, 1, 9]})
    other = ClosedMap(edges=Edges.of(turned, directed=False), sensitive=frozenset({"b"}))
    assert one.id == other.id
    assert one.id != replace(one, sensitive=frozenset({"c"})).id
    assert one.id != replace(one, outside="a").id
    directed = ClosedMap(edges=Edges.of(table, directed=True), sensitive=frozenset({"b"}))
    assert one.id != directed.id


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (pa.table({"a": ["x"]}), "two or three columns"),
        (pa.table({"a": [1.5], "b": [2.5]}), "texts or whole numbers"),
        (pa.table({"a": ["x"], "b": [1]}), "all texts or all whole numbers"),
        (pa.table({"a": ["x"], "b": pa.nulls(1, pa.string())}), "fill it in"),
        (pa.table({"a": ["x"], "b": ["y"], "c": [-1]}), "from 0 to"),
        (pa.table({"a": ["x"], "b": ["y"], "c": [float("nan")]}), "from 0 to"),
        (pa.table({"a": ["x"], "b": ["y"], "c": [1e-7]}), "six decimal places"),
        (pa.table({"a": ["x"], "b": ["y"], "c": ["soon"]}), "number of seconds"),
        (pa.table({"a": pa.nulls(0, pa.string()), "b": pa.nulls(0, pa.string())}), "no edges"),
    ],
)
def test_what_is_no_map_is_refused_in_one_sentence(table: pa.Table, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        Edges.of(table, directed=False)
    assert str(refused.value).count(". ") == 0


def test_a_large_map_needs_a_gap() -> None:
    ways = [(number, number + 1, 1) for number in range(2_000)]
    with pytest.raises(InputError, match="needs a gap"):
        ClosedMap(edges=Edges.between(ways), sensitive=frozenset({7}))
    closed = ClosedMap(edges=Edges.between(ways), sensitive=frozenset({7}), gap=3)
    assert len(closed.moves) == 2 * 3  # over the one place at most 3 from end to end
    assert np.all(closed.moves.below == 4)


def named_moves(closed: ClosedMap) -> list[tuple[str, str, int]]:
    moves, names = closed.moves, closed.edges.places
    columns = zip(moves.start.tolist(), moves.end.tolist(), moves.below.tolist(), strict=True)
    return [(str(names[a]), str(names[b]), below) for a, b, below in columns]
