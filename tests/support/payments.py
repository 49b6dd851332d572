"""Visits with what was paid, and a public table of rooms: for sums, means and SQL."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from onesided.randomness import seeded
from support.visits import rows, sensitive_units, visits

STEP = 0.25
ROOMS = pa.table(
    {
        "room": ["cafe", "clinic", "hall", "lab", "attic"],
        "building": ["A", "A", "B", "B", None],
        "seats": [40, 8, 200, 12, 2],
    }
)
BUILDING = dict(zip(ROOMS["room"].to_pylist(), ROOMS["building"].to_pylist(), strict=True))


def payments(devices: int = 200, seed: int = 5) -> pa.Table:
    """`visits` with a column `paid`: multiples of a quarter from 0 to 20, one in ten NULL."""
    table = visits(devices=devices, seed=seed)
    rng = seeded(seed + 1)
    amounts, gaps = rng.below(81, len(table)), rng.below(10, len(table))
    paid = [
        None if gap == 0 else int(amount) * STEP for amount, gap in zip(amounts, gaps, strict=True)
    ]
    return table.append_column("paid", pa.array(paid, pa.float64()))


def open_totals(
    table: pa.Table, key: Callable[[dict[str, Any]], Any], amount: Callable[[dict[str, Any]], float]
) -> dict[Any, dict[Any, float]]:
    """For each group, the totals of its non-sensitive units, by a reading of the rows in Python."""
    hidden = sensitive_units(table)
    totals: dict[Any, dict[Any, float]] = defaultdict(lambda: defaultdict(float))
    for row in rows(table):
        unit = (row["device"], row["day"])
        if unit not in hidden and row["paid"] is not None:
            totals[key(row)][unit] += amount(row)
    return totals
