"""A policy in Python is given the cells that it reads, and no other one decides anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pytest

import onesided as osd
from onesided.audit.session.hostile import HOSTILE, Hostile

Row = Mapping[str, Any]


def published(table: pa.Table, policy: Callable[[Row], object]) -> list[int]:
    with osd.open(table, policy=policy, budget=80, unit="rows") as data:
        rows = data.sample(40, columns=["id"], yes=True).table
        assert data.count(by=["hidden"], epsilon=40, yes=True).table is not None
    return [int(each) for each in rows.column("id").to_pylist()]


def table_of(plain: pa.Array, cells: list[pa.Array]) -> pa.Table:
    column = pa.chunked_array([*cells, plain])
    ids = list(range(len(column)))
    hidden = [number < len(cells) for number in ids]
    return pa.table({"id": ids, "hidden": hidden, "x": column})


READABLE = [each for each in HOSTILE if each.name not in ("text-view", "bytes")]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("hostile", READABLE, ids=lambda each: each.name)
def test_a_cell_that_is_not_read_decides_nothing(hostile: Hostile) -> None:
    for plain, cells in hostile.columns():
        table = table_of(plain, cells)
        open_ids = list(range(len(cells), len(table)))
        assert published(table, lambda row: row["hidden"]) == open_ids


def swallowing(row: Row) -> bool:
    try:
        return bool(row["x"] is None)
    except Exception:
        return False


FAR = pa.array([2**62, 0, 1]).view(pa.timestamp("us"))
BROKEN = pa.array([b"\xff", b"a", b"b"]).view(pa.string())


@pytest.mark.parametrize("column", [FAR, BROKEN], ids=["moment", "text"])
@pytest.mark.parametrize(
    "policy",
    [
        swallowing,
        lambda row: row["x"] is None,
        lambda row: dict(row)["x"] is None,
        lambda row: row.get("x") is None,
        lambda row: [value for value in row.values() if value is None] != [],
        lambda row: 1 / row["id"] < 0,
        lambda row: row["id"] == 0 or row["nothing"],
    ],
)
def test_a_cell_that_python_cannot_hold_is_sensitive(
    column: pa.Array, policy: Callable[[Row], object]
) -> None:
    table = pa.table({"id": [0, 1, 2], "hidden": [True, False, False], "x": column})
    expected = [] if "nothing" in str(getattr(policy, "__code__", "").co_consts) else [1, 2]
    assert published(table, policy) == expected


def test_a_row_is_a_mapping() -> None:
    seen: list[Any] = []

    def policy(row: Row) -> bool:
        seen.append((list(row), len(row), "id" in row, "no" in row, {**row}))
        return False

    table = pa.table({"id": [5], "hidden": [False], "x": ["a"]})
    assert published(table, policy) == [5]
    whole = {"id": 5, "hidden": False, "x": "a"}
    assert seen == [(["id", "hidden", "x"], 3, True, False, whole)]
