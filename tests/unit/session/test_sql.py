"""SQL: the same answers as by method, what is free afterwards, public tables, and the cursor."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onesided as osd
from onesided.engine.base import CountQuery
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.errors import BudgetError, InputError, ReleaseFailed, RequestError, SourceError
from onesided.language import Schema, Type
from onesided.randomness import seeded
from onesided.session.public import public_tables
from support.payments import BUILDING, ROOMS, STEP, open_totals, payments
from support.visits import POLICY, UNIT, rows, sensitive_units

EXACT = 100_000  # an ε at which the noise is 0
COUNTS: dict[str, Any] = {"mechanism": "one-sided", "max_groups": 5}
SUMS: dict[str, Any] = {**COUNTS, "bounds": {"paid": 25}, "grid": {"paid": STEP}}

BY_BUILDING = (
    "SELECT building, COUNT(DISTINCT device, day) FROM visits JOIN rooms USING (room) "
    "GROUP BY building"
)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return payments()


def opened(table: pa.Table, seed: int = 1, **options: Any) -> osd.Dataset:
    arguments: dict[str, Any] = {
        "unit": UNIT,
        "policy": POLICY,
        "budget": 100 * EXACT,
        "name": "visits",
        "public": {"rooms": ROOMS},
        "rng": seeded(seed),
    }
    return osd.open(table, **{**arguments, **options})


@pytest.fixture(scope="module")
def dataset(table: pa.Table) -> Iterator[osd.Dataset]:
    with opened(table) as dataset:
        yield dataset


SAME: dict[str, tuple[str, dict[str, Any], str, dict[str, Any]]] = {
    "units": (
        "SELECT room, COUNT(DISTINCT device, day) FROM visits GROUP BY room",
        COUNTS,
        "count",
        {"by": "room", **COUNTS},
    ),
    "filter and derived keys": (
        "SELECT room, hour(ts) AS h, COUNT(DISTINCT (device, day)) FROM visits "
        "WHERE hour(ts) BETWEEN 8 AND 18 GROUP BY room, h",
        COUNTS,
        "count",
        {"by": ["room", "hour(ts)"], "where": "hour(ts) BETWEEN 8 AND 18", **COUNTS},
    ),
    "the usual mechanism": (
        "SELECT weekday(day), COUNT(DISTINCT day, device) FROM data GROUP BY 1",
        {"mechanism": "laplace"},
        "count",
        {"by": "weekday(day)", "mechanism": "laplace"},
    ),
    "a domain by alias": (
        "SELECT room AS r, COUNT(DISTINCT device, day) FROM data GROUP BY r",
        {**COUNTS, "domain": {"r": ["lab", "attic"]}},
        "count",
        {"by": "room", "domain": {"room": ["lab", "attic"]}, **COUNTS},
    ),
    "a total": (
        "SELECT COUNT(DISTINCT device, day) FROM data",
        COUNTS,
        "count",
        COUNTS,
    ),
    "a sum": (
        "SELECT room, SUM(paid) FROM data GROUP BY room",
        {**SUMS, "nonnegative": ["paid"]},
        "sum",
        {
            "column": "paid",
            "by": "room",
            "bound": 25,
            "grid": STEP,
            "max_groups": 5,
            "nonnegative": True,
        },
    ),
    "a mean of rows": (
        "SELECT room, AVG(paid) FROM data GROUP BY room",
        {**SUMS, "max_rows": 3},
        "mean",
        {
            "column": "paid",
            "by": "room",
            "bound": 25,
            "grid": STEP,
            "max_groups": 5,
            "max_rows": 3,
        },
    ),
}


@pytest.mark.parametrize("case", SAME)
def test_a_statement_is_the_question_that_it_asks(case: str, table: pa.Table) -> None:
    """Equal values from equal seeds, and one charge for both on one account."""
    text, options, method, question = SAME[case]
    with opened(table, seed=9) as dataset:
        asked = dataset.sql(text, epsilon="0.5", **options)
    with opened(table, seed=9) as dataset:
        plain = getattr(dataset, method)(epsilon="0.5", **question)
        width = asked.table.num_columns
        values = [column.to_pylist() for column in asked.table.columns]
        assert values == [column.to_pylist() for column in plain.table.columns[:width]]
        assert asked.loss == plain.loss == osd.Loss(plain.loss.sensitive, plain.loss.nonsensitive)
        dataset.sql(text, epsilon="0.5", **options)
        assert dataset.budget.spent == Fraction(1, 2)


def test_rows_are_counted_up_to_a_bound(dataset: osd.Dataset, table: pa.Table) -> None:
    text = "SELECT room, COUNT(*) AS n FROM visits GROUP BY room"
    release = dataset.sql(text, epsilon=EXACT, max_rows=2, **COUNTS, yes=True)
    hidden = sensitive_units(table)
    truth: dict[Any, dict[Any, int]] = {}
    for row in rows(table):
        unit = (row["device"], row["day"])
        if unit not in hidden:
            units = truth.setdefault(row["room"], {})
            units[unit] = units.get(unit, 0) + 1
    assert dict(zip(*release.table.to_pydict().values(), strict=True)) == {
        room: sum(min(n, 2) for n in units.values()) for room, units in truth.items()
    }
    assert release.table.schema.field("n").type == pa.int64()


def test_where_every_row_is_a_unit_counting_rows_is_a_plain_count(table: pa.Table) -> None:
    with opened(table, unit="rows") as dataset:
        text = "SELECT room, COUNT(*), AVG(paid) FROM visits GROUP BY room"
        release = dataset.sql(text, epsilon=2, bounds={"paid": 25}, mechanism="one-sided")
        assert list(release.figures) == ["count(*)", "avg(paid)"]
        dataset.count(by="room", epsilon=1, mechanism="one-sided")
        dataset.mean("paid", by="room", epsilon=1, bound=25)
        assert dataset.budget.spent == 2
        with pytest.raises(RequestError, match=r"COUNT\(\*\)"):
            dataset.sql("SELECT COUNT(DISTINCT device, day) FROM visits", epsilon=1)


def test_several_figures_share_epsilon_evenly(table: pa.Table) -> None:
    text = "SELECT room, COUNT(DISTINCT device, day) u, SUM(paid) s FROM data GROUP BY room"
    with opened(table, budget=1) as dataset:
        release = dataset.sql(text + " HAVING AVG(paid) > 0", epsilon=1, max_rows=3, **SUMS)
        third = osd.Loss(0, "1/3")
        assert [part.loss for part in release.figures.values()] == [third] * 3
        assert (release.loss, dataset.budget.left) == (osd.Loss(0, 1), 0)
        assert release.receipt["account"]["cost"] == "1"
        assert len(release.receipt["account"]["charges"]) == 3
        assert release.receipt["kind"] == "sql"
        assert release.guarantee.startswith("(P, 1)-OSDP")
        again = dataset.sql(text + " HAVING AVG(paid) > 0", epsilon=1, max_rows=3, **SUMS)
        assert again.table.equals(release.table)


def test_a_statement_is_paid_whole_or_not_at_all(table: pa.Table) -> None:
    text = "SELECT COUNT(DISTINCT device, day), SUM(paid) FROM data"
    with opened(table, budget="1.5") as dataset:
        with pytest.raises(BudgetError, match="nothing was spent"):
            dataset.sql(text, epsilon=2, **SUMS)
        assert dataset.budget.spent == 0
        dataset.sql(text, epsilon=1, **SUMS)
        # One half is paid for already, so that the other one fits.
        more = "SELECT COUNT(DISTINCT device, day), SUM(device) FROM data"
        dataset.sql(more, epsilon=1, mechanism="one-sided", bounds={"device": 500})
        assert dataset.budget.left == 0


def test_groups_that_a_figure_did_not_find_have_nothing_in_it() -> None:
    frame = pa.table(
        {"room": ["a", "a", "b"], "paid": [1, 1, None], "ok": [True] * 3},
        schema=pa.schema({"room": pa.string(), "paid": pa.int64(), "ok": pa.bool_()}),
    )
    with osd.open(frame, policy="NOT ok", budget=4 * EXACT, name="visits", unit="rows") as dataset:
        release = dataset.sql(
            "SELECT room, SUM(paid), AVG(paid), COUNT(*) FROM visits GROUP BY room",
            epsilon=4 * EXACT,
            bounds={"paid": 5},
            mechanism="one-sided",
            yes=True,
        )
    assert release.table.to_pydict() == {
        "room": ["a", "b"],
        "sum(paid)": [2, 0],
        "avg(paid)": [1.0, None],
        "count(*)": [2, 1],
    }


def test_having_order_and_limit_are_free(dataset: osd.Dataset) -> None:
    text = "SELECT room AS r, COUNT(DISTINCT device, day) AS n FROM visits GROUP BY room"
    whole = dataset.sql(text, epsilon=1, **COUNTS).table.to_pylist()
    spent = dataset.budget.spent

    def ask(rest: str) -> list[dict[str, Any]]:
        rows_: list[dict[str, Any]] = dataset.sql(
            f"{text} {rest}", epsilon=1, **COUNTS
        ).table.to_pylist()
        return rows_

    middle = sorted(row["n"] for row in whole)[1]
    assert ask(f"HAVING n > {middle}") == [row for row in whole if row["n"] > middle]
    assert ask("HAVING room LIKE '%a%' OR n < 0") == [row for row in whole if "a" in row["r"]]
    assert ask("ORDER BY n DESC") == sorted(whole, key=lambda row: -row["n"])
    assert (
        ask("ORDER BY COUNT(DISTINCT device, day), r LIMIT 2")
        == sorted(whole, key=lambda row: (row["n"], row["r"]))[:2]
    )
    assert ask("ORDER BY 1 DESC LIMIT 0") == []
    assert dataset.budget.spent == spent


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("k", [1, 2, None]),
        ("k DESC", [2, 1, None]),
        ("k NULLS FIRST", [None, 1, 2]),
        ("k DESC NULLS FIRST", [None, 2, 1]),
    ],
)
def test_nulls_stand_where_the_statement_puts_them(order: str, expected: list[Any]) -> None:
    frame = pa.table({"k": [1, 2, None] * 5, "ok": [True] * 15})
    with osd.open(frame, policy="NOT ok", budget=EXACT, name="t", unit="rows") as dataset:
        release = dataset.sql(
            f"SELECT k, COUNT(*) FROM t GROUP BY k ORDER BY {order}",
            epsilon=EXACT,
            mechanism="one-sided",
            yes=True,
        )
    assert release.table["k"].to_pylist() == expected


def test_keys_may_be_left_out_and_columns_stand_in_any_order(dataset: osd.Dataset) -> None:
    text = "SELECT COUNT(DISTINCT device, day) AS n FROM visits GROUP BY room ORDER BY room"
    release = dataset.sql(text, epsilon=1, **COUNTS)
    assert release.table.column_names == ["n"]
    assert len(release.table) == 4


def test_a_public_table_adds_columns_and_no_rows(dataset: osd.Dataset, table: pa.Table) -> None:
    release = dataset.sql(
        "SELECT building, SUM(paid) FROM visits JOIN rooms USING (room) GROUP BY building",
        epsilon=EXACT,
        **SUMS,
        yes=True,
    )
    truth = open_totals(table, lambda row: BUILDING.get(row["room"]), lambda row: row["paid"])
    # The office is not in the public table, so its rows are dropped, as an inner join does.
    truth.pop(None)
    assert dict(zip(*release.table.to_pydict().values(), strict=True)) == {
        building: sum(min(total, 25) for total in totals.values())
        for building, totals in truth.items()
    }
    assert release.receipt["figures"]["sum(paid)"]["request"]["join"][0]["table"] == "rooms"


def test_sensitivity_is_taken_before_the_join(table: pa.Table) -> None:
    """A unit is sensitive for its visit to the clinic though the join drops the clinic's rows."""
    halls = pa.table({"room": ["hall"], "kind": ["large"]})
    with opened(table, public={"halls": halls}) as dataset:
        release = dataset.sql(
            "SELECT kind, COUNT(DISTINCT device, day) FROM visits v JOIN halls h "
            "ON h.room = v.room GROUP BY kind",
            epsilon=EXACT,
            **COUNTS,
            yes=True,
        )
    hidden = sensitive_units(table)
    inside = {(row["device"], row["day"]) for row in rows(table) if row["room"] == "hall"}
    assert release.table.to_pylist()[0]["count(DISTINCT device, day)"] == len(inside - hidden)
    assert inside & hidden


def test_public_columns_that_the_unit_determines_need_no_bound(table: pa.Table) -> None:
    devices = pa.table(
        {"device": pa.array(range(200), pa.int64()), "kind": [n % 3 for n in range(200)]}
    )
    with opened(table, public={"devices": devices}) as dataset:
        release = dataset.sql(
            "SELECT kind, COUNT(DISTINCT device, day) FROM visits JOIN devices USING (device) "
            "GROUP BY kind",
            epsilon=1,
            mechanism="one-sided",
        )
        assert release.table["kind"].to_pylist() == [0, 1, 2]
        with pytest.raises(RequestError, match="max_groups"):
            dataset.sql(
                "SELECT room, kind, COUNT(DISTINCT device, day) FROM visits "
                "JOIN devices USING (device) GROUP BY room, kind",
                epsilon=1,
            )


def test_another_public_table_is_another_question(table: pa.Table, tmp_path: Path) -> None:
    moved = ROOMS.set_column(1, "building", pa.array(["A", "B", "B", "A", None]))
    for rooms, spent in ((ROOMS, 1), (ROOMS, 1), (moved, 2)):
        with opened(table, public={"rooms": rooms}, ledger=tmp_path / "ledger") as dataset:
            dataset.sql(BY_BUILDING, epsilon=1, **COUNTS)
            assert dataset.budget.spent == spent


def test_public_tables_come_from_files_too(table: pa.Table, tmp_path: Path) -> None:
    pq.write_table(ROOMS, tmp_path / "rooms.parquet")
    (tmp_path / "floors.csv").write_text("room,floor\nlab,1\nhall,0\n")
    files = {"rooms": tmp_path / "rooms.parquet", "floors": str(tmp_path / "floors.csv")}
    with opened(table, public=files) as dataset:
        release = dataset.sql(
            "SELECT floor, building, COUNT(DISTINCT device, day) FROM visits "
            "JOIN rooms USING (room) JOIN floors f ON f.room = visits.room "
            "WHERE seats > 10 GROUP BY floor, building",
            epsilon=1,
            **COUNTS,
        )
    assert release.table.select(["floor", "building"]).to_pylist() == [
        {"floor": 0, "building": "B"},
        {"floor": 1, "building": "B"},
    ]


def test_a_policy_in_python_sees_the_rows_before_a_join(table: pa.Table) -> None:
    def sensitive(row: Any) -> bool:
        return row["room"] == "clinic" or row["consent"] is not True

    answers = []
    for policy in (POLICY, sensitive):
        with opened(table, policy=policy) as dataset:
            answers.append(dataset.sql(BY_BUILDING, epsilon=1, **COUNTS).table)
    assert answers[0].equals(answers[1])


@pytest.mark.parametrize(
    ("public", "words"),
    [
        ({"visits": ROOMS}, "name of its own"),
        ({"data": ROOMS}, "name of its own"),
        ({"rooms": ROOMS, "Rooms": ROOMS}, "name of its own"),
        ({"": ROOMS}, "name of its own"),
        ({"rooms": "nowhere.parquet"}, "no file"),
        ({"rooms": 7}, "pandas, Polars or Arrow"),
    ],
)
def test_public_tables_are_checked_when_the_data_are_opened(
    public: dict[str, Any], words: str, table: pa.Table
) -> None:
    with pytest.raises(SourceError, match=words):
        opened(table, public=public)


def test_a_public_table_that_no_engine_holds_must_be_small() -> None:
    engine: Any = SimpleNamespace(schema=Schema.of({"room": Type.TEXT}))
    rooms = pa.table({"room": [str(number) for number in range(1001)]})
    assert public_tables(engine, {"rooms": rooms.slice(1)}, "visits")["rooms"].relation is None
    with pytest.raises(SourceError, match="1,000 rows"):
        public_tables(engine, {"rooms": rooms}, "visits")


def test_a_public_name_must_not_hide_a_column(table: pa.Table) -> None:
    clash = table.append_column("rooms.seats", pa.array([1] * len(table)))
    with pytest.raises(SourceError, match="rename"):
        opened(clash)


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "rows without a bound": ("SELECT COUNT(*) FROM visits", {}, "max_rows"),
    "mean of rows without a bound": ("SELECT AVG(paid) FROM visits", SUMS, "max_rows"),
    "rows below one": ("SELECT COUNT(*) FROM visits", {"max_rows": 0}, "max_rows"),
    "bound of another column": (
        "SELECT SUM(paid) FROM visits",
        {"bounds": {"x": 1}},
        "no column x",
    ),
    "two columns": ("SELECT COUNT(DISTINCT device, room) FROM visits", {}, "key is device, day"),
    "another column": ("SELECT COUNT(DISTINCT room) FROM visits", {}, "max_values"),
    "groups without a bound": (
        "SELECT room, COUNT(DISTINCT device, day) FROM visits GROUP BY room",
        {},
        "max_groups",
    ),
    "mechanism": (
        "SELECT COUNT(DISTINCT device, day) FROM visits",
        {"mechanism": "magic"},
        "mechanism",
    ),
    "a domain that is no key's": (
        "SELECT COUNT(DISTINCT device, day) FROM visits",
        {"domain": {"room": ["lab"]}},
        "no group key",
    ),
    "types in where": ("SELECT COUNT(DISTINCT device, day) FROM data WHERE room > 5", {}, "mixes"),
    "types in having": (
        "SELECT COUNT(DISTINCT device, day) n FROM data HAVING n = 'many'",
        {},
        "cannot be computed",
    ),
    "an ambiguous key": (
        "SELECT COUNT(DISTINCT device, day) FROM data d JOIN rooms r ON d.room = r.building",
        {},
        "same building",
    ),
    "a join of unlike types": (
        "SELECT COUNT(DISTINCT device, day) FROM data d JOIN rooms r ON d.device = r.room",
        {},
        "one type",
    ),
    "another table": ("SELECT COUNT(*) FROM elsewhere", {}, "called visits"),
    "a subquery": ("SELECT COUNT(*) FROM (SELECT * FROM elsewhere)", {}, "called visits"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_answered_costs_nothing(case: str, table: pa.Table) -> None:
    text, options, words = REFUSED[case]
    with opened(table) as dataset:
        with pytest.raises(InputError, match=words):
            dataset.sql(text, epsilon=1, **options)
        assert dataset.budget.spent == 0


def test_a_key_may_have_the_name_of_a_figure() -> None:
    frame = pa.table({"count(*)": [1, 2, 2], "ok": [True, True, True]})
    with osd.open(frame, policy="NOT ok", budget=EXACT, name="t", unit="rows") as dataset:
        asked = 'SELECT "count(*)" AS k, COUNT(*) FROM t GROUP BY k'
        answer = dataset.sql(asked, epsilon=EXACT, mechanism="one-sided", yes=True)
    assert answer.table.to_pydict() == {"k": [1, 2], "count(*)": [1, 2]}


def test_functions_of_keys_mean_what_they_mean_in_policies(dataset: osd.Dataset) -> None:
    asked = (
        "SELECT day, weekday(day) AS w, bucket(month(day), 5) AS b, date_trunc('week', day) AS s "
        "FROM visits GROUP BY day HAVING weekday(day) < 7 AND bucket(day(day) - 20, 7) < 8"
    )
    table = dataset.sql(asked, epsilon=EXACT, **COUNTS, yes=True).table
    assert table.num_rows
    for row in table.to_pylist():
        day = row["day"]
        assert row["w"] == day.isoweekday() < 7
        assert row["b"] == day.month // 5 * 5
        assert row["s"].isoweekday() == 1
        assert (day.day - 20) // 7 * 7 < 8


SPREADS = "VAR_POP(x) AS a, VARIANCE(x) AS b, STDDEV_POP(x) AS c, STDDEV(x) AS d"


def test_variances_are_those_of_non_sensitive_rows() -> None:
    rows = pa.table(
        {
            "x": [(7919 * number) % 101 / 4 for number in range(600)],
            "g": [number % 3 for number in range(600)],
            "ok": [number % 2 == 0 for number in range(600)],
        }
    )
    asked = f"SELECT g, {SPREADS} FROM t{{}} GROUP BY g ORDER BY g"
    with osd.open(
        rows, policy="NOT ok", budget=10**9, name="t", unit="rows", rng=seeded(1)
    ) as dataset:
        plain = duckdb.from_arrow(rows).query("t", asked.format(" WHERE ok")).fetchall()
        with pytest.raises(RequestError, match="between which numbers x lies"):
            dataset.sql(asked.format(""), epsilon=1)
        answer = dataset.sql(asked.format(""), epsilon=10**6, bounds={"x": (0, 26)}, yes=True)
        for found, expected in zip(answer.table.to_pylist(), plain, strict=True):
            assert list(found.values()) == pytest.approx(expected, rel=1e-4)
        noisy = dataset.sql(
            f"SELECT {SPREADS} FROM t WHERE x = 3", epsilon="0.1", bounds={"x": (0, 26)}
        )
        (row,) = noisy.table.to_pylist()
        assert all(value is None or value >= 0 for value in row.values())


def test_a_failure_after_the_charge_says_nothing(
    table: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: DuckDBEngine, query: CountQuery) -> None:
        raise ValueError("clinic: 17")

    monkeypatch.setattr(DuckDBEngine, "count", broken)
    with opened(table) as dataset:
        with pytest.raises(ReleaseFailed) as failure:
            dataset.sql("SELECT COUNT(DISTINCT device, day) FROM data", epsilon=1, **COUNTS)
        assert "clinic" not in str(failure.value)
        assert dataset.budget.spent == 1


def test_answers_can_be_plotted(dataset: osd.Dataset) -> None:
    pytest.importorskip("altair")
    text = "SELECT COUNT(DISTINCT device, day) AS n, room AS r FROM visits GROUP BY room"
    release = dataset.sql(text, epsilon=1, **COUNTS)
    chart = release.plot().to_dict()
    assert "count of units, each in at most" in release.receipt.figure
    assert release.receipt.figure in str(chart)


@given(
    st.lists(st.sampled_from(["room", "hour(ts)", "weekday(day)"]), unique=True, max_size=2),
    st.sampled_from([None, "consent", "room IN ('lab', 'hall')", "hour(ts) < 12"]),
    st.integers(1, 3),
    st.integers(0, 50),
)
@settings(max_examples=15)
def test_random_statements_equal_the_counts_they_stand_for(
    by: list[str], where: str | None, most: int, seed: int
) -> None:
    table = payments(devices=20)
    listed = ", ".join([*by, "COUNT(DISTINCT device, day)"])
    text = f"SELECT {listed} FROM data"
    text += "" if where is None else f" WHERE {where}"
    text += f" GROUP BY {', '.join(by)}" if by else ""
    options: dict[str, Any] = {"epsilon": 1, "mechanism": "one-sided", "max_groups": most}
    with opened(table, seed=seed) as dataset:
        asked = dataset.sql(text, **options).table
    with opened(table, seed=seed) as dataset:
        plain = dataset.count(by=by, where=where, **options).table
    width = asked.num_columns
    assert [column.to_pylist() for column in asked.columns] == [
        column.to_pylist() for column in plain.columns[:width]
    ]


WINDOWS = [
    "SELECT room, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS whole FROM visits GROUP BY room",
    "SELECT room, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY room",
    "SELECT room, RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM visits GROUP BY room "
    "ORDER BY RANK() OVER (ORDER BY COUNT(*) DESC), room LIMIT 3",
    "SELECT day, COUNT(*) - LAG(COUNT(*), 1, 0) OVER (ORDER BY day) AS more FROM visits "
    "GROUP BY day",
    "SELECT room, COUNT(*) AS n FROM visits GROUP BY room HAVING COUNT(*) > 2 "
    "QUALIFY row_number() OVER (ORDER BY n DESC, room) <= 2",
    "SELECT day, AVG(COUNT(*)) OVER (ORDER BY day ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS m "
    "FROM visits GROUP BY day",
    "SELECT room, hour(ts) AS h, FIRST_VALUE(COUNT(*)) OVER (PARTITION BY room ORDER BY hour(ts)) "
    "AS first, COUNT(*) OVER (PARTITION BY room) AS hours FROM visits GROUP BY room, h",
    "SELECT room, NTILE(2) OVER (ORDER BY COUNT(*), room) AS half FROM visits GROUP BY room",
]


@pytest.mark.parametrize("text", WINDOWS)
def test_windows_over_groups_are_free_and_as_plain_sql(text: str, table: pa.Table) -> None:
    with opened(table, unit="rows", policy="FALSE", budget=10**7) as dataset:
        release = dataset.sql(text, epsilon=10**6, mechanism="one-sided", yes=True)
        assert list(release.figures) == ["count(*)"]
        with duckdb.connect() as plain:
            plain.register("visits", table)
            expected = plain.sql(text).fetchall()
        # An hour is a domain of its own: hours in which nobody was are listed as well.
        found = [tuple(row.values()) for row in release.table.to_pylist()]
        if "hour(" not in text:
            assert sorted(found, key=repr) == sorted(expected, key=repr)
        else:
            assert {each[:3] for each in expected if each[2] == 0} <= {each[:3] for each in found}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT COUNT(*) OVER (PARTITION BY room) FROM visits", "GROUP BY"),
        ("SELECT SUM(paid) OVER () FROM visits", "GROUP BY"),
        ("SELECT room, LAG(paid) OVER (ORDER BY ts) FROM visits GROUP BY room", "GROUP BY"),
        ("SELECT room, NTILE(0) OVER (ORDER BY room) FROM visits GROUP BY room", "from 1 on"),
        ("SELECT room, COUNT(*) FROM visits GROUP BY room QUALIFY 1 = 1", "HAVING"),
        ("SELECT DISTINCT room, RANK() OVER (ORDER BY room) FROM visits", "use GROUP BY"),
    ],
)
def test_windows_over_the_rows_of_the_data_are_refused(
    text: str, said: str, table: pa.Table
) -> None:
    with opened(table, unit="rows") as dataset:
        with pytest.raises(InputError, match=said):
            dataset.sql(text, epsilon=1)
        assert dataset.budget.spent == 0
