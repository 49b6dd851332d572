"""Sums and means: what is added up, how wide the noise is, what is certain, what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import onesided as osd
from onesided.data import Histogram
from onesided.errors import BudgetError, InputError, ReleaseFailed, RequestError
from onesided.mechanisms.sums import GridTotals, release_mean, release_sum
from onesided.randomness import Randomness, seeded
from support.payments import STEP, open_totals, payments
from support.statistics import CONTROL_FACTOR, agrees, kolmogorov_smirnov_p_value
from support.visits import POLICY, UNIT, rows

EXACT = 1_000_000  # an ε at which the noise is 0, to see what it is added to
BOUND = 25
ASK: dict[str, Any] = {"bound": BOUND, "grid": STEP, "max_groups": 5}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return payments()


def opened(table: pa.Table, seed: int = 1, **options: Any) -> osd.Dataset:
    return osd.open(table, unit=UNIT, policy=POLICY, budget=10 * EXACT, rng=seeded(seed), **options)


@pytest.fixture(scope="module")
def dataset(table: pa.Table) -> Iterator[osd.Dataset]:
    with opened(table) as dataset:
        yield dataset


def by_key(release: osd.Release, figure: str) -> dict[Any, Any]:
    columns = release.table.to_pydict()
    return dict(zip(columns["room"], columns[figure], strict=True))


def clipped(totals: dict[Any, float], bound: float = BOUND) -> float:
    return sum(min(max(total, 0), bound) for total in totals.values())


def test_each_unit_is_clipped_in_each_group(dataset: osd.Dataset, table: pa.Table) -> None:
    release = dataset.sum("paid", by="room", epsilon=EXACT, **ASK, yes=True)
    truth = open_totals(table, lambda row: row["room"], lambda row: row["paid"])
    assert any(total > BOUND for totals in truth.values() for total in totals.values())
    assert by_key(release, "sum") == {room: clipped(totals) for room, totals in truth.items()}


def test_the_noise_is_one_sided_with_the_scale_of_the_bound(table: pa.Table) -> None:
    """Drawn from the same seed, the noise of rate ε/(k·B/w) is what the answer lacks."""
    epsilon = Fraction(1, 2)
    with opened(table, seed=8) as dataset:
        release = dataset.sum("paid", by="room", epsilon=epsilon, domain={"room": ["lab"]}, **ASK)
    truth = open_totals(table, lambda row: row["room"], lambda row: row["paid"])["lab"]
    # A domain of one bin: no unit can touch more than that one.
    rate = epsilon / Fraction(BOUND / STEP)
    lost = int(seeded(8).geometric(rate, 1)[0])
    assert release.table["nonsensitive_at_least"].to_pylist() == [clipped(truth) - lost * STEP]
    assert release.receipt["noise"].startswith(f"one-sided geometric of rate {rate} ")


def test_a_bound_below_is_certain_only_where_values_cannot_be_negative(
    dataset: osd.Dataset, table: pa.Table
) -> None:
    plain = dataset.sum("paid", by="room", epsilon=1, **ASK)
    declared = dataset.sum("paid", by="room", epsilon=1, nonnegative=True, **ASK)
    assert "at_least" not in plain.table.column_names
    everything = dict.fromkeys(by_key(declared, "sum"), 0.0)
    for row in rows(table):
        if row["room"] in everything and row["paid"] is not None:
            everything[row["room"]] += row["paid"]
    for room, least in by_key(declared, "at_least").items():
        assert 0 < least <= everything[room]
    assert [each["confidence"] for each in plain.error["intervals"]] == ["0.95"]
    assert [each["confidence"] for each in declared.error["intervals"]] == ["0.95", "certain"]


def test_whole_numbers_stay_whole(table: pa.Table) -> None:
    with opened(table) as dataset:
        release = dataset.sum("device", by="weekday(day)", bound=500, epsilon=1)
    kinds = {field.name: field.type for field in release.table.schema}
    assert kinds.pop("weekday(day)") == pa.int64()
    assert set(kinds.values()) == {pa.int64()}
    assert len(release.table) == 7
    assert release.receipt["request"]["grid"] == "1"


def test_an_open_domain_lists_what_the_noise_let_through(dataset: osd.Dataset) -> None:
    release = dataset.sum("paid", by="room", epsilon=1, **ASK)
    listed = release.table["room"].to_pylist()
    assert listed == sorted(listed)
    assert "clinic" not in listed
    assert min(release.table["nonsensitive_at_least"].to_pylist()) > 0


def test_a_declared_domain_lists_every_bin(dataset: osd.Dataset) -> None:
    domain = {"room": ["attic", "lab", osd.OTHER]}
    release = dataset.sum("paid", by="room", epsilon=1, domain=domain, **ASK)
    assert release.table["room"].to_pylist() == ["attic", "lab", None]
    assert release.table["sum"].to_pylist()[0] == 0


def test_a_mean_divides_what_was_summed_by_what_was_counted(
    dataset: osd.Dataset, table: pa.Table
) -> None:
    release = dataset.mean("paid", by="room", epsilon=EXACT, **ASK, yes=True)
    truth = open_totals(table, lambda row: row["room"], lambda row: row["paid"])
    means = by_key(release, "mean")
    assert set(means) == set(truth)
    for room, totals in truth.items():
        assert means[room] == pytest.approx(clipped(totals) / len(totals))
    assert by_key(release, "count") == {room: len(totals) for room, totals in truth.items()}
    assert by_key(release, "sum") == {room: clipped(totals) for room, totals in truth.items()}


def test_a_mean_of_rows(dataset: osd.Dataset, table: pa.Table) -> None:
    most = 2
    release = dataset.mean("paid", by="room", epsilon=EXACT, max_rows=most, **ASK, yes=True)
    totals = open_totals(table, lambda row: row["room"], lambda row: row["paid"])
    counts = open_totals(table, lambda row: row["room"], lambda row: 1)
    assert any(n > most for units in counts.values() for n in units.values())
    for room, mean in by_key(release, "mean").items():
        assert mean == pytest.approx(clipped(totals[room]) / clipped(counts[room], most))


def test_a_mean_where_nothing_was_counted_is_null(dataset: osd.Dataset) -> None:
    release = dataset.mean("paid", by="room", epsilon=1, domain={"room": ["attic", "lab"]}, **ASK)
    assert release.table["mean"].to_pylist()[0] is None
    assert release.table["mean"].null_count == 1
    assert release.table["nonsensitive_at_least"].to_pylist()[0] == 0
    assert release.table["nonsensitive_at_most"].to_pylist()[0] == BOUND


def test_losses_are_exact_and_repeating_is_free(table: pa.Table, tmp_path: Path) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY, budget=1, ledger=tmp_path / "l") as dataset:
        first = dataset.sum("paid", by="room", epsilon="1/3", **ASK)
        assert (first.loss, dataset.budget.spent) == (osd.Loss(0, "1/3"), Fraction(1, 3))
        again = dataset.sum("paid", by="room", epsilon="1/3", **ASK)
        assert again.table.equals(first.table)
        assert dataset.budget.spent == Fraction(1, 3)
        mean = dataset.mean("paid", by="room", epsilon="1/3", **ASK)
        assert mean.loss == osd.Loss(0, "1/3")
        assert mean.receipt["kind"] == "mean"
        dataset.sum("paid", by="room", epsilon="1/3", fresh=True, **ASK)
        with pytest.raises(BudgetError):
            dataset.mean("paid", epsilon="0.01", bound=BOUND)
        assert dataset.budget.left == 0


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no bound on groups": ({"by": "room", "bound": 5, "grid": 1}, "max_groups"),
    "text": ({"column": "room", "bound": 5}, "only numbers"),
    "unknown column": ({"column": "price", "bound": 5}, "no column price"),
    "bound 0": ({"bound": 0}, "bound must be greater than 0"),
    "negative bound": ({"bound": -1}, "bound must be greater than 0"),
    "no number": ({"bound": "much"}, "bound must be a finite number"),
    "grid 0": ({"bound": 5, "grid": 0}, "grid must be greater than 0"),
    "uneven grid": ({"bound": 5, "grid": "0.3"}, "whole number of steps"),
    "uneven integers": ({"column": "device", "bound": "2.5"}, "whole number of steps"),
    "too fine for the units": ({"bound": 1, "grid": "1e-15"}, "coarser grid"),
    "too fine for epsilon": ({"bound": 1, "grid": "1e-9", "epsilon": "1e-9"}, "coarser grid"),
    "zero epsilon": ({"bound": 1, "epsilon": 0}, "greater than 0"),
}


@pytest.mark.parametrize("method", ["sum", "mean"])
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_answered_costs_nothing(case: str, method: str, table: pa.Table) -> None:
    question, words = REFUSED[case]
    with opened(table) as dataset:
        with pytest.raises(InputError, match=words):
            getattr(dataset, method)(**{"column": "paid", "epsilon": 1, **question})
        assert dataset.budget.spent == 0


@pytest.mark.parametrize("rows_", [0, -1, True, 1.5])
def test_max_rows_is_a_number_of_rows(rows_: Any, dataset: osd.Dataset) -> None:
    with pytest.raises(RequestError, match="max_rows"):
        dataset.mean("paid", bound=1, epsilon=1, max_rows=rows_)


@pytest.mark.parametrize("key", ["sum", "count", "mean", "at_least"])
def test_a_key_must_not_take_the_name_of_a_figure(key: str) -> None:
    frame = pa.table({key: [1, 2], "paid": [1, 2], "ok": [True, True]})
    with (
        osd.open(frame, policy="NOT ok", budget=1, unit="rows") as dataset,
        pytest.raises(RequestError, match="rename"),
    ):
        dataset.sum("paid", by=key, bound=1, epsilon=1)


def test_values_that_are_no_numbers_add_nothing() -> None:
    frame = pa.table(
        {
            "who": [1, 1, 2, 3, 4, 5],
            "paid": [float("nan"), 2.0, float("inf"), -7.0, None, 3.0],
            "ok": [True] * 6,
        }
    )
    with osd.open(frame, unit="who", policy="NOT ok", budget=3 * EXACT) as dataset:
        total = dataset.sum("paid", bound=10, grid=1, epsilon=EXACT, yes=True)
        assert total.table["sum"].to_pylist() == [5]
        # Unit 4 has no value at all and is not counted.
        mean = dataset.mean("paid", bound=10, grid=1, epsilon=EXACT, yes=True)
        assert mean.table["mean"].to_pylist() == [5 / 4]


def test_a_failure_after_the_charge_says_nothing(
    dataset: osd.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError("room lab paid 17")

    monkeypatch.setattr("onesided.session.questions.sums.release_sum", broken)
    with pytest.raises(ReleaseFailed) as failure:
        dataset.sum("paid", epsilon="0.77", bound=BOUND)
    assert "lab" not in str(failure.value)
    assert failure.value.__cause__ is None


# The law of the noise, and a control with 30 % too little of it.

RUNS = 400


def shortfalls(calibrated: float, rng: Randomness) -> np.ndarray[Any, Any]:
    """What sums of 10⁶ steps lack when at most 40 steps come from a unit, k = 2, at ε = 1."""
    totals = GridTotals(np.full(RUNS, 10**6), ceiling=40, step="1/4", k=2)
    measured = release_sum(totals, Fraction(calibrated), rng, correct=False)
    return np.rint(10**6 - measured.value * 4).astype(np.int64)


def test_the_noise_follows_its_law() -> None:
    law = stats.geom(-np.expm1(-1 / 80), loc=-1)
    assert agrees(kolmogorov_smirnov_p_value(shortfalls(1, seeded(3)), law))
    too_little = shortfalls(float(CONTROL_FACTOR), seeded(3))
    assert not agrees(kolmogorov_smirnov_p_value(too_little, law))


@pytest.mark.parametrize("open_domain", [False, True])
def test_intervals_of_a_mean_cover(open_domain: bool) -> None:
    sums = GridTotals(np.full(RUNS, 6000), ceiling=50, k=2, open_domain=open_domain)
    counts = Histogram(np.full(RUNS, 400), np.full(RUNS, 400), k=2, open_domain=open_domain)
    measured = release_mean(sums, counts, 1, seeded(4))
    (interval,) = measured.intervals
    assert interval.upper is not None
    covered = (interval.lower <= 15) & (interval.upper >= 15)
    assert interval.confidence == pytest.approx(0.9)
    assert np.mean(covered) >= 0.9
    # An interval that always covers would say nothing.
    assert np.mean(interval.upper - interval.lower) < 10


@given(
    st.lists(st.integers(0, 10**6), min_size=1, max_size=6),
    st.integers(1, 1000),
    st.integers(1, 4),
    st.fractions(Fraction(1, 100), 10),
    st.integers(0, 99),
)
def test_a_sum_never_exceeds_what_there_is(
    steps: list[int], ceiling: int, k: int, epsilon: Fraction, seed: int
) -> None:
    totals = GridTotals(np.array(steps), ceiling=ceiling, k=k, open_domain=True)
    measured = release_sum(totals, epsilon, seeded(seed))
    assert measured.keys is not None
    found = np.array(steps)[measured.keys]
    assert np.all(measured.parts["lower"] <= found)
    assert np.all(measured.parts["lower"] >= 1)
    assert np.all(found > 0)
