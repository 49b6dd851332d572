"""The numbers of a check are those of plain Python, on every engine."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from onesided.language import Key, Predicate
from onesided.session.checking.counted import Counted
from onesided.session.checking.values import unknown_literals
from support.engines import Opener

ROWS = [("a", "hall", 30), ("a", "lab", 30), ("a", "lab", None), ("b", "hall", 12)]
ROWS += [("c", "lab", 40)] * 37 + [("d", None, 50)]


@pytest.fixture(scope="module")
def table(opened: Opener) -> Iterator[Counted]:
    columns = [pa.array(column) for column in zip(*ROWS, strict=True)]
    engine = opened(pa.table(columns, names=["device", "room", "age"]), ["device"])
    yield Counted(engine)
    engine.close()


def test_rows_and_the_most_rows_of_a_unit(table: Counted) -> None:
    rows = table.rows()
    assert rows == len(ROWS)
    assert table.most_rows(rows) == 37


def test_units_with_a_condition_and_sensitive_ones(table: Counted) -> None:
    assert table.units(Predicate.parse("room = 'lab'").expression) == 2
    assert table.units(Predicate.parse("room = 'attic'").expression) == 0
    policy = Predicate.parse("age < 18").bind(table.engine.schema)
    assert table.sensitive(policy) == 2  # b is 12, and a has a row without an age


def test_values_that_occur(table: Counted) -> None:
    key = Key.parse("room").bind(table.engine.schema)
    assert set(table.values(key).to_pylist()) == {"hall", "lab", None}


def test_a_misspelt_value_is_found_with_the_nearest_one(table: Counted) -> None:
    policy = Predicate.parse("room = 'Lab' OR room IN ('hall', 'halll') OR age <> 31")
    found = [each.text for each in unknown_literals(policy.bind(table.engine.schema), table)]
    assert found == [
        "'Lab' does not occur in room; did you mean 'lab'?",
        "'halll' does not occur in room; did you mean 'hall'?",
        "31 does not occur in age, so it makes no difference.",
    ]
