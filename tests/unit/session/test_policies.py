"""Policies and parts in one account: what may be asked, how it is charged, and what is promised."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import onesided as osd
from onesided.data.units import Unit
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.errors import InputError, LedgerError, PolicyError, ReleaseFailed, RequestError
from onesided.ledger import open_ledger
from onesided.ledger.account import StoredAccount
from onesided.session import Dataset, statements
from onesided.session.receipts import guarantee
from support.visits import POLICY, UNIT, all_units, rows, visits, write_visits

STRICTER = f"{POLICY} OR room = 'lab'"
OTHER_STRICTER = f"{POLICY} OR room = 'hall'"
COUNT: dict[str, Any] = {"by": "room", "max_groups": 1, "epsilon": 1, "mechanism": "one-sided"}
ORDINARY = {**COUNT, "mechanism": "laplace", "domain": {"room": ["lab", "hall", osd.OTHER]}}
FIRST, SECOND = date(2024, 1, 1), date(2024, 1, 2)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return visits(devices=60)


def opened(table: pa.Table, **options: Any) -> Dataset:
    return osd.open(table, **{"unit": UNIT, "policy": POLICY, "budget": 9, **options})


def test_a_stricter_policy_is_charged_to_the_same_account(table: pa.Table) -> None:
    with opened(table) as dataset:
        dataset.count(**COUNT)
        release = dataset.count(**ORDINARY, policy=STRICTER)
        balance = dataset.budget
    assert [record.charge.spending.relaxed for record in balance.charges] == [False, True]
    half = Fraction(1, 2)
    assert balance.total == osd.Loss(half, 1 + half)
    assert balance.spent == 2
    assert release.receipt["policy"]["sql"] == osd.Policy(STRICTER).sql
    assert osd.Policy(STRICTER).sql in release.guarantee


def test_a_stricter_sample_holds_nothing_that_is_sensitive_under_it(table: pa.Table) -> None:
    with opened(table) as dataset:
        sample = dataset.sample(3, policy=STRICTER).table
    labs = {(row["device"], row["day"]) for row in rows(table) if row["room"] == "lab"}
    assert all_units(sample)
    assert all_units(sample).isdisjoint(labs)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("room = 'clinic'", r"for instance .*consent"),
        ("room = 'lab' OR NOT consent", r"for instance .*room = "),
        ("room LIKE 'c%' OR NOT consent", "not proven"),
        ("nowhere = 1", "no column"),
    ],
)
def test_any_other_policy_is_refused_with_the_reason(
    table: pa.Table, policy: str, words: str
) -> None:
    with opened(table) as dataset:
        for ask in (
            lambda: dataset.count(**COUNT, policy=policy),
            lambda: dataset.plan("room", epsilon=1, policy=policy),
            lambda: dataset.sample(1, policy=policy),
        ):
            with pytest.raises(InputError, match=words):
                ask()
        assert dataset.budget.charges == ()


def test_the_same_policy_in_other_words_is_the_account_s_own(table: pa.Table) -> None:
    with opened(table) as dataset:
        dataset.count(**COUNT, policy="ROOM='clinic'   or not (Consent)")
        dataset.count(**COUNT)
        assert [record.charge.spending.relaxed for record in dataset.budget.charges] == [False]


def test_the_spelling_of_columns_makes_no_other_account(tmp_path: Path) -> None:
    source, ledger = write_visits(tmp_path, devices=40), tmp_path / "visits.ledger"
    for policy, unit in ((POLICY, "device,day"), ("ROOM = 'clinic' OR NOT CONSENT", "DEVICE,Day")):
        with osd.open(source, unit=unit, policy=policy, budget=2, ledger=ledger) as dataset:
            dataset.count(**COUNT)
            assert dataset.budget.spent == 1
    assert len(open_ledger(ledger).accounts()) == 1


def test_another_base_policy_is_refused_by_the_ledger(tmp_path: Path) -> None:
    source, ledger = write_visits(tmp_path, devices=40), tmp_path / "visits.ledger"
    with osd.open(source, unit=UNIT, policy=POLICY, budget=2, ledger=ledger) as dataset:
        dataset.count(**COUNT)
    with (
        osd.open(source, unit=UNIT, policy=STRICTER, budget=2, ledger=ledger) as dataset,
        pytest.raises(LedgerError, match="another policy"),
    ):
        dataset.count(**COUNT)


def test_parts_compose_in_parallel_and_hold_their_own_units(table: pa.Table) -> None:
    question = {**COUNT, "by": "weekday(day)"}
    with opened(table, partition_by="day", rng=osd.seeded(2)) as dataset:
        first = dataset.count(**question, part={"day": FIRST})
        dataset.count(**question, part={"DAY": "2024-01-02"})
        assert dataset.budget.spent == 1
        assert dataset.budget.plain_sum == 2
        dataset.count(**question)
        assert dataset.budget.spent == 2
        sample = dataset.sample(1, part={"day": SECOND}).table
        assert dataset.budget.spent == 3
    assert set(first.table.column("weekday(day)").to_pylist()) <= {*range(1, 8)}
    at_least = dict(zip(*(first.table.column(i).to_pylist() for i in (0, 1)), strict=True))
    assert all(count == 0 for day, count in at_least.items() if day != FIRST.isoweekday())
    assert {day for _, day in all_units(sample)} == {SECOND}


@pytest.mark.parametrize(
    ("partition", "part", "words"),
    [
        ("day", {"device": 1}, "not declared in partition_by"),
        ("day", {"day": FIRST, "device": 1}, "one value of one column"),
        ("day", {"day": "soon"}, "type date"),
        ((), {"day": FIRST}, "not declared in partition_by"),
    ],
)
def test_other_parts_are_refused(
    table: pa.Table, partition: Any, part: dict[str, Any], words: str
) -> None:
    with opened(table, partition_by=partition) as dataset:
        with pytest.raises(RequestError, match=words):
            dataset.count(**COUNT, part=part)
        assert dataset.budget.charges == ()


def test_a_partition_must_not_cut_units(table: pa.Table) -> None:
    with pytest.raises(RequestError, match="columns of the unit key"):
        opened(table, partition_by="room")


def promised(dataset: Dataset) -> str:
    """What the account's statement promises for everything charged so far."""
    (statement,) = statements(dataset._books._ledger)
    return statement.promise


def test_an_account_promises_under_the_minimum_relaxation_of_what_was_used(
    table: pa.Table,
) -> None:
    unit = Unit(UNIT)
    base, first, second = (osd.Policy(text).sql for text in (POLICY, STRICTER, OTHER_STRICTER))
    with opened(table) as dataset:
        assert dataset.budget.spent == 0
        assert promised(dataset) == guarantee(osd.Loss(0, 0), base, unit)
        dataset.count(**COUNT, policy=STRICTER)
        assert promised(dataset) == guarantee(osd.Loss(0, 1), first, unit)
        dataset.count(**COUNT, policy=OTHER_STRICTER)
        both = ") and (".join(sorted((first, second)))
        assert promised(dataset) == guarantee(osd.Loss(0, 2), both, unit)
        dataset.count(**COUNT)
        assert promised(dataset) == guarantee(osd.Loss(0, 3), base, unit)


def test_over_several_snapshots_the_promise_covers_what_was_sensitive_in_all(
    tmp_path: Path,
) -> None:
    ledger = tmp_path / "visits.ledger"
    for seed in (1, 2):
        source = write_visits(tmp_path, devices=40, seed=seed)
        with osd.open(source, unit=UNIT, policy=POLICY, budget=2, ledger=ledger) as dataset:
            dataset.count(**COUNT)
            assert ("snapshots" in promised(dataset)) == (seed == 2)


def test_a_function_needs_a_name_to_outlive_its_process(table: pa.Table, tmp_path: Path) -> None:
    def minors(row: dict[str, Any]) -> bool:
        return row["room"] == "clinic"

    frame, ledger = table.to_pandas(), tmp_path / "visits.ledger"
    for unnamed in (minors, osd.Policy.from_function(minors)):
        with pytest.raises(PolicyError, match="name it"):
            opened(frame, policy=unnamed, ledger=ledger)
    assert not ledger.exists()
    with opened(frame, policy=minors) as dataset:
        dataset.count(**COUNT)
    named = osd.Policy.from_function(minors, "clinic, version 1")
    for _ in range(2):
        with opened(frame, policy=named, ledger=ledger) as dataset:
            dataset.count(**COUNT)
            assert dataset.budget.spent == 1


def test_a_deleted_ledger_stops_the_session_before_the_charge(tmp_path: Path) -> None:
    source, ledger = write_visits(tmp_path, devices=40), tmp_path / "visits.ledger"
    with osd.open(source, unit=UNIT, policy=POLICY, budget=2, ledger=ledger) as dataset:
        dataset.count(**COUNT)
        ledger.unlink()
        for ask in (lambda: dataset.count(**ORDINARY), lambda: dataset.sample(1)):
            with pytest.raises(LedgerError, match=r"deleted or replaced|cannot be opened"):
                ask()


@pytest.mark.parametrize("kind", ["count", "sample"])
def test_what_cannot_be_stored_is_not_shown_and_stays_charged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    def full(*_: object) -> None:
        raise LedgerError("The disk is full.")

    source, ledger = write_visits(tmp_path, devices=40), tmp_path / "visits.ledger"
    with osd.open(source, unit=UNIT, policy=POLICY, budget=2, ledger=ledger) as dataset:
        ask = {"count": lambda: dataset.count(**COUNT), "sample": lambda: dataset.sample(1)}[kind]
        with monkeypatch.context() as broken:
            broken.setattr(StoredAccount, "store", full)
            with pytest.raises(ReleaseFailed, match=r"The disk is full\. The charge stands\."):
                ask()
        assert dataset.budget.spent == 1
        ask()
        assert dataset.budget.spent == 1


def test_a_failure_that_cannot_be_noted_still_says_one_sentence(
    table: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("cell value 4711")

    def full(*_: object) -> None:
        raise LedgerError("The disk is full.")

    with opened(table) as dataset:
        monkeypatch.setattr(DuckDBEngine, "count", fail)
        monkeypatch.setattr(StoredAccount, "failed", full)
        with pytest.raises(ReleaseFailed, match="charge, which stands") as caught:
            dataset.count(**COUNT)
    assert caught.value.__suppress_context__
    assert "4711" not in str(caught.value)
