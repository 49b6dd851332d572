"""Joined public tables and bounded counts of rows are the same on every engine."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from onesided.data.units import Unit
from onesided.engine.base import CountQuery, HoldsPublicTables, Lookup, Total
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.engine.duckdb.public import read_public
from onesided.engine.lookups import found
from onesided.language import Key, Predicate
from onesided.language.query import Catalogue, Join
from support.engines import Opener, comparable, counted
from support.payments import BUILDING, ROOMS, payments
from support.visits import POLICY, UNIT, rows, sensitive_units

#: Everything that a public table can hold and a text can spoil.
ODD = pa.table(
    {
        "room": ["lab", "hall", None, 'it\'s \\ "ünïcode" 🚪'],
        "number": pa.array([-1, None, 3, 2**62], pa.int64()),
        "share": [0.1, None, 2.5, -0.0],
        "price": pa.array([Decimal("1.50"), None, Decimal("-2.25"), Decimal("0.01")]),
        "open": [True, None, False, True],
        "since": pa.array([date(2020, 2, 29), None, date(1, 1, 1), date(9999, 12, 31)]),
        "seen": pa.array([datetime(2024, 5, 6, 7, 8, 9, 10), None, None, datetime(1970, 1, 1)]),
        "list": [[1], [2], [3], [4]],
    }
)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return payments(devices=30)


def joined(opened: Opener, table: pa.Table, public: pa.Table, by: str, **query: Any) -> Any:
    engine = opened(table, UNIT)
    try:
        held = read_public("rooms", public)
        if isinstance(engine, HoldsPublicTables):
            held = engine.hold(held)
        lookup = Lookup(held, (("room", "room"),))
        catalogue = Catalogue(("data",), engine.schema, {"rooms": held.schema})
        schema = catalogue.joined([Join("rooms", lookup.on)])
        policy = Predicate.parse(POLICY).bind(engine.schema)
        keys = (Key.parse(f'"rooms.{by}"').bind(schema),)
        condition = found(lookup, schema)
        return counted(
            engine.count(CountQuery(policy, keys, condition, lookups=(lookup,), **query))
        )
    finally:
        engine.close()


def test_a_lookup_adds_columns_and_no_rows(opened: Opener, table: pa.Table) -> None:
    hidden = sensitive_units(table)
    pairs = {
        ((row["device"], row["day"]), BUILDING[str(row["room"])])
        for row in rows(table)
        if row["room"] in BUILDING
    }
    everybody = Counter(building for _, building in pairs)
    open_part = Counter(building for unit, building in pairs if unit not in hidden)
    assert joined(opened, table, ROOMS, "building") == [
        (building, everybody[building], open_part[building]) for building in sorted(everybody)
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("column", [name for name in ODD.column_names if name != "list"])
def test_every_type_is_looked_up_alike(opened: Opener, table: pa.Table, column: str) -> None:
    here = joined(lambda data, unit: DuckDBEngine(data, Unit(unit)), table, ODD, column)
    assert len(here) == 2
    assert comparable(joined(opened, table, ODD, column)) == comparable(here)


def test_an_empty_public_table_finds_nothing(opened: Opener, table: pa.Table) -> None:
    assert joined(opened, table, ROOMS.slice(0, 0), "building") == []


def test_rows_are_counted_up_to_a_bound(opened: Opener, table: pa.Table) -> None:
    numbers: dict[Any, Counter[Any]] = defaultdict(Counter)
    for row in rows(table):
        if row["room"] in BUILDING:
            numbers[BUILDING[str(row["room"])]][row["device"], row["day"]] += 1
    answer = joined(
        opened, table, ROOMS, "building", max_groups=5, totals=(Total(None, Fraction(1), 2),)
    )
    assert [(building, everybody) for building, everybody, _ in answer] == [
        (building, sum(min(n, 2) for n in numbers[building].values()))
        for building in sorted(numbers)
    ]
