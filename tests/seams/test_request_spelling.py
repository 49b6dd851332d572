"""Different requests have different fingerprints, and old ones keep the one that they had."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import onesided as osd
from onesided.errors import RequestError
from onesided.session.grouping import spelled_parameters

TABLE = pa.table(
    {
        "t": ["a", "b", "None"],
        "i": [1, 2, 3],
        "b": [True, False, True],
        "d": [date(2020, 1, 1)] * 3,
        "ts": [datetime(2020, 1, 1)] * 3,
        "p": pa.array([Decimal("1.00")] * 3, pa.decimal128(5, 2)),
    }
)


def request(**question: Any) -> Any:
    with osd.open(TABLE, policy="FALSE", unit="rows", budget=10) as data:
        return data.count(epsilon=1, mechanism="laplace", **question).receipt["request"]


def domain(by: str, values: list[Any]) -> Any:
    return request(by=by, domain={by: values})["domain"][by]


def test_none_and_the_catch_all_are_two_domains(tmp_path: Path) -> None:
    """The second one got the table of the first."""
    ledger = tmp_path / "one.ledger"
    with osd.open(TABLE, policy="FALSE", unit="rows", budget=10_000, ledger=ledger) as data:
        tables = [
            data.count("t", epsilon=300, mechanism="laplace", domain={"t": values}, yes=True).table
            for values in (["a", "None"], ["a", "*"])
        ]
        assert [table.column("t").to_pylist() for table in tables] == [["a", "None"], ["a", None]]
        assert [table.column("count").to_pylist() for table in tables] == [[1, 1], [1, 2]]
        assert data.budget.spent == 600


@pytest.mark.parametrize(
    ("by", "values", "spelled"),
    [
        ("t", ["a", "b"], ["a", "b"]),
        ("t", ["None", "a"], ["None", "a"]),
        ("i", [1, "2"], ["1", "2"]),
        ("i", [3, "*"], ["3", "None"]),
        ("b", ["true", False], ["True", "False"]),
        ("d", [date(2020, 1, 1), "*"], ["2020-01-01", "None"]),
        ("ts", [datetime(2020, 1, 1)], ["2020-01-01 00:00:00"]),
        ("p", ["1.50", "2", "*"], ["1.50", "2", "None"]),
        ("hour(ts)", [1, 2], ["1", "2"]),
    ],
)
def test_what_was_never_ambiguous_is_spelt_as_ever(
    by: str, values: list[Any], spelled: list[str]
) -> None:
    assert domain(by, values) == spelled


def test_what_was_ambiguous_is_spelt_anew() -> None:
    """Neither is ["a", "None"], which an older ledger may hold for either of them."""
    assert domain("t", ["a", "*"]) == ["a", None]
    assert domain("t", ["a", "None"]) == ["a", {"text": "None"}]
    assert domain("t", ["None", "*"]) == ["None", None]
    assert domain("t", ["*a", "null", "{'text': 'None'}"]) == ["*a", "null", "{'text': 'None'}"]


def test_a_key_and_a_column_of_its_name_are_not_confused() -> None:
    """Both were called hour(ts) in a request."""
    table = TABLE.append_column("hour(ts)", pa.array([5, 6, 7]))
    with osd.open(table, policy="FALSE", unit="rows", budget=1000) as data:
        with pytest.raises(RequestError, match="A column is called"):
            data.count("hour(ts)", epsilon=1)
        own = data.count(
            '"hour(ts)"', epsilon=300, mechanism="laplace", domain={'"hour(ts)"': [5]}, yes=True
        )
    assert own.table.column("count").to_pylist() == [1]


def test_a_text_that_looks_like_a_truth_value_is_no_truth_value() -> None:
    assert spelled_parameters({"clip": False}) == {"clip": "False"}
    assert spelled_parameters({"clip": "False"}) == {"clip": {"text": "False"}}
    assert spelled_parameters({"share": "1/2", "merge": 8}) == {"merge": "8", "share": "1/2"}
