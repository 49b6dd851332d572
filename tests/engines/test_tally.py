"""Units by the number of groups that they are in: as plain Python counts them, on every engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

from onesided.engine.base import Coins, CountQuery, Engine, GroupCounts, Ngrams
from onesided.engine.ngrams import whole, widened
from onesided.language import Key, Predicate
from support.engines import KEY, Opener
from support.visits import UNIT, rows, visits

POLICY = "room = 'clinic' OR NOT consent"


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return visits(devices=20)


@pytest.fixture(scope="module")
def engine(opened: Opener, table: pa.Table) -> Iterator[Engine]:
    engine = opened(table, list(UNIT))
    yield engine
    engine.close()


def query(engine: Engine, where: str | None = None) -> CountQuery:
    chosen = None if where is None else Predicate.parse(where).bind(engine.schema)
    policy = Predicate.parse(POLICY).bind(engine.schema)
    return CountQuery(policy, (Key.parse("room").bind(engine.schema),), chosen, tally=True)


def counts(found: GroupCounts) -> list[tuple[int, int, int]]:
    numbers = found.keys.column(0).to_pylist()
    return list(zip(numbers, found.all.tolist(), found.nonsensitive.tolist(), strict=True))


def plain(table: pa.Table, where: str | None = None) -> list[tuple[int, int, int]]:
    touched: dict[tuple[object, ...], set[object]] = {}
    sensitive = set()
    for row in rows(table):
        unit = tuple(row[name] for name in UNIT)
        if row["room"] == "clinic" or row["consent"] is not True:
            sensitive.add(unit)
        if where is None or row["room"] != "lab":
            touched.setdefault(unit, set()).add(row["room"])
    every = Counter(map(len, touched.values()))
    ours = Counter(len(rooms) for unit, rooms in touched.items() if unit not in sensitive)
    return [(number, every[number], ours[number]) for number in sorted(every)]


def test_units_by_the_number_of_their_groups(engine: Engine, table: pa.Table) -> None:
    assert counts(engine.count(query(engine))) == plain(table)


def test_a_filter_leaves_rows_out_and_no_sensitivity(engine: Engine, table: pa.Table) -> None:
    where = "room <> 'lab'"
    assert counts(engine.count(query(engine, where))) == plain(table, where)


def test_units_of_a_sample(engine: Engine, table: pa.Table) -> None:
    """With coins that nobody loses these are all non-sensitive units."""
    found = engine.count(replace(query(engine), coins=Coins(KEY, Fraction(100))))
    ours = [(number, ours, ours) for number, _, ours in plain(table) if ours]
    assert counts(found) == ours


def test_ngrams_of_a_unit_are_its_groups(engine: Engine) -> None:
    grams = Ngrams("room", "ts", 2)
    wide = widened(engine.schema, grams)
    keys = tuple(Key.parse(name).bind(wide) for name in grams.columns)
    asked = replace(query(engine), by=keys, where=whole(wide, grams), grams=grams)
    each = engine.count(replace(asked, tally=False))
    tally = engine.count(asked)
    assert sum(number * units for number, units, _ in counts(tally)) == int(each.all.sum())
