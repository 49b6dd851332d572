"""Sums and means that find their own bound: by a look that counts each total once."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import onesided as osd
from onesided.errors import OnesidedError
from onesided.loss import Loss
from onesided.session.questions.found_bounds import BoundedTotals
from onesided.session.table import Reading

EXACT = 1_000_000


def payments(paid: Any, kind: pa.DataType) -> pa.Table:
    many = len(paid)
    return pa.table(
        {
            "person": [place // 2 for place in range(many)],
            "room": ["a", "a", "b", "b"] * (many // 4),
            "paid": pa.array(paid, kind),
            "secret": [place % 20 > 17 for place in range(many)],
        }
    )


def opened(table: pa.Table, unit: str = "person", **options: Any) -> osd.Dataset:
    return osd.open(
        table, unit=unit, policy="secret", budget=20 * EXACT, rng=osd.seeded(3), **options
    )


def true_sum(table: pa.Table) -> float:
    rows = table.to_pylist()
    return float(sum(row["paid"] or 0 for row in rows if not row["secret"]))


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.decimal128(12, 2)])
def test_without_noise_nothing_is_clipped(kind: pa.DataType) -> None:
    drawn = np.random.default_rng(5).integers(0, 900, 400).tolist()
    table = payments(drawn, pa.int64()).set_column(
        2, "paid", pa.array(drawn, pa.int32()).cast(kind)
    )
    with opened(table) as data:
        release = data.sum("paid", bound="auto", epsilon=EXACT, yes=True)
        assert release.table["sum"].to_pylist() == [pytest.approx(true_sum(table), rel=1e-3)]
        found = release.receipt["error"]["bound"]
        assert float(Fraction(found["bound"])) > 900
        assert found["epsilon"] == "125000"
        assert release.receipt["noise"].startswith("for the bound, one-sided geometric of rate")
        by_room = data.sum("paid", "room", bound="auto", max_groups=2, epsilon=EXACT, yes=True)
        assert sum(by_room.table["sum"].to_pylist()) == pytest.approx(true_sum(table), rel=1e-3)
        mean = data.mean("paid", bound="auto", max_rows=2, epsilon=EXACT, yes=True)
        rows = 2 * sum(not row["secret"] for row in table.to_pylist()) / 2
        assert mean.table["mean"][0].as_py() == pytest.approx(true_sum(table) / rows, rel=1e-3)


def test_it_costs_its_epsilon_and_the_bound_stays_what_it_was() -> None:
    table = payments(np.random.default_rng(2).integers(0, 50, 2_000).tolist(), pa.int64())
    with opened(table) as data:
        release = data.sum("paid", bound="auto", epsilon=2)
        assert release.loss == Loss(0, 2)
        assert data.budget.spent == 2
        again = data.sum("paid", bound="auto", epsilon=2)
        assert again.receipt == release.receipt or again.table == release.table
        assert data.budget.spent == 2
        names = [column["name"] for column in release.receipt["columns"]]
        assert names == release.table.column_names


def test_bounds_that_a_statement_does_not_say_are_found() -> None:
    table = payments(np.random.default_rng(2).integers(0, 50, 800).tolist(), pa.int64())
    with opened(table, name="visits") as data:
        release = data.sql(
            "SELECT SUM(paid) AS s, AVG(paid * 2) AS m FROM visits",
            epsilon=EXACT,
            max_rows=2,
            bounds={"paid": "auto"},
            yes=True,
        )
        (row,) = release.table.to_pylist()
        assert row["s"] == pytest.approx(true_sum(table), rel=1e-2)
        assert row["m"] == pytest.approx(2 * true_sum(table) / 720, rel=1e-2)
        plan = data.plan.sql("SELECT SUM(paid) FROM visits", epsilon=1)
        assert plan.cost == 1
        with pytest.raises(OnesidedError, match="only numbers"):
            data.sql("SELECT SUM(room) FROM visits", epsilon=1)


HOSTILE = [
    ([1e18, 3.0], pa.float64()),
    ([float("inf"), -7.0], pa.float64()),
    ([1e300, float("nan")], pa.float64()),
    ([-(2**63), 2**63 - 1], pa.int64()),
    ([2**40, -9], pa.int64()),
]


@pytest.mark.parametrize(("paid", "kind"), HOSTILE)
def test_a_total_is_counted_once_whatever_its_rows_are(paid: Any, kind: pa.DataType) -> None:
    """Else one unit could lower a count, which noise that only subtracts does not hide."""
    table = payments([*paid, 1, 1], kind).slice(0, 2)
    with opened(table) as data:
        asked = data.plan.asking.sum(Fraction(EXACT), "paid", bound="auto")
        assert isinstance(asked, BoundedTotals)
        reading = Reading(data.plan.books.table, asked.scope, 1, None)
        counts = json.loads(asked.look(reading))["counts"]
        assert sorted(set(counts)) == [0, 1]
        assert sum(counts) == 1


@pytest.mark.parametrize("units", [100, 10**7])
def test_a_ladder_that_ends_by_the_number_of_units_says_so(units: int) -> None:
    """So many units have less room below 2^53 each, and the ladder ends where that does."""
    with opened(payments([1, 2, 3, 4], pa.int64())) as data:
        asked = data.plan.asking.sum(Fraction(1), "paid", bound="auto")
        assert isinstance(asked, BoundedTotals)
        asked = replace(asked, facts=replace(asked.facts, units=units))
        found = asked.decided(json.dumps({"bound": "4"}).encode())
        assert asked.reads_n == asked.loss.fixed_n == found.terms.loss.fixed_n == (units > 100)
        assert asked.ladder[-1] * units <= 2**53


def test_what_needs_another_bound_is_refused_for_free() -> None:
    with opened(payments([1, 2, 3, 4], pa.int64())) as data:
        with pytest.raises(OnesidedError, match="max_groups"):
            data.sum("paid", "room", bound="auto", epsilon=1)
        with pytest.raises(OnesidedError, match="room"):
            data.sum("room", bound="auto", epsilon=1)
        assert not data.account_opened
