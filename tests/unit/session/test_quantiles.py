"""Quantiles: cells, ties, NULL, intervals, what is free, what is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import onesided as osd
from onesided.errors import OnesidedError

EXACT = 1_000_000
AT = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]


def table(values: Any, *, rooms: Any = None, sensitive: Any = None) -> pa.Table:
    many = len(values)
    return pa.table(
        {
            "id": np.arange(many),
            "paid": values,
            "room": ["hall"] * many if rooms is None else rooms,
            "secret": np.arange(many) % 3 == 0 if sensitive is None else sensitive,
        }
    )


def opened(data: pa.Table, seed: int = 1, *, unit: str = "rows", **options: Any) -> osd.Dataset:
    return osd.open(
        data, unit=unit, policy="secret", budget=10 * EXACT, rng=osd.seeded(seed), **options
    )


def values_of(release: osd.Release) -> list[Any]:
    return list(release.table["value"].to_pylist())


def quantile_of(values: list[Any], at: float) -> Any:
    ordered = sorted(values)
    return ordered[max(int(np.ceil(at * len(ordered) - 1e-9)) - 1, 0)]


@pytest.mark.parametrize("sensitive", [False, True])
def test_ties_and_whole_numbers_come_out_as_they_are(sensitive: bool) -> None:
    values = [3] * 50 + [7] * 30 + [8] + [90] * 19
    with opened(table(values, sensitive=[sensitive] * 100)) as data:
        release = data.quantile("paid", AT, bounds=(0, 99), epsilon=EXACT, yes=True)
        truth = [quantile_of(values, at) for at in AT]
        assert values_of(release) == truth
        assert release.table["at_least"].to_pylist() == truth
        assert release.table["at_most"].to_pylist() == truth


def test_each_value_of_a_decimal_has_a_cell() -> None:
    values = pa.array([Decimal("1.25"), Decimal("1.50"), Decimal("1.75")], pa.decimal128(9, 2))
    with opened(table(values)) as data:
        release = data.quantile("paid", [0.5], bounds=(0, 5), epsilon=EXACT, yes=True)
        assert values_of(release) == [1.5]


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.decimal128(38, 15)])
def test_without_noise_quantiles_are_right_to_one_cell(kind: pa.DataType) -> None:
    drawn = np.random.default_rng(3).integers(-500, 40_000, 900)
    values = pa.array(drawn.tolist(), pa.int64()).cast(kind)
    with opened(table(values)) as data:
        asked: dict[str, Any] = {"bounds": (0, 30_000), "epsilon": EXACT, "yes": True}
        release = data.quantile("paid", AT, **asked)
        for found, at in zip(values_of(release), AT, strict=True):
            truth = min(max(quantile_of(drawn.tolist(), at), 0), 30_000)
            assert abs(found - truth) <= 30


def test_null_is_left_out_and_a_group_without_units_has_no_value() -> None:
    values = pa.array([None, 5, None, 5, 5, None], pa.int64())
    with opened(table(values, rooms=["a", "a", "a", "b", "b", "c"])) as data:
        release = data.quantile(
            "paid",
            0.5,
            "room",
            bounds=(0, 9),
            epsilon=EXACT,
            domain={"room": ["a", "b", "c"]},
            yes=True,
        )
        assert release.table["room"].to_pylist() == ["a", "b", "c"]
        assert values_of(release) == [5, 5, None]


def test_groups_are_found_where_somebody_is_not_sensitive_in_them() -> None:
    rooms = pa.array(["a"] * 40 + [None] * 40 + ["b"] * 40 + ["hiv"] * 40)
    sensitive = [False] * 120 + [True] * 40
    values = [*[3] * 40, *[5] * 40, *[7] * 40, *[9] * 40]
    with opened(table(values, rooms=rooms, sensitive=sensitive)) as data:
        release = data.quantile("paid", 0.5, "room", bounds=(0, 9), epsilon=EXACT, yes=True)
        assert release.table["room"].to_pylist() == [None, "a", "b"]
        assert values_of(release) == [5, 3, 7]
        assert release.receipt["noise"].startswith("for the groups, one-sided geometric")
        assert release.loss.epsilon == EXACT
        weak = data.quantile("paid", 0.5, "room", bounds=(0, 9), epsilon=0.001)
        assert set(weak.table["room"].to_pylist()) <= {None, "a", "b"}
        nobody = data.quantile(
            "paid", 0.5, "room", where="secret", bounds=(0, 9), epsilon=EXACT, yes=True
        )
        assert len(nobody.table) == len(nobody.cells) == 0
        assert nobody.between(0, 9).num_rows == 0


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("epsilon", [0.01, 1])
def test_higher_quantiles_are_never_lower(share: float, epsilon: float) -> None:
    dice = np.random.default_rng(5)
    data = table(dice.exponential(20, 400), sensitive=dice.random(400) < share)
    at = np.linspace(0, 1, 41)
    for seed in range(2):
        with opened(data, seed) as dataset:
            release = dataset.quantile("paid", at.tolist(), bounds=(0, 100), epsilon=epsilon)
            found = release.table
            for name in ("value", "at_least", "at_most"):
                column = found[name].to_numpy()
                assert found[name].null_count in (0, len(found))
                assert found[name].null_count or np.all(np.diff(column) >= 0)


@pytest.mark.parametrize("share", [0.02, 0.5, 0.95])
def test_intervals_hold_the_true_quantile(share: float) -> None:
    dice = np.random.default_rng(7)
    values = dice.integers(0, 300, 2_000)
    # Sensitive units have other values than the others.
    order = np.argsort(values + dice.normal(0, 40, 2_000))
    sensitive = np.zeros(2_000, dtype=bool)
    sensitive[order[: int(share * 2_000)]] = True
    data = table(values, sensitive=sensitive)
    truth = np.array([quantile_of(values.tolist(), at) for at in AT[1:-1]])
    missed, runs = 0, 8
    for seed in range(runs):
        with opened(data, seed) as dataset:
            found = dataset.quantile("paid", AT[1:-1], bounds=(0, 299), epsilon=0.5).table
            low, high = found["at_least"].to_numpy(), found["at_most"].to_numpy()
            missed += int(np.sum((truth < low) | (truth > high)))
    assert missed <= 0.05 * runs * len(truth)


def test_other_quantiles_and_ranges_are_free() -> None:
    with opened(table(list(range(100)))) as data:
        asked: dict[str, Any] = {"bounds": (0, 99), "epsilon": EXACT, "yes": True}
        release = data.quantile("paid", [0.5], **asked)
        left = data.budget.left
        assert values_of(data.quantile("paid", [0.25], **asked)) == [24]
        assert release.at(0.75)["value"].to_pylist() == [74]
        (row,) = release.between(10, 20).to_pylist()
        assert (row["from"], row["to"]) == (10, 20)
        assert row["count"] == pytest.approx(10)
        assert row["at_least"] == row["at_most"] == 10
        assert data.budget.left == left


def test_a_release_costs_its_epsilon_and_says_how_cells_were_counted() -> None:
    for sensitive, mechanism in ((False, "ranks"), (True, "ranks-of-all")):
        with opened(table(list(range(900)), sensitive=[sensitive] * 900)) as data:
            release = data.quantile("paid", bounds=(0, 899), epsilon=9)
            assert release.loss.epsilon == 9
            assert data.budget.spent == 9
            assert release.receipt["kind"] == "quantile"
            assert release.receipt["mechanism"] == mechanism
            assert release.receipt["noise"].startswith("for a look, one-sided geometric")


def test_a_unit_of_many_rows_counts_once_in_each_of_its_cells() -> None:
    data = pa.table({"id": [1, 1, 1, 2, 2], "paid": [4, 4, 9, 9, 9], "secret": [False] * 5})
    asked: dict[str, Any] = {"bounds": (0, 9), "epsilon": EXACT, "yes": True}
    with opened(data, unit="id") as dataset:
        with pytest.raises(OnesidedError, match="max_groups"):
            dataset.quantile("paid", **asked)
        release = dataset.quantile("paid", max_groups=2, **asked)
        assert release.between(0, 5)["count"].to_pylist() == [pytest.approx(1)]
        assert release.between(5, 10)["count"].to_pylist() == [pytest.approx(2)]
        one = dataset.quantile("paid", max_groups=1, **asked)
        assert one.between(0, 10)["count"].to_pylist() == [pytest.approx(2)]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"bounds": (5, 5)}, "below"),
        ({"bounds": (0, "many")}, "paid"),
        ({"bounds": (0, 9, 10)}, "two numbers"),
        ({"bounds": (0, 9), "cells": 1}, "cells"),
        ({"bounds": (0, 9), "at": 1.5}, "from 0 to 1"),
        ({"bounds": (0, 9), "at": []}, "at least one"),
        ({"bounds": (0, 9), "column": "room"}, "only numbers"),
        ({"bounds": (0, 9), "max_groups": 0}, None),
    ],
)
def test_what_cannot_be_asked_is_refused_for_free(asked: dict[str, Any], said: str | None) -> None:
    with opened(table([1, 2, 3])) as data:
        call = {"column": "paid", "epsilon": 1, **asked}
        with pytest.raises(OnesidedError, match=said):
            data.quantile(**call)
        assert not data.account_opened


def test_a_plan_says_the_error_of_the_rank_and_the_price() -> None:
    with opened(table(list(range(900)))) as data:
        plan = data.plan.quantile("paid", bounds=(0, 899), epsilon=1)
        (row,) = plan.rows
        assert row.mechanism == "ranks"
        assert row.error is not None
        assert row.error > 0
        assert plan.cost == 1
        assert data.budget.spent == 0
        found = data.plan.quantile("paid", bounds=(0, 899), error=row.error).rows[0].epsilon
        assert found == pytest.approx(1, rel=0.01)


def test_quantiles_are_one_of_several_questions() -> None:
    with opened(table(list(range(100)))) as data:
        asked = [
            {"ask": "quantile", "name": "middle", "column": "paid", "bounds": (0, 99), "at": 0.5},
            {"ask": "count", "name": "rows"},
        ]
        answers = data.run(asked, epsilon=EXACT, yes=True)
        assert values_of(answers["middle"]) == [49]
        assert answers.loss.epsilon == EXACT


def test_a_histogram_counts_between_its_edges() -> None:
    with opened(table([-5, 0, 1, 9, 10, 49, 50, 99, None])) as data:
        edges = [0, 10, 50, 60]
        release = data.histogram("paid", edges, epsilon=EXACT, yes=True)
        found = release.table
        assert found["from"].to_pylist() == [0, 10, 50]
        assert found["to"].to_pylist() == [10, 50, 60]
        assert found["count"].to_pylist() == pytest.approx([4, 2, 2])
        for name in ("at_least", "at_most"):
            assert found[name].to_pylist() == [4, 2, 2]
        names = [each["name"] for each in release.receipt["columns"]]
        assert names == found.column_names
        assert release.between(0, 50)["count"].to_pylist() == [pytest.approx(6)]
        with pytest.raises(OnesidedError, match="rise"):
            data.histogram("paid", [0, 10, 10], epsilon=1)
        with pytest.raises(OnesidedError, match="edges is a list"):
            data.histogram("paid", [0], epsilon=1)
