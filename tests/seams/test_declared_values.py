"""Declared values: refused before the charge or turned exactly, once, for engine and histogram."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import onesided as osd
from onesided.errors import OnesidedError, RequestError
from onesided.language import Field, Key, Schema, Type
from onesided.session.domains import MOST_LISTED, domain_of, read_domain
from onesided.session.grouping import MOST_GROUPS, MOST_KEYS
from onesided.session.values import typed_value

EAST = timezone(timedelta(hours=1))
SCHEMA = Schema.of(
    {
        "i": Type.INTEGER,
        "w": Type.WIDE_INTEGER,
        "f": Type.FLOAT,
        "b": Type.BOOLEAN,
        "t": Type.TEXT,
        "d": Type.DATE,
        "ts": Type.TIMESTAMP,
        "p": Field.decimal(5, 2),
    }
)
TABLE = pa.table(
    {
        "i": pa.array([1, 2, 3], pa.int8()),
        "w": pa.array([1, 2, 2**64 - 1], pa.uint64()),
        "f": [0.5, 1.5, float("nan")],
        "b": [True, False, True],
        "t": ["a", "b", "None"],
        "d": [date(2020, 1, 1)] * 3,
        # Local midnight and the hour before, so that an offset that is not read would be seen.
        "ts": [datetime(2020, 1, 1), datetime(2019, 12, 31, 23), datetime(2019, 12, 31, 23)],
        "p": pa.array([Decimal("1.00")] * 3, pa.decimal128(5, 2)),
    }
)


def opened(**options: Any) -> osd.Dataset:
    return osd.open(TABLE, unit="rows", policy="FALSE", budget=10_000, **options)


def counted(by: str, values: Any) -> list[Any]:
    """The exact counts of a declared domain: at so large an epsilon there is no noise."""
    with opened() as data:
        table = data.count(
            by, epsilon=300, mechanism="laplace", domain={by: values}, yes=True
        ).table
    return list(zip(table.column(by).to_pylist(), table.column("count").to_pylist(), strict=True))


@pytest.mark.parametrize(
    "moment",
    [
        "2020-01-01T00:00:00+01:00",
        " 2019-12-31T23:00:00Z ",
        datetime(2020, 1, 1, tzinfo=EAST),
        pd.Timestamp("2020-01-01", tz="Europe/Berlin"),
        np.datetime64("2019-12-31T23:00"),
        np.datetime64("2019-12-31T23:00:00.000000000"),
        "2019-12-31T23:00:00.0000000",
    ],
)
def test_a_moment_with_an_offset_is_one_moment_for_engine_and_histogram(moment: Any) -> None:
    assert counted("ts", [moment, "*"]) == [(datetime(2019, 12, 31, 23), 2), (None, 1)]


def test_a_part_with_an_offset_is_the_part_in_utc() -> None:
    with osd.open(
        TABLE.append_column("u", pa.array([1, 2, 3])),
        unit=["u", "ts"],
        policy="FALSE",
        budget=10_000,
        partition_by=["ts"],
    ) as data:
        part = {"ts": datetime(2020, 1, 1, tzinfo=EAST)}
        answer = data.count(epsilon=300, mechanism="laplace", part=part, yes=True)
    assert answer.table.column("count").to_pylist() == [2]


@pytest.mark.parametrize("moment", [datetime(2020, 1, 1, tzinfo=EAST), datetime(2019, 12, 31, 23)])
def test_a_parameter_of_a_statement_with_an_offset_is_in_utc(moment: datetime) -> None:
    with opened() as data:
        answer = data.sql(
            "SELECT COUNT(*) AS c FROM data WHERE ts = ?",
            [moment],
            epsilon=300,
            mechanism="laplace",
            yes=True,
        )
    assert answer.table.column("c").to_pylist() == [2]


@pytest.mark.parametrize(
    ("by", "value", "same"),
    [
        ("i", np.int8(3), 3),
        ("i", "300", 300),
        ("w", np.uint64(2**64 - 1), 2**64 - 1),
        ("b", np.bool_(True), True),
        ("b", "False", False),
        ("t", np.str_("a"), "a"),
        ("d", datetime(2020, 1, 1), date(2020, 1, 1)),
        ("d", pd.Timestamp("2020-01-01"), date(2020, 1, 1)),
        ("d", np.datetime64("2020-01-01"), date(2020, 1, 1)),
        ("d", "2020-W01-3", date(2020, 1, 1)),
        ("p", "1", Decimal(1)),
        ("p", 1.5, Decimal("1.5")),
        ("p", Decimal("1.5000000000"), Decimal("1.5")),
    ],
)
def test_scalars_of_other_libraries_mean_what_they_say(by: str, value: Any, same: Any) -> None:
    turned = typed_value(Key.parse(by).bind(SCHEMA), value)
    assert turned == same
    assert type(turned).__module__ in ("builtins", "datetime", "decimal")
    assert counted(by, [value])[0][0] == same


UNFIT: list[tuple[str, Any]] = [
    *(("i", value) for value in (2**63, 2**70, "2" * 5000, 10**5000, True, 1.0, np.float64(1))),
    *(("i", value) for value in (np.bool_(True), None, float("nan"), pd.NA, b"1", [1], "1.0")),
    *(("i", value) for value in (Decimal("1.5"), Decimal("1e999999999"), np.array([1, 2]), "")),
    *(("w", value) for value in (10**38, -(10**38), "x", Decimal("NaN"), Decimal("sNaN"))),
    *(("f", value) for value in (0.5, "0.5", float("nan"))),
    *(("b", value) for value in (1, "yes", np.int64(1), None)),
    *(("t", value) for value in ("\ud800", "a\0b", "x" * 10_001, b"a", 1, None, np.array(["a"]))),
    *(("d", value) for value in ("2020-02-30", datetime(2020, 1, 1, 1), pd.NaT, 20200101)),
    *(("d", value) for value in (np.datetime64("20000-01-01"), np.datetime64("NaT"), "")),
    *(("ts", value) for value in ("2020-01-01T00:00:00.0000001", "2020-01-01T00:00:60", "now")),
    *(("ts", value) for value in (pd.NaT, pd.Timestamp("2020-01-01 00:00:00.000000001"), 0)),
    *(("ts", value) for value in ("0001-01-01T00:00+01:00", datetime(1, 1, 1, tzinfo=EAST))),
    *(("ts", value) for value in (np.datetime64("2020-01-01T00:00:00.000000001"), date.min)),
    ("ts", np.datetime64(2**60, "s")),
    *(("p", value) for value in ("1.005", "1000", "1e400", "NaN", "inf", Decimal("1e-999999999"))),
    *(("p", value) for value in (Decimal("sNaN"), True, None, "one", Decimal("0E+999999999"))),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("by", "value"), UNFIT, ids=[f"{by}-{i}" for i, (by, _) in enumerate(UNFIT)]
)
def test_what_the_key_cannot_hold_is_refused_before_the_charge(by: str, value: Any) -> None:
    with opened() as data:
        with pytest.raises(RequestError, match=f"^(The values of )?{by} "):
            data.count(by, epsilon=1, mechanism="laplace", domain={by: [value]})
        assert data.budget.spent == 0


@pytest.mark.parametrize(
    "values", ["ab", b"ab", {"a": 1}, {"a"}, 5, ["*", "a"], ["a", "*", "*"], ["a", "a"], [], ["*"]]
)
def test_a_domain_is_a_list_of_different_values_and_others_come_last(values: Any) -> None:
    with opened() as data:
        with pytest.raises(RequestError, match=r"domain of t\b"):
            data.count("t", epsilon=1, domain={"t": values})
        assert data.budget.spent == 0


@pytest.mark.parametrize("values", [np.array([1, 3]), pd.Series([1, 3]), (1, 3), iter([1, 3])])
def test_any_ordered_values_will_do(values: Any) -> None:
    assert counted("i", values) == [(1, 1), (3, 1)]


def test_a_value_of_the_engine_that_is_not_listed_is_left_out() -> None:
    """As where two equal texts are not the same bytes; after the charge no value may raise."""
    from onesided.engine.base import Figure
    from onesided.session.domains import Domain, histogram

    keys = pa.table({"t": ["a", "z", None]})
    counts = Figure(np.array([1, 2, 4]), np.array([1, 1, 1]))
    assert histogram(keys, counts, {"t": Domain(("a", "b"))}, 1, None).all.tolist() == [1, 0]
    assert histogram(keys, counts, {"t": Domain(("a",), True)}, 1, None).all.tolist() == [1, 4]


@pytest.mark.parametrize("wanted", [10**9, MOST_GROUPS + 1, 0, -1, True, 1.0, "2"])
def test_the_bound_on_groups_has_a_bound(wanted: Any) -> None:
    table = TABLE.append_column("u", pa.array([1, 1, 2]))
    with osd.open(table, unit="u", policy="FALSE", budget=10) as data:
        with pytest.raises(RequestError, match="max_groups"):
            data.count("t", epsilon=1, max_groups=wanted)
        assert data.budget.spent == 0


def test_the_largest_bound_on_groups_is_answered() -> None:
    table = TABLE.append_column("u", pa.array([1, 1, 2]))
    with osd.open(table, unit="u", policy="FALSE", budget=10) as data:
        open_keys = data.count("t", epsilon=1, max_groups=MOST_GROUPS, mechanism="one-sided")
        listed = data.count("t", epsilon=1, max_groups=MOST_GROUPS, domain={"t": ["a", "b"]})
    assert open_keys.table.num_rows >= 0
    assert listed.table.num_rows == 2


def test_there_are_not_too_many_keys() -> None:
    table = pa.table({f"c{number}": [True] for number in range(70)})
    with osd.open(table, policy="FALSE", budget=10, unit="rows") as data:
        with pytest.raises(RequestError, match="group keys"):
            data.count(list(table.column_names), epsilon=1)
        names = table.column_names[:MOST_KEYS]
        domain = {name: ["true"] for name in names}
        assert data.count(names, epsilon=1, mechanism="laplace", domain=domain).table.num_rows == 1


def test_many_values_are_refused_unless_they_are_consecutive() -> None:
    with opened() as data:
        with pytest.raises(RequestError, match="more than 100,000"):
            data.count("i", epsilon=1, domain={"i": range(0, 3 * MOST_LISTED, 2)})
        with pytest.raises(RequestError, match="more than 20,000,000"):
            data.count("i", epsilon=1, domain={"i": iter(int, 1)})
        with pytest.raises(RequestError, match="longer than 10,000,000"):
            data.count("t", epsilon=1, domain={"t": [f"{n:09999}" for n in range(1_100)]})
        assert data.budget.spent == 0


def test_a_million_consecutive_integers_are_two_comparisons() -> None:
    key = Key.parse("i").bind(SCHEMA)
    domain = domain_of(key, range(-5, 10**6))
    assert domain is not None
    assert domain.is_range
    table = pa.table({"i": [0, 7, 7, 10**6]})
    with osd.open(table, policy="FALSE", unit="rows", budget=1000) as data:
        answer = data.count(
            "i", epsilon=300, mechanism="laplace", domain={"i": range(-5, 10**6)}, yes=True
        )
        request = answer.receipt["request"]
        counts = answer.table.column("count").to_numpy()
    assert request["domain"] == {"i": {"from": "-5", "to": "999999", "others": False}}
    assert counts.sum() == 3
    assert counts[12] == 2


def test_consecutive_integers_with_others() -> None:
    assert counted("i", [2, 3, "*"]) == [(2, 1), (3, 1), (None, 1)]
    assert counted("i", [3, 2]) == [(3, 1), (2, 1)]


@pytest.mark.parametrize(
    ("content", "values"),
    [
        ("a\nb\n", ["a", "b"]),
        ("a\r\nb", ["a", "b"]),
        ("\ufeffa\u2028b\x0bc\x85\n\n", ["a\u2028b\x0bc\x85", ""]),
        ("", []),
    ],
)
def test_a_file_has_one_value_a_line(tmp_path: Path, content: str, values: list[str]) -> None:
    path = tmp_path / "domain.txt"
    path.write_bytes(content.encode())
    assert read_domain(str(path)) == values


def test_a_long_list_of_values_is_no_file() -> None:
    assert len(read_domain(",".join(f"value {number}" for number in range(1_000)))) == 1_000
    assert read_domain("a\0,b") == ["a\0", "b"]


PARAMETERS: list[Any] = [
    *(10**10_000, Decimal("1e999999999"), Decimal("1e-999999999"), float("nan"), 1e300, 5e-324),
    *("\ud800", "\0", "x" * 10_001, b"a", np.int64(1), pd.NaT, pd.Timestamp(1)),
    datetime(1, 1, 1, tzinfo=EAST),
]


@pytest.mark.parametrize("value", PARAMETERS, ids=range(len(PARAMETERS)))
def test_a_parameter_of_a_statement_that_cannot_be_said_is_refused(value: Any) -> None:
    with opened() as data:
        with pytest.raises(OnesidedError) as refused:
            data.sql("SELECT COUNT(*) FROM data WHERE t = ?", [value], epsilon=1)
        assert len(str(refused.value)) < 500
        assert data.budget.spent == 0


def test_numbers_of_numpy_are_numbers_in_a_statement() -> None:
    with opened() as data:
        answer = data.sql(
            "SELECT COUNT(*) AS c FROM data WHERE f = ?",
            [np.float64(0.5)],
            epsilon=300,
            mechanism="laplace",
            yes=True,
        )
    assert answer.table.column("c").to_pylist() == [1]
