"""n-grams on every engine are what plain Python counts from the definition."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pyarrow as pa
import pytest

from onesided.data.units import Unit
from onesided.engine.base import Engine, Ngrams
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.engine.ngrams import ngram_query
from onesided.errors import RequestError
from onesided.language import Predicate
from onesided.randomness import seeded
from support.engines import Opener, counted

UNIT = ("device", "day")
POLICY = "ap = 'clinic'"
APS = ("hall", "lab", "yard", "clinic", None)


def journeys(units: int = 60) -> pa.Table:
    """Units with gaps between their slots, missing tokens and the largest possible position."""
    generator = seeded(5).generator()
    rows = []
    for unit in range(units):
        slots = sorted({int(slot) for slot in generator.integers(0, 14, size=9)})
        for slot in slots:
            ap = APS[int(generator.choice(5, p=(0.4, 0.3, 0.24, 0.03, 0.03)))]
            rows.append((unit // 2, unit % 2, slot, ap))
    rows += [(units, 0, 2**63 - 2, "hall"), (units, 0, 2**63 - 1, "lab")]
    order = generator.permutation(len(rows))
    columns = list(zip(*(rows[int(place)] for place in order), strict=True))
    types = (pa.int64(), pa.int64(), pa.int64(), pa.string())
    names = ("device", "day", "slot", "ap")
    return pa.table(
        {
            name: pa.array(column, kind)
            for name, column, kind in zip(names, columns, types, strict=True)
        }
    )


def by_definition(table: pa.Table, n: int) -> dict[tuple[Any, ...], tuple[int, int]]:
    """n-gram → distinct units that have it, all and non-sensitive."""
    units: dict[tuple[int, int], dict[int, str | None]] = defaultdict(dict)
    for row in table.to_pylist():
        units[row["device"], row["day"]][row["slot"]] = row["ap"]
    everybody: Counter[tuple[Any, ...]] = Counter()
    nonsensitive: Counter[tuple[Any, ...]] = Counter()
    for slots in units.values():
        windows = {tuple(slots.get(slot + step) for step in range(n)) for slot in slots}
        whole = {window for window in windows if None not in window}
        everybody.update(whole)
        # NULL is sensitive: a token that is missing may have been the clinic.
        if all(ap is not None and ap != "clinic" for ap in slots.values()):
            nonsensitive.update(whole)
    return {gram: (count, nonsensitive[gram]) for gram, count in everybody.items()}


def count(
    engine: Engine, n: int, max_groups: int | None = None, policy: str = POLICY
) -> dict[tuple[Any, ...], tuple[int, int]]:
    grams = Ngrams("ap", "slot", n)
    bound = Predicate.parse(policy).bind(engine.schema)
    query = ngram_query(engine.schema, engine.unit, grams, bound, max_groups=max_groups)
    rows = counted(engine.count(query))
    assert [row[:n] for row in rows] == sorted(row[:n] for row in rows)
    return {row[:n]: (row[n], row[n + 1]) for row in rows}


def test_every_engine_counts_by_the_definition_and_cuts_alike(opened: Opener) -> None:
    table = journeys()
    engine, oracle = opened(table, UNIT), DuckDBEngine(table, Unit(UNIT))
    try:
        assert count(engine, 3) == by_definition(table, 3)
        assert count(engine, 3, max_groups=2) == count(oracle, 3, max_groups=2)
    finally:
        engine.close()
        oracle.close()


@pytest.mark.parametrize("n", [1, 2, 5])
def test_counts_are_those_of_the_definition(n: int) -> None:
    table = journeys()
    engine = DuckDBEngine(table, Unit(UNIT))
    try:
        assert count(engine, n) == by_definition(table, n)
    finally:
        engine.close()


@pytest.mark.parametrize("k", [1, 3])
def test_a_unit_is_counted_for_at_most_k_of_its_grams(k: int) -> None:
    table = journeys()
    whole = by_definition(table, 2)
    engine = DuckDBEngine(table, Unit(UNIT))
    try:
        cut = count(engine, 2, max_groups=k)
    finally:
        engine.close()
    units = len({(row["device"], row["day"]) for row in table.to_pylist()})
    assert sum(everybody for everybody, _ in cut.values()) <= k * units
    for gram, (everybody, nonsensitive) in cut.items():
        assert everybody <= whole[gram][0]
        assert nonsensitive <= whole[gram][1]
    assert sum(each for each, _ in cut.values()) < sum(each for each, _ in whole.values())


def test_a_sensitive_row_outside_every_window_counts() -> None:
    table = pa.table(
        {
            "unit": [1, 1, 1, 2, 2],
            "slot": [1, 2, 9, 1, 2],
            "ap": ["hall", "lab", "clinic", "hall", "lab"],
        }
    )
    engine = DuckDBEngine(table, Unit(("unit",)))
    try:
        assert count(engine, 2) == {("hall", "lab"): (2, 1)}
    finally:
        engine.close()


@pytest.mark.parametrize(
    ("grams", "unit", "word"),
    [
        (Ngrams("ap", "slot", 0), ("device",), "from 1 to"),
        (Ngrams("room", "slot", 2), ("device",), "no column room"),
        (Ngrams("ap", "ap", 2), ("device",), "whole numbers"),
        (Ngrams("ap", "slot", 2), (), "key of the units"),
    ],
)
def test_what_makes_no_grams_is_refused(grams: Ngrams, unit: tuple[str, ...], word: str) -> None:
    engine = DuckDBEngine(journeys(4), Unit(unit))
    try:
        policy = Predicate.parse(POLICY).bind(engine.schema)
        with pytest.raises(RequestError, match=word):
            ngram_query(engine.schema, engine.unit, grams, policy)
    finally:
        engine.close()
