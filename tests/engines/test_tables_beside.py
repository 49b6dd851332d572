"""Lookup tables are the same on every engine: what they say of a row, and whom they leave out."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from onesided.data.units import Unit
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.errors import SourceError
from support.engines import (
    Aside,
    Opener,
    column_total,
    comparable,
    count_query,
    counted,
    sample_query,
    sampled,
)
from support.people import OPTED, is_sensitive, joined, people
from support.visits import DAYS, visits

DEVICES = 40
DOMAIN = {"day": [date(2024, 1, 1) + timedelta(days=day) for day in range(DAYS)]}
#: Everything that a lookup table can hold, under a name that needs quotation marks.
ODD = pa.table(
    {
        "device": pa.array([0, 1, 2, None], pa.int32()),
        "a b's.c": ["it's \\ ünïcode 🚪", None, "", "nobody"],
        "share": [0.1, None, -0.0, 1.0],
        "price": pa.array([Decimal("1.50"), None, Decimal("-2.25"), Decimal("0.01")]),
        "since": pa.array([date(2020, 2, 29), None, date(1, 1, 1), date(9999, 12, 31)]),
        "seen": pa.array([datetime(2024, 5, 6, 7, 8, 9, 10), None, None, datetime(1970, 1, 1)]),
    }
)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return visits(devices=DEVICES)


@pytest.fixture(scope="module")
def beside() -> pa.Table:
    return people(DEVICES)


def here(table: pa.Table, unit: tuple[str, ...], aside: Aside) -> Any:
    return aside.attach(DuckDBEngine(table, Unit(unit)), aside.rows)


def test_looked_up_columns_decide_and_are_counted(
    opened: Opener, table: pa.Table, beside: pa.Table
) -> None:
    whole = joined(table, beside)
    hidden = {row["device"] for row in whole if is_sensitive(row)}
    teams = {row["device"]: row["people.team"] for row in whole if row["people.floor"] == 1}
    everybody, some = (
        Counter(teams.values()),
        Counter(team for device, team in teams.items() if device not in hidden),
    )
    engine = opened(table, ("device",), Aside(beside, "device=id"))
    try:
        query = count_query(engine, OPTED, ["people.team"], where="people.floor = 1")
        answer = {team: (n, open_part) for team, n, open_part in counted(engine.count(query))}
        totals = (column_total("people.floor", Fraction(1), 1000),)
        summed = counted(engine.count(count_query(engine, OPTED, [], totals=totals)))
        kept = {row[0] for row in sampled(engine, sample_query(engine, OPTED, epsilon="50"))}
    finally:
        engine.close()
    assert answer == {team: (n, some[team]) for team, n in everybody.items()}
    floors = [(row["device"], row["people.floor"] or 0) for row in whole]
    assert summed == [(sum(n for _, n in floors), sum(n for d, n in floors if d not in hidden))]
    assert kept == {row["device"] for row in whole} - hidden


def test_every_engine_leaves_out_the_same_units(
    opened: Opener, table: pa.Table, beside: pa.Table
) -> None:
    aside = Aside(beside, "device=id", 2, DOMAIN)
    columns = ["device", "day", "ts", "room", "people.team", "people.opted_out"]
    answers = []
    for engine in (here(table, ("device", "day"), aside), opened(table, ("device", "day"), aside)):
        try:
            assert engine.inspect().units == len(
                {(r["device"], r["day"]) for r in joined(table, beside)}
            )
            answers.append(
                [
                    comparable(sampled(engine, sample_query(engine, OPTED, columns=columns))),
                    counted(engine.count(count_query(engine, OPTED, ["people.team", "day"]))),
                    counted(engine.count(count_query(engine, OPTED, ["room"], max_groups=2))),
                    counted(engine.count(count_query(engine, "FALSE", ["device"]))),
                ]
            )
        finally:
            engine.close()
    assert answers[1] == answers[0]
    assert max(units for _, units, _ in answers[0][3]) == 2


def test_texts_and_several_columns_choose_alike(opened: Opener) -> None:
    """A key of a text with odd letters, and two columns whose values are declared."""
    names = ["", "a", "ä🚪", "it's"]
    rows = [(name, day, hour) for name in names for day in DOMAIN["day"] for hour in (7, 8, 9)]
    table = pa.table(
        {
            "name": [name for name, _, _ in rows],
            "day": pa.array([day for _, day, _ in rows]),
            "hour": pa.array([hour for _, _, hour in rows], pa.int64()),
        }
    )
    unit = ("name", "day", "hour")
    aside = Aside(pa.table({"name": names[1:], "out": [True, False, None]}), "name", 4)
    aside = Aside(aside.rows, "name", 4, {**DOMAIN, "hour": [7, 8, 9]})
    answers = []
    for engine in (here(table, unit, aside), opened(table, unit, aside)):
        try:
            answers.append(counted(engine.count(count_query(engine, "people.out", list(unit)))))
        finally:
            engine.close()
    assert answers[1] == answers[0]
    chosen = defaultdict(set)
    for name, day, hour, _, _ in answers[0]:
        chosen[name].add((day, hour))
    assert {len(each) for each in chosen.values()} == {4}
    assert len(set(map(frozenset, chosen.values()))) > 1


@pytest.mark.one_in(3)
@pytest.mark.parametrize("column", ODD.column_names[1:])
def test_every_type_is_found_alike(opened: Opener, table: pa.Table, column: str) -> None:
    aside = Aside(ODD, "device")
    name = f'people."{column}"'
    answers = []
    for engine in (here(table, ("device",), aside), opened(table, ("device",), aside)):
        try:
            query = count_query(engine, f"{name} IS NULL", [name])
            rows = sample_query(engine, "FALSE", columns=["device", f"people.{column}"])
            answers.append(
                (comparable(counted(engine.count(query))), comparable(sampled(engine, rows)))
            )
        finally:
            engine.close()
    assert answers[1] == answers[0]
    assert len(answers[0][0]) >= 2


def test_an_empty_table_finds_nothing(opened: Opener, table: pa.Table, beside: pa.Table) -> None:
    engine = opened(table, ("device",), Aside(beside.slice(0, 0), "device=id"))
    try:
        answer = counted(engine.count(count_query(engine, OPTED, ["people.team"])))
    finally:
        engine.close()
    assert answer == [(None, DEVICES, 0)]


def test_a_key_of_several_rows_is_refused(
    opened: Opener, table: pa.Table, beside: pa.Table
) -> None:
    twice = pa.concat_tables([beside, beside.slice(2, 1)])
    with pytest.raises(SourceError, match="1 values of id stand in several rows"):
        opened(table, ("device",), Aside(twice, "device=id"))
