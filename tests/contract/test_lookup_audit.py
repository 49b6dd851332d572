"""Neighbouring lookup tables, by the exact audit: one row's values replaced, its key kept.

The histograms come from the engine itself, for every value that the row can have. Mechanism and
claim are held together for all outputs: what is promised is g·ε, it is attained, and less is false.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from fractions import Fraction
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

from onesided.audit.exact import ExactAudit, ExactReport
from onesided.audit.protocol import AtEpsilon
from onesided.audit.session.cells import SECRET, Form
from onesided.audit.session.dice import Dice
from onesided.audit.session.worlds import Row, Side, World
from onesided.audit.session.worlds import world as made
from onesided.audit.world import Database, SmallWorld, Step
from onesided.data import Histogram
from onesided.data.units import Unit
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.mechanisms.base import Mechanism
from onesided.mechanisms.one_sided import OneSided
from onesided.mechanisms.rr import RandomizedResponse
from onesided.session.domains import Domain, histogram
from support.engines import Aside, count_query

EPSILON = Fraction(1)
DAYS = tuple(date(2024, 1, 1) + timedelta(days=day) for day in range(3))
NAMES = ("ann", "bob")
VISITS = pa.table(
    {
        "name": [name for name in NAMES for _ in DAYS],
        "day": pa.array([day for _ in NAMES for day in DAYS]),
    }
)
POLICY = "people.out OR people.room = 'clinic'"
#: What the row of ann can say, and whether it makes all of her units sensitive.
ROWS: dict[tuple[Any, ...], bool] = {
    (True, "lab"): True,
    (None, "lab"): True,
    (False, "clinic"): True,
    (False, None): True,
    (False, "lab"): False,
    (False, "hall"): False,
}


def table(database: Database) -> pa.Table:
    """Ann's row, or none, and one of bob, who did not opt out."""
    rows = [("ann", *each) for each in database] + [("bob", False, "lab")]
    names, outs, rooms = zip(*rows, strict=True)
    return pa.table({"name": list(names), "out": list(outs), "room": list(rooms)})


def world(unit: tuple[str, ...], most: int | None) -> SmallWorld:
    """One row of the lookup table, and a histogram with a bin for each unit."""

    @cache
    def build(database: Database) -> Histogram:
        aside = Aside(table(database), "name", most, {"day": DAYS})
        engine = aside.attach(DuckDBEngine(VISITS, Unit(unit)), aside.rows)
        try:
            counts = engine.count(count_query(engine, POLICY, list(unit)))
        finally:
            engine.close()
        values = {"name": NAMES, "day": DAYS}
        domains: dict[str, Domain | None] = {each: Domain(values[each]) for each in unit}
        return histogram(counts.keys, counts.figures[0], domains, 1, None)

    hidden = frozenset(row for row, is_sensitive in ROWS.items() if is_sensitive)
    return SmallWorld(tuple(ROWS), hidden, build)


def audited(mechanism: Mechanism, small: SmallWorld, claimed: Fraction) -> ExactReport:
    claims = {Step.REPLACE_SENSITIVE: claimed}
    return ExactAudit(most_units=1).claims(AtEpsilon(mechanism, EPSILON), small, claims)


def cases() -> Iterator[Any]:
    for mechanism in (OneSided(), RandomizedResponse()):
        for unit, most in ((("name",), None), (("name", "day"), 1), (("name", "day"), 2)):
            yield pytest.param(mechanism, unit, most, id=f"{mechanism.name} {unit} {most}")


@pytest.mark.parametrize(("mechanism", "unit", "most"), list(cases()))
def test_a_row_loses_what_is_said_and_no_more(
    mechanism: Mechanism, unit: tuple[str, ...], most: int | None
) -> None:
    small, units = world(unit, most), most or 1
    report = audited(mechanism, small, units * EPSILON)
    assert report.verified
    assert report.finding(Step.REPLACE_SENSITIVE).slack == pytest.approx(0)
    assert audited(mechanism, small, units * EPSILON - Fraction(1, 10)).rejected


def test_a_missing_row_is_like_one_without_values() -> None:
    small = world(("name", "day"), 2)
    missing, unknown = small.build(()), small.build(((None, None),))
    assert (missing.all == unknown.all).all()
    assert (missing.nonsensitive == unknown.nonsensitive).all()


def test_without_the_rule_a_row_would_lose_more() -> None:
    """As many units as there are days: what the bound of two is there for."""
    assert audited(OneSided(), world(("name", "day"), 3), 2 * EPSILON).rejected


def silent_in(row: Row, given: World) -> bool:
    """Whether a row says nothing aside; then it has no row in the lookup table."""
    names = [column.name for column in given.columns]
    return all(row[names.index(name)].null_count for name in given.aside)


def test_the_audit_of_whole_releases_has_lookups_and_withheld_columns() -> None:
    """Part of its tables, with the column that decides; and they are neighbours as handed over."""
    worlds = [made(Form.TYPED, Dice("lookups", seed), lookups=True) for seed in range(100)]
    aside = [each for each in worlds if each.aside]
    assert 5 <= len(aside) <= 50
    assert any(each.withheld for each in worlds)
    assert any(each.max_units for each in worlds)
    left_out = 0
    for each in aside:
        for side in Side:
            table, beside = each.handed_over(side)
            assert beside is not None
            assert SECRET in beside.schema.names
            assert not set(each.aside) & set(table.schema.names)
            silent = [silent_in(unit[0], each) for unit in each.units(side)]
            assert len(beside) == silent.count(False) or all(silent)
            left_out += silent.count(True)
    assert left_out
    assert not any(made(Form.TYPED, Dice("none", seed)).aside for seed in range(9))
