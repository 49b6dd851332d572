"""What nine figures in one SELECT cost beside one of them: CPU seconds on DuckDB.

    PYTHONPATH=src python benchmarks/figures.py [--rows 500000]

Once each row is a unit, and once a fifth as many units have rows in several groups.
"""

from __future__ import annotations

import argparse
import resource
from typing import Any

import numpy as np
import pyarrow as pa

import onesided as osd

COLUMNS = 9
KEYED: dict[str, Any] = {"max_groups": 3, "max_rows": 5}


def made(rows: int) -> pa.Table:
    """Twenty groups, and whole numbers to add up."""
    dice = np.random.default_rng(1)
    numbers = {f"v{place}": dice.integers(0, 100, rows) for place in range(COLUMNS)}
    beside = {"who": dice.integers(0, rows // 5, rows), "room": dice.integers(0, 20, rows)}
    return pa.table({**beside, "open": dice.random(rows) < 0.9, **numbers})


def seconds(dataset: osd.Dataset, figures: list[str], **limits: Any) -> float:
    """The least CPU time of three runs."""
    text = f"SELECT room, {', '.join(figures)} FROM data GROUP BY room"
    bounds = {f"v{place}": 100 for place in range(COLUMNS)}
    found = []
    for _ in range(3):
        begun = _used()
        dataset.sql(text, epsilon=9, bounds=bounds, fresh=True, **limits)
        found.append(_used() - begun)
    return min(found)


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--rows", type=int, default=500_000)
    table = made(options.parse_args().rows)
    sums = [f"SUM(v{place})" for place in range(COLUMNS)]
    mixed = ["COUNT(*)", *(f"AVG(v{place})" for place in range(4)), *sums[4:8]]
    for unit, limits in (("rows", {}), ("who", KEYED)):
        with osd.open(table, unit=unit, policy="NOT open", budget=1000) as dataset:
            one = seconds(dataset, sums[:1], **limits)
            for name, figures in (("nine sums", sums), ("a count, means and sums", mixed)):
                nine = seconds(dataset, figures, **limits)
                print(f"unit {unit}, {name}: {nine:.3f} s, {nine / one:.2f} times {one:.3f} s")


if __name__ == "__main__":
    main()
