"""The cell of a value: the same on every engine, as plain Python counts it."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import pyarrow as pa
import pytest

from onesided.engine.base import CountQuery
from onesided.language import Predicate
from onesided.session.cells import equal_cells, given_cells
from support.engines import Opener

NUMBERS = [-(2**60), -1, 0, 1, 7, 49, 50, 51, 99, 100, 2**60, None]
FLOATS = [
    float("-inf"),
    -0.0,
    0.1,
    0.3,
    49.999,
    50.0,
    99.9,
    1e300,
    float("inf"),
    float("nan"),
    None,
]
DECIMALS = [Decimal("-9.99"), Decimal("0.01"), Decimal("49.99"), Decimal("50.00"), None]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.int64(), NUMBERS),
        (pa.float64(), FLOATS),
        (pa.decimal128(12, 2), DECIMALS),
    ],
    ids=["integer", "float", "decimal"],
)
def test_each_value_is_in_its_cell(opened: Opener, kind: pa.DataType, values: list[object]) -> None:
    table = pa.table({"id": pa.array(range(len(values))), "paid": pa.array(values, kind)})
    engine = opened(table, ["id"])
    try:
        for cells in (
            equal_cells(engine.schema, "paid", (0, 100), 16),
            given_cells(engine.schema, "paid", ["0", "0.01" if kind != pa.int64() else "1", "50"]),
        ):
            query = CountQuery(
                Predicate.parse("id > 3").bind(engine.schema),
                (cells.key(engine.schema),),
                cells.present(engine.schema),
            )
            found = engine.count(query)
            places = [
                min(max(sum(edge <= value for edge in cells.edges) - 1, 0), len(cells) - 1)
                if value == value
                else len(cells) - 1
                for value in values
                if value is not None
            ]
            counted = zip(found.keys.column(0).to_pylist(), found.all.tolist(), strict=True)
            assert dict(counted) == Counter(places)
    finally:
        engine.close()
