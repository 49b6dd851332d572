"""Bounds on groups: estimated from what was released, found in one step, and fixed from then on."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import onesided as osd
from onesided.cli.program import run
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.errors import (
    BudgetError,
    InputError,
    MechanismRefused,
    ReleaseFailed,
    RequestError,
)
from onesided.loss import Loss
from onesided.mechanisms.auto import Auto
from onesided.session.questions.touches import ranges, ranges_for
from onesided.session.supposed import Touched
from support.visits import POLICY, ROOMS, UNIT, visits, write_visits

BY: dict[str, Any] = {"by": ["room", "hour(ts)"], "domain": {"room": list(ROOMS)}}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return visits(devices=120)


def opened(table: Any, **more: Any) -> osd.Dataset:
    return osd.open(table, unit=UNIT, policy=POLICY, **{"budget": 9, "rng": osd.seeded(3), **more})


def bound(release: osd.Release) -> dict[str, Any]:
    found: dict[str, Any] = release.error["bound"]
    return found


def total_error(table: pa.Table, mechanism: str, k: int) -> float:
    """The mean error of a group beside all units, over some runs."""
    with opened(table, budget=10**6) as data:
        truth = data.count(**BY, epsilon=10**5, max_groups=90, mechanism="laplace", yes=True).table
        asked: dict[str, Any] = {**BY, "epsilon": 1, "max_groups": k, "mechanism": mechanism}
        runs = [data.count(**asked, fresh=True).table["count"] for _ in range(4)]
    off = [np.array(each) - np.array(truth["count"]) for each in runs]
    return float(np.mean(np.abs(off)))


@pytest.mark.parametrize("mechanism", ["laplace", "one-sided"])
def test_a_bound_from_a_sample_is_nearly_the_best(table: pa.Table, mechanism: str) -> None:
    with opened(table) as data:
        data.sample(1)
        release = data.count(**BY, epsilon=1, max_groups="auto", mechanism=mechanism)
    errors = {k: total_error(table, mechanism, k) for k in (1, 4, 8)}
    found = total_error(table, mechanism, bound(release)["max_groups"])
    assert found <= 1.25 * min(errors.values())


def test_with_a_sample_the_bound_is_free_and_the_plan_says_it(table: pa.Table) -> None:
    with opened(table) as data:
        data.sample(1)
        plan = data.plan(**BY, epsilon=1)
        assert plan.curve is not None
        release = data.count(**BY, epsilon=1, max_groups="auto")
        assert data.budget.spent == 2
    assert bound(release) == {
        "max_groups": plan.curve.best.k,
        "chosen_from": "; ".join(plan.sources),
        "epsilon": "0",
    }
    assert release.receipt.figure == f"count of units, each in at most {plan.curve.best.k} groups"
    assert {row.supposing for row in plan.rows} == {f"max_groups = {plan.curve.best.k}", ""}
    totals = {each.k: each.total for each in plan.curve.bounds}
    assert totals[plan.curve.best.k] == min(totals.values())
    cuts = [each.cut for each in plan.curve.bounds]
    assert cuts == sorted(cuts, reverse=True)


@pytest.mark.parametrize("mechanism", ["auto", "one-sided", "laplace"])
def test_without_anything_known_a_look_is_a_part_of_epsilon(
    table: pa.Table, mechanism: str
) -> None:
    asked: dict[str, Any] = {**BY, "epsilon": 1, "max_groups": "auto", "mechanism": mechanism}
    with opened(table) as data:
        release = data.count(**asked)
        assert data.budget.spent == 1
        assert Fraction(bound(release)["epsilon"]) == Fraction(1, 10)
        assert release.receipt["account"]["cost"] == "1"
        assert "for the bound, one-sided geometric of rate 1/10" in release.receipt["noise"]
        assert release.loss.epsilon == 1
        data.sample(1)
        assert data.count(**asked).table.equals(release.table), "a repeat returns the first"
        assert data.budget.spent == 2
        again = data.count(**{**asked, "epsilon": 2})
        assert bound(again)["epsilon"] == "0"
        with pytest.raises(BudgetError):
            data.count(**{**asked, "epsilon": 8})


def test_what_a_look_has_shown_is_known_to_later_plans(table: pa.Table) -> None:
    with opened(table) as data:
        assert data.plan(**BY, epsilon=1, max_groups=2).left_out is None
        data.count(**BY, epsilon=2, max_groups="auto")
        plan = data.plan(**BY, epsilon=1, max_groups=2)
        assert plan.left_out is not None
        assert "how many groups units are in" in plan.sources[-1]
        assert bound(data.count(**BY, epsilon=1, max_groups="auto"))["epsilon"] == "0"


@pytest.mark.parametrize("mechanism", ["auto", "one-sided"])
def test_a_count_that_stopped_after_its_look_keeps_its_bound(
    table: pa.Table, mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is learnt in between changes nothing."""
    asked: dict[str, Any] = {**BY, "epsilon": 1, "max_groups": "auto", "mechanism": mechanism}

    def fails(*_: object, **__: object) -> None:
        raise MemoryError

    with opened(table) as data:
        with monkeypatch.context() as broken:
            if mechanism == "auto":
                broken.setattr(Auto, "choose", fails)
            else:
                _failing_second(broken)
            with pytest.raises(ReleaseFailed):
                data.count(**asked)
        data.sample(1)
        release = data.count(**asked)
        assert data.budget.spent == 2
        assert bound(release)["epsilon"] == "0.1"


def _failing_second(broken: pytest.MonkeyPatch) -> None:
    """The engine answers a look, and fails at the count."""
    plain = DuckDBEngine.count

    def count(engine: DuckDBEngine, query: Any) -> Any:
        if not query.tally:
            raise MemoryError
        return plain(engine, query)

    broken.setattr(DuckDBEngine, "count", count)


def test_touches_are_a_release_that_plans_read(table: pa.Table) -> None:
    with opened(table) as data:
        touches = data.touches(**BY, epsilon="0.1")
        assert touches.table.column_names[:2] == ["groups", "count"]
        assert data.budget.spent == Fraction(1, 10)
        plan = data.plan(**BY, epsilon=1)
        assert plan.curve is not None
        assert 2 <= plan.curve.best.k <= 8
        data.sample(1)
        free = data.touches(**BY, epsilon=1, sampled=True)
        assert data.budget.spent == Fraction(11, 10)
        units = sum(free.table["at_least"].to_pylist())
        for sampled in (False, True):  # before anything is charged
            with pytest.raises(RequestError, match="no bound to find"):
                data.touches("day", epsilon=1, sampled=sampled)
    assert 240 < units < 420


@pytest.mark.parametrize("where", [None, "hour(ts) > 8"])
def test_what_reads_the_number_of_units_promises_nothing_of_another_number(
    table: pa.Table, where: str | None
) -> None:
    """Ranges, what a look costs and the choice follow it, whatever the rows are filtered by."""
    with opened(table, partition_by="day") as data:
        touches = data.touches("room", where, epsilon="0.1")
        found = data.count("room", where, epsilon=1, max_groups="auto", mechanism="one-sided")
        sampled = data.touches("room", where, epsilon=1, sampled=True)
        parted = data.touches("room", where, epsilon="0.1", part={"day": visits_day(table)})
    assert touches.loss == Loss(0, "0.1", fixed_n=True)
    assert found.loss == Loss(0, 1, fixed_n=True)
    assert sampled.loss == Loss(0, 1)
    assert parted.loss == Loss(0, "0.1")


def visits_day(table: pa.Table) -> Any:
    return table["day"][0].as_py()


def test_touches_in_a_sample_are_those_of_its_rows(table: pa.Table) -> None:
    with opened(table) as data:
        sample = data.sample(1).table
        found = data.touches("room", epsilon=1, sampled=True).table
    rooms: dict[Any, set[Any]] = {}
    for row in sample.to_pylist():
        rooms.setdefault((row["device"], row["day"]), set()).add(row["room"])
    numbers = [len(each) for each in rooms.values()]
    least = dict(zip(found["groups"].to_pylist(), found["at_least"].to_pylist(), strict=True))
    assert [least[number] for number in (1, 2, 3, 4)] == [
        numbers.count(number) for number in (1, 2, 3, 4)
    ]


def test_where_a_unit_is_in_one_group_no_bound_is_looked_for(table: pa.Table) -> None:
    with opened(table) as data:
        release = data.count("day", epsilon=1, max_groups="auto")
        assert "bound" not in release.error
        sampled = data.count(**BY, epsilon=1, max_groups="auto", mechanism="rr")
        assert "bound" not in sampled.error
        with pytest.raises(InputError, match="max_groups"):
            data.sum("device", "room", bound=8, epsilon=1, max_groups="auto")  # type: ignore[arg-type]


def test_no_bound_is_chosen_whose_noise_cannot_be_drawn(table: pa.Table) -> None:
    """At the least ε that a bound of 1 allows for, a larger one would fail after the charge."""
    asked: dict[str, Any] = {**BY, "epsilon": "1/1000000000", "mechanism": "residual"}
    asked["sensitive_share"] = "0.001"
    with opened(table) as data:
        data.sample(1)
        with pytest.raises(MechanismRefused):
            data.count(**asked, max_groups=2)
        assert bound(data.count(**asked, max_groups="auto"))["max_groups"] == 1


def test_ngrams_find_their_bound(table: pa.Table) -> None:
    with opened(table) as data:
        release = data.ngrams(2, by="room", order="ts", epsilon=1, max_groups="auto")
        assert bound(release)["max_groups"] >= 1


def test_ranges_are_as_wide_as_noise_asks_for() -> None:
    assert ranges(1)[:5] == (1, 2, 4, 8, 16)
    assert ranges(4)[:9] == (1, 2, 3, 4, 5, 6, 7, 8, 10)
    assert ranges_for(100, Fraction(1, 10)) == ranges(1)
    assert ranges_for(10**6, Fraction(1)) == ranges(4)


def test_what_is_counted_and_left_out_add_up() -> None:
    touched = Touched.of({1: 50, 3: 30, 10: 20}, 100)
    every = 0.5 + 0.9 + 2.0
    for k in (1, 2, 3, 5, 10, 20):
        assert touched.counted(k) + touched.left_out(k) == pytest.approx(every)
    assert touched.most == 10


def test_the_command_finds_a_bound_and_draws_the_curve(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_visits(tmp_path, devices=60)
    source = [str(path), "--unit", "device,day", "--policy", POLICY]
    source += ["--ledger", str(tmp_path / "l.ledger"), "--budget", "4"]
    by = ["--by", "room,hour(ts)", "--epsilon", "1"]
    sample = ["--epsilon", "1", "--out", str(tmp_path / "s.csv")]
    assert run(["plan", *source, *by, "--chart", str(tmp_path / "before.svg")]) == 0
    assert "errs least" not in capsys.readouterr().out
    assert run(["sample", *source, *sample]) == 0
    assert run(["plan", *source, *by, "--chart", str(tmp_path / "c.svg")]) == 0
    assert "errs least" in capsys.readouterr().out
    assert (tmp_path / "c.svg").read_text().startswith("<svg")
    assert run(["count", *source, *by, "--max-groups", "auto"]) == 0
    shown = capsys.readouterr().out
    assert "a group expected from public facts alone; intervals reach ±" in shown
    assert "in the sample at ε = 1" in shown
    assert run(["count", *source, *by, "--max-groups", "auto", "--json"]) == 0
    receipt = json.loads(capsys.readouterr().out)["receipt"]
    assert receipt["error"]["bound"]["epsilon"] == "0"
