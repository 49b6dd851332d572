"""Counts: charged first, checked before, open and declared domains, and what a receipt says."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import onesided as osd
from onesided.data.units import Unit
from onesided.engine.base import CountQuery
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.engine.duckdb.flavour import DuckDBFlavour
from onesided.engine.flavour import Flavour
from onesided.errors import BudgetError, InputError, MechanismRefused, ReleaseFailed, RequestError
from onesided.language import Key, Predicate
from support.engines import column_total
from support.visits import POLICY, UNIT, all_units, rows, sensitive_units, visits, write_visits


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return visits()


@pytest.fixture(scope="module")
def engine(table: pa.Table) -> Any:
    opened = DuckDBEngine(table, Unit(UNIT))
    yield opened
    opened.close()


def counted(engine: DuckDBEngine, *by: str, **query: Any) -> dict[tuple[Any, ...], tuple[int, int]]:
    policy = Predicate.parse(POLICY).bind(engine.schema)
    where = query.pop("where", None)
    condition = None if where is None else Predicate.parse(where).bind(engine.schema)
    keys = tuple(Key.parse(text).bind(engine.schema) for text in by)
    answer = engine.count(CountQuery(policy, keys, condition, **query))
    names = zip(*(column.to_pylist() for column in answer.keys.columns), strict=True)
    figures = zip(answer.all.tolist(), answer.nonsensitive.tolist(), strict=True)
    return dict(zip(names, figures, strict=True)) if by else {(): next(iter(figures))}


def expected(table: pa.Table, key: Any, keep: Any = lambda row: True) -> Counter[Any]:
    pairs = {((row["device"], row["day"]), key(row)) for row in rows(table) if keep(row)}
    return Counter(group for _, group in pairs)


def test_distinct_units_are_counted_in_each_group(engine: DuckDBEngine, table: pa.Table) -> None:
    truth = expected(table, lambda row: (row["room"], row["ts"].hour))
    hidden = sensitive_units(table)
    open_part = expected(
        table,
        lambda row: (row["room"], row["ts"].hour),
        lambda row: (row["device"], row["day"]) not in hidden,
    )
    assert counted(engine, "room", "hour(ts)") == {
        group: (n, open_part[group]) for group, n in truth.items()
    }


def test_sensitivity_is_taken_over_all_rows_before_where(
    engine: DuckDBEngine, table: pa.Table
) -> None:
    hidden = sensitive_units(table)
    answer = counted(engine, "room", where="room = 'lab'")
    labs = {(row["device"], row["day"]) for row in rows(table) if row["room"] == "lab"}
    assert answer == {("lab",): (len(labs), len(labs - hidden))}


def test_a_key_of_the_unit_puts_each_unit_into_one_group(
    engine: DuckDBEngine, table: pa.Table
) -> None:
    answer = counted(engine, "weekday(day)")
    assert sum(n for n, _ in answer.values()) == len(all_units(table))
    assert answer == {
        group: (n, answer[group][1])
        for group, n in expected(table, lambda row: (row["day"].isoweekday(),)).items()
    }
    assert counted(engine)[()][0] == len(all_units(table))


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_unit_counts_in_at_most_so_many_groups(
    engine: DuckDBEngine, table: pa.Table, most: int
) -> None:
    groups = Counter(
        unit for unit, _ in {((row["device"], row["day"]), row["room"]) for row in rows(table)}
    )
    answer = counted(engine, "room", max_groups=most)
    assert sum(n for n, _ in answer.values()) == sum(min(n, most) for n in groups.values())
    assert len(answer) == len(set(table.column("room").to_pylist()))


def test_both_ways_to_cut_follow_one_rule(
    engine: DuckDBEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = counted(engine, "room", "hour(ts)", max_groups=2)
    monkeypatch.setattr(DuckDBFlavour, "cut", Flavour.cut)
    assert counted(engine, "room", "hour(ts)", max_groups=2) == fast


def test_totals_are_clipped_within_each_unit(table: pa.Table) -> None:
    frame = pa.table(
        {
            "who": [1, 1, 2, 2, 3, 4],
            "room": ["a", "a", "a", "b", "b", "b"],
            "paid": [3.5, 9.0, 2.0, -4.0, 100.0, None],
            "consent": [True] * 6,
        }
    )
    engine = DuckDBEngine(frame, Unit(("who",)))
    policy = Predicate.parse("NOT consent").bind(engine.schema)
    by = (Key.parse("room").bind(engine.schema),)
    total = column_total("paid", Fraction(1, 2), steps=20)
    answer = engine.count(CountQuery(policy, by, max_groups=2, totals=(total,)))
    engine.close()
    # a: unit 1 has 12.5, clipped to 10 = 20 steps, unit 2 has 4 steps.
    # b: −4 counts as 0, 100 as 20 steps, NULL as 0.
    assert answer.all.tolist() == [24, 20]


def test_an_open_domain_lists_only_what_the_noise_let_through(table: pa.Table) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY, budget=2) as dataset:
        release = dataset.count(by="room", epsilon=1, max_groups=2, mechanism="one-sided")
    listed = release.table.column("room").to_pylist()
    assert listed == sorted(listed)
    # Every unit that passed the clinic is sensitive: the key cannot appear.
    assert "clinic" not in listed
    assert set(listed) == {"cafe", "hall", "lab", "office"}
    assert min(release.table.column("count").to_pylist()) >= 1


def test_a_declared_domain_lists_every_bin_and_a_catch_all(table: pa.Table) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY, budget=2) as dataset:
        release = dataset.count(
            by=["room", "hour(ts)"],
            where="hour(ts) BETWEEN 8 AND 18",
            epsilon=1,
            max_groups=3,
            mechanism="laplace",
            domain={"room": ["lab", "garden", osd.OTHER]},
        )
    assert len(release.table) == 3 * 24
    assert release.table.column("room").to_pylist()[0::24] == ["lab", "garden", None]


def test_the_catch_all_counts_a_unit_once(table: pa.Table) -> None:
    frame = pa.table({"who": [1, 1, 1, 2], "room": ["a", "b", "c", "lab"], "ok": [True] * 4})
    with osd.open(frame, unit="who", policy="NOT ok", budget=100) as dataset:
        release = dataset.count(
            by="room",
            epsilon=100,
            max_groups=5,
            mechanism="one-sided",
            domain={"room": ["lab", osd.OTHER]},
            correct=False,
            yes=True,
        )
    assert release.table.to_pydict()["count"] == [1, 1]


def test_a_sample_that_is_paid_for_answers_counts_for_free(table: pa.Table) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY, budget=1) as dataset:
        kept = expected(dataset.sample(1).table, lambda row: row["room"])
        release = dataset.count(by="room", epsilon=1, mechanism="rr")
        assert dataset.budget.spent == 1
    assert release.receipt["account"]["cost"] == "0"
    answer = release.table.to_pydict()
    assert dict(zip(answer["room"], answer["at_least"], strict=True)) == dict(kept)


def test_an_equal_request_is_paid_once_and_fresh_pays_again(table: pa.Table) -> None:
    question: dict[str, Any] = {"by": "room", "epsilon": "0.5", "max_groups": 2}
    with osd.open(table, unit=UNIT, policy=POLICY, budget=1) as dataset:
        first = dataset.count(mechanism="one-sided", **question)
        again = dataset.count(mechanism="one-sided", **question)
        assert again.table.equals(first.table)
        assert again.receipt.to_json() == first.receipt.to_json()
        assert dataset.budget.spent == Fraction(1, 2)
        dataset.count(mechanism="one-sided", fresh=True, **question)
        assert dataset.budget.left == 0
        with pytest.raises(BudgetError):
            dataset.count(mechanism="one-sided", by="room", epsilon="0.1", max_groups=2)


def test_pairs_compose_tighter_than_their_epsilons(table: pa.Table) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY, budget=3) as dataset:
        dataset.sample(1)
        release = dataset.count(
            by="room",
            epsilon=1,
            mechanism="residual",
            max_groups=1,
            domain={"room": ["lab", osd.OTHER]},
        )
        account = release.receipt["account"]
        balance = dataset.budget
    assert Fraction(account["spent"]) == balance.spent
    assert balance.plain_sum == 2
    assert balance.spent <= balance.plain_sum


def test_a_receipt_says_what_was_promised(table: pa.Table) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY, budget=2, rng=osd.seeded(3)) as dataset:
        release = dataset.count(by="room", epsilon="0.5", max_groups=2, mechanism="one-sided")
    receipt = json.loads(release.receipt.to_json())
    assert receipt["policy"]["sql"] == POLICY
    assert receipt["epsilon"] == {"osdp": "0.5", "extended_osdp": "0.5"}
    assert receipt["loss"] == {"sensitive": "0", "nonsensitive": "1/2", "fixed_n": False}
    assert receipt["randomness"] == "seed 3"
    assert "in memory" in receipt["account"]["ledger"]
    assert "0.5)-OSDP" in release.guarantee
    assert release.loss == osd.Loss(0, "0.5")


REFUSED: list[tuple[dict[str, Any], type[InputError], str]] = [
    ({"by": "room"}, RequestError, "max_groups"),
    ({"by": "room", "max_groups": 0}, RequestError, "max_groups"),
    ({"by": "nowhere"}, InputError, "no column"),
    ({"by": ["room", "room"], "max_groups": 1}, RequestError, "once"),
    ({"by": "room", "max_groups": 1, "mechanism": "laplace"}, RequestError, "domain"),
    ({"by": "room", "max_groups": 1, "mechanism": "nothing"}, RequestError, "no such mechanism"),
    (
        {"by": "room", "max_groups": 1, "mechanism": "osdp-laplace"},
        MechanismRefused,
        "not released",
    ),
    (
        {"by": "room", "max_groups": 1, "mechanism": "dawa-reference"},
        MechanismRefused,
        "not released",
    ),
    ({"by": "room", "max_groups": 1, "domain": {"day": ["x"]}}, RequestError, "no group key"),
    ({"by": "room", "max_groups": 1, "domain": {"room": []}}, RequestError, "at least one"),
    ({"by": "hour(ts)", "max_groups": 1, "domain": {"hour(ts)": ["x"]}}, RequestError, "integer"),
    ({"by": "room", "max_groups": 1, "where": "random() < 1"}, InputError, "random"),
    ({"by": "room", "max_groups": 1, "epsilon": 0}, InputError, "greater than 0"),
    ({"by": "room", "max_groups": 1, "wrong": 1}, RequestError, "parameters"),
]


@pytest.mark.parametrize(("question", "error", "word"), REFUSED)
def test_what_cannot_be_answered_is_refused_before_the_charge(
    table: pa.Table, question: dict[str, Any], error: type[InputError], word: str
) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY, budget=2) as dataset:
        with pytest.raises(error, match=word):
            dataset.count(**{"epsilon": 1, "mechanism": "one-sided", **question})
        assert dataset.budget.spent == 0


def test_a_failure_after_the_charge_keeps_it_and_says_nothing_of_the_data(
    table: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY, budget=2) as dataset:
        question: dict[str, Any] = {"by": "room", "epsilon": 1, "max_groups": 2}
        with monkeypatch.context() as broken:

            def fail(*_: object) -> None:
                raise ValueError("cell value 4711")

            broken.setattr(DuckDBEngine, "count", fail)
            with pytest.raises(ReleaseFailed) as caught:
                dataset.count(mechanism="one-sided", **question)
        assert "4711" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__
        assert dataset.budget.spent == 1
        dataset.count(mechanism="one-sided", **question)
        assert dataset.budget.spent == 1


def test_data_that_changes_while_open_is_refused(tmp_path: Path) -> None:
    path = write_visits(tmp_path)
    with osd.open(path, unit=UNIT, policy=POLICY, budget=2) as dataset:
        write_visits(tmp_path, seed=2)
        with pytest.raises(InputError, match="changed"):
            dataset.sample(1)


def test_changed_data_is_a_new_snapshot_with_new_coins(tmp_path: Path) -> None:
    path, ledger = write_visits(tmp_path), tmp_path / "visits.ledger"
    with osd.open(path, unit=UNIT, policy=POLICY, budget=2, ledger=ledger) as dataset:
        dataset.sample(1)
    write_visits(tmp_path, seed=2)
    with osd.open(path, unit=UNIT, policy=POLICY, budget=2, ledger=ledger) as dataset:
        release = dataset.sample(1)
        assert dataset.budget.spent == 2
    assert release.receipt["snapshot"] == 2
    assert "snapshot 2" in release.receipt["account"]["coin_key"]


def test_one_sided_counts_are_lower_bounds_of_what_was_counted(table: pa.Table) -> None:
    hidden = sensitive_units(table)
    truth = expected(
        table,
        lambda row: row["day"].isoweekday(),
        lambda row: (row["device"], row["day"]) not in hidden,
    )
    with osd.open(table, unit=UNIT, policy=POLICY, budget=1, rng=osd.seeded(1)) as dataset:
        answer = dataset.count(
            by="weekday(day)", epsilon=1, mechanism="one-sided"
        ).table.to_pydict()
    for day, low in zip(answer["weekday(day)"], answer["at_least"], strict=True):
        assert low <= truth[day]
    assert np.sum(answer["count"]) > 0
