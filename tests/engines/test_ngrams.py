"""n-grams on every engine are what plain Python counts from the definition."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from onesided.data.units import Unit
from onesided.engine.base import Coins, Engine, Ngrams
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.randomness import seeded
from support.engines import KEY, Opener, counted
from support.grams import gram_query

UNIT = ("device", "day")
POLICY = "ap = 'clinic'"
APS = ("hall", "Lab", "é", "clinic", None)


def journeys(units: int = 60) -> pa.Table:
    """Units with gaps between their slots, missing tokens and the largest possible position."""
    generator = seeded(5).generator()
    rows = []
    for unit in range(units):
        slots = sorted({int(slot) for slot in generator.integers(0, 14, size=9)})
        for slot in slots:
            ap = APS[int(generator.choice(5, p=(0.4, 0.3, 0.24, 0.03, 0.03)))]
            # Two slots share a moment, and the last two have none.
            moment = datetime(2024, 3, 10, slot // 2) if slot < 12 else None
            rows.append((unit // 2, unit % 2, slot, ap, moment))
    rows += [(units, 0, 2**63 - 2, "hall", None), (units, 0, 2**63 - 1, "Lab", None)]
    order = generator.permutation(len(rows))
    columns = list(zip(*(rows[int(place)] for place in order), strict=True))
    types = (pa.int64(), pa.int64(), pa.int64(), pa.string(), pa.timestamp("us"))
    names = ("device", "day", "slot", "ap", "ts")
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


def by_order(table: pa.Table, n: int) -> dict[tuple[Any, ...], tuple[int, int]]:
    """The same where rows follow one another by their moments, and then by their tokens."""
    units: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    for row in table.to_pylist():
        units[row["device"], row["day"]].append(row)
    everybody: Counter[tuple[Any, ...]] = Counter()
    nonsensitive: Counter[tuple[Any, ...]] = Counter()
    for rows in units.values():
        placed = [row for row in rows if row["ts"] is not None]
        placed.sort(key=lambda row: (row["ts"], row["ap"] is not None, row["ap"]))
        tokens = [row["ap"] for row in placed]
        windows = set(zip(*(tokens[step:] for step in range(n)), strict=False))
        whole = {window for window in windows if None not in window}
        everybody.update(whole)
        if all(row["ap"] is not None and row["ap"] != "clinic" for row in rows):
            nonsensitive.update(whole)
    return {gram: (count, nonsensitive[gram]) for gram, count in everybody.items()}


def kept(engine: Engine) -> list[tuple[Any, ...]]:
    """The n-grams of a sample of the units."""
    coins = Coins(KEY, Fraction(1))
    rows = counted(engine.count(gram_query(engine, Ngrams("ap", "slot", 2), POLICY, coins=coins)))
    assert rows
    return rows


def count(
    engine: Engine,
    n: int,
    max_groups: int | None = None,
    policy: str = POLICY,
    order: str = "slot",
) -> dict[tuple[Any, ...], tuple[int, int]]:
    query = gram_query(engine, Ngrams("ap", order, n), policy, max_groups=max_groups)
    rows = counted(engine.count(query))
    assert [row[:n] for row in rows] == sorted(row[:n] for row in rows)
    return {row[:n]: (row[n], row[n + 1]) for row in rows}


def test_every_engine_counts_by_the_definition_and_cuts_alike(opened: Opener) -> None:
    table = journeys()
    engine, oracle = opened(table, UNIT), DuckDBEngine(table, Unit(UNIT))
    try:
        assert count(engine, 3) == by_definition(table, 3)
        assert count(engine, 3, max_groups=2) == count(oracle, 3, max_groups=2)
        assert count(engine, 2, order="ts") == by_order(table, 2)
        slots = gram_query(engine, Ngrams("slot", "slot", 2), POLICY)
        assert counted(engine.count(slots)) == counted(oracle.count(slots))
        assert kept(engine) == kept(oracle)
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
            "ap": ["hall", "Lab", "clinic", "hall", "Lab"],
        }
    )
    engine = DuckDBEngine(table, Unit(("unit",)))
    try:
        assert count(engine, 2) == {("hall", "Lab"): (2, 1)}
    finally:
        engine.close()
