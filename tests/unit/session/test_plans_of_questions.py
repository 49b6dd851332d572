"""Plans of sums, means, statements and samples, and the least ε for an error."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.data.planned.least import least_epsilon
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.errors import RequestError
from onesided.session import kept
from support.visits import POLICY, ROOMS, UNIT, sensitive_units, visits

DOMAIN = {"room": list(ROOMS)}
SQL = "SELECT room, COUNT(DISTINCT device, day) AS n, SUM(device) AS s, AVG(device) AS m FROM data "
SQL += "GROUP BY room"
LIMITS: dict[str, Any] = {"max_groups": 2, "max_rows": 3, "bounds": {"device": 8}}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return visits(devices=200)


def opened(table: Any, **more: Any) -> osd.Dataset:
    return osd.open(table, unit=UNIT, policy=POLICY, **{"budget": 9, "rng": osd.seeded(3), **more})


def test_a_plan_never_opens_the_source(
    table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The source is a file; what is in memory is a sample that was released."""
    pq.write_table(table, tmp_path / "visits.parquet")
    with opened(tmp_path / "visits.parquet") as data:
        data.sample(1)
        for name in ("count", "sample", "evaluate_policy"):
            plain = getattr(DuckDBEngine, name)

            def only_samples(engine: Any, *given: Any, plain: Any = plain) -> Any:
                assert engine.in_memory, "a plan looked at the data"
                return plain(engine, *given)

            monkeypatch.setattr(DuckDBEngine, name, only_samples)
        plans = [
            data.plan("room", epsilon=1, max_groups=2),
            data.plan.sum("device", "room", bound=8, epsilon=1, max_groups=2),
            data.plan.mean("device", "room", bound=8, epsilon=1, max_groups=2),
            data.plan.ngrams(2, by="room", order="ts", epsilon=1, max_groups=2),
            data.plan.sql(SQL, epsilon=1, **LIMITS),
        ]
        assert all(row.error is not None for plan in plans for row in plan.rows)
        assert data.plan.sample(2).rows is not None
        assert data.budget.spent == 1


@pytest.mark.parametrize("whole", [True, False])
def test_a_sample_teaches_the_share(
    table: pa.Table, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From its rows, and where these are too many to be stored from their number of units."""
    true = 1 - len(sensitive_units(table)) / 1000
    with opened(table) as data:
        before = data.plan("room", epsilon=1, max_groups=1)
        assert before.nonsensitive_share == 0.5
        assert "assumed" in before.sources[0]
        if not whole:
            monkeypatch.setattr(kept, "LARGEST_KEPT", 10)
        sample = data.sample(1)
        after = data.plan("room", epsilon=1, max_groups=1)
        stated = data.plan("room", epsilon=1, max_groups=1, nonsensitive_share=0.1)
        expected = data.plan.sample(2)
        units = len(data.sample(2).table.group_by(list(UNIT)).aggregate([]))
    # Coins are new each time: of 1,000 units they tell the share to a standard deviation of 0.02.
    assert after.nonsensitive_share == pytest.approx(true, abs=0.12)
    assert "in the sample at ε = 1" in after.sources[0]
    assert stated.nonsensitive_share == 0.1
    assert abs(expected.units - units) < 0.1 * units
    assert expected.rows == pytest.approx(
        expected.units * sample.table.num_rows / kept_units(sample)
    )


def kept_units(sample: Any) -> int:
    return len(sample.table.group_by(list(UNIT)).aggregate([]))


def test_groups_that_were_released_replace_the_stated_numbers(table: pa.Table) -> None:
    with opened(table) as data:
        data.count("room", epsilon=1, max_groups=2, mechanism="one-sided")
        plan = data.plan("room", epsilon=1, max_groups=1)
        assert plan.supposed_groups == len(ROOMS) - 1, "the clinic is never listed"
        other = data.plan("date(ts)", epsilon=1, max_groups=1)
        assert {*other.rows[0].errors} == {10, 100, 1_000}
        stated = data.plan("date(ts)", epsilon=1, max_groups=1, groups=24)
        assert {*stated.rows[0].errors} == {None}


@pytest.mark.parametrize("kind", ["sum", "mean"])
def test_sums_and_means_err_as_expected(table: pa.Table, kind: str) -> None:
    """Beside the figure of non-sensitive units, within a factor of 1.6 on average."""
    asked: dict[str, Any] = {"bound": 200, "max_groups": 4, "domain": DOMAIN, "epsilon": 2}
    with opened(table, budget=10**6) as data:
        data.sample(9)
        (row,) = getattr(data.plan, kind)("device", "room", **asked).rows
        exact = getattr(data, kind)("device", "room", **{**asked, "epsilon": 10**5}, yes=True).table
        released = [
            getattr(data, kind)("device", "room", **asked, fresh=True).table for _ in range(12)
        ]
    assert row.error is not None
    assert row.of == "non-sensitive units"
    filled = np.array([name.as_py() != "clinic" for name in exact.column("room")])
    off = np.array(
        [np.array(each.column(kind)) - np.array(exact.column(kind)) for each in released]
    )
    ratio = float(np.mean(np.abs(off[:, filled]))) / row.error
    assert 1 / 1.6 <= ratio <= 1.6


def test_a_statement_is_planned_by_figure_and_charged_as_planned(table: pa.Table) -> None:
    asked: dict[str, Any] = {**LIMITS, "epsilon": 3}
    with opened(table) as data:
        plan = data.plan.sql(SQL, **asked)
        figures = [row.figure for row in plan.rows]
        assert figures == ["count(DISTINCT device, day)", "sum(device)", "avg(device)"]
        assert all(row.epsilon == 1 for row in plan.rows)
        data.sql(SQL, **asked)
        assert data.budget.spent == plan.cost == 3
        assert data.plan.sql(SQL, **asked).cost == 0


@pytest.mark.parametrize("wanted", [5, 20])
def test_the_least_epsilon_for_an_error(table: pa.Table, wanted: int) -> None:
    asked: dict[str, Any] = {"by": "room", "max_groups": 2, "domain": DOMAIN}
    with opened(table) as data:
        plan = data.plan(**asked, error=wanted)
        (row,) = (each for each in plan.rows if each.mechanism == "laplace")
        assert row.error is not None
        assert row.error <= wanted
        step = row.epsilon * Fraction(99, 100)
        (less,) = (e for e in data.plan(**asked, epsilon=step).rows if e.mechanism == "laplace")
        assert less.error is not None
        assert less.error > wanted
        assert plan.rows[0].cost == min(each.cost for each in plan.rows if each.cost is not None)


def test_an_error_that_cannot_be_had_is_said(table: pa.Table) -> None:
    with opened(table) as data:
        plan = data.plan("room", max_groups=1, domain=DOMAIN, error="0.5", nonsensitive_share=0.2)
        (row,) = (each for each in plan.rows if each.mechanism == "one-sided")
        assert not row.available
        assert "above ±0.5" in row.refusal
        sql = data.plan.sql(SQL, error="0.001", **LIMITS)
        assert not any(each.available for each in sql.rows)


@pytest.mark.parametrize("aim", [{}, {"epsilon": 1, "error": 3}])
def test_an_aim_is_an_epsilon_or_an_error(table: pa.Table, aim: dict[str, Any]) -> None:
    with opened(table) as data, pytest.raises(RequestError, match="either epsilon, or the error"):
        data.plan("room", max_groups=1, **aim)


@pytest.mark.parametrize("bound", ["0.001", "0.0123", "0.5", "9.99", "10"])
def test_the_least_epsilon_is_found_to_three_digits(bound: str) -> None:
    assert least_epsilon(lambda epsilon: epsilon >= Fraction(bound)) == Fraction(bound)
    assert least_epsilon(lambda epsilon: epsilon > 10) is None


def test_a_receipt_says_the_error_that_was_planned_and_the_release_what_came(
    table: pa.Table,
) -> None:
    with opened(table) as data:
        asked: dict[str, Any] = {"by": "room", "max_groups": 1, "epsilon": 1}
        plan = data.plan(**asked, domain=DOMAIN)
        (row,) = (each for each in plan.rows if each.mechanism == "laplace")
        declared = data.count(**asked, domain=DOMAIN, mechanism="laplace")
        found = data.count(**asked, mechanism="one-sided")
    assert declared.accuracy.expected == pytest.approx(row.error, rel=1e-3)
    assert declared.accuracy.reach is not None
    assert declared.accuracy.expected is not None
    assert declared.accuracy.reach > declared.accuracy.expected
    by_groups = found.error["expected_absolute_error_by_groups"]
    assert set(by_groups) == {"10", "100", "1000"}
    assert found.accuracy.expected == pytest.approx(float(by_groups["10"])), "4 are read as 10"
