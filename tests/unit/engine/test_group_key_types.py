"""Keys that engines spell differently are refused before anything is paid."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

import onesided as osd
from onesided.errors import RequestError

TABLE = pa.table(
    {
        "unit": [1, 1, 2],
        "price": pa.array([Decimal("1.50")] * 3, pa.decimal128(5, 2)),
        "share": [0.5, 0.25, 0.5],
    }
)


@pytest.mark.parametrize("key", ["price", "coalesce(price, 1)"])
def test_a_bound_on_groups_needs_keys_that_are_spelt_alike(key: str) -> None:
    with osd.open(TABLE, unit="unit", policy="FALSE", budget=5) as data:
        with pytest.raises(RequestError, match="spelt in one way"):
            data.count(key, epsilon=1, max_groups=1)
        assert data.budget.spent == 0


@pytest.mark.parametrize("key", ["price", "share"])
def test_without_a_bound_they_are_keys_like_others(key: str) -> None:
    with osd.open(TABLE, policy="FALSE", budget=100, unit="rows") as data:
        counted = data.count(key, epsilon=50, mechanism="one-sided", yes=True).table
    assert counted.column("count").to_pylist() == ([3] if key == "price" else [1, 2])


def test_floats_are_keys_that_units_are_cut_by() -> None:
    with osd.open(TABLE, unit="unit", policy="FALSE", budget=100) as data:
        counted = data.count(
            "share", epsilon=50, max_groups=1, mechanism="one-sided", yes=True
        ).table
    # One unit has both, and counts in one.
    assert sum(counted.column("count").to_pylist()) == 2
