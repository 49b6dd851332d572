"""A simulated year of nightly releases: what each day costs, and how far off its count is.

    python benchmarks/growing.py --days 365 --chart docs/growing.svg      (about five minutes)

Every night a day of visits is added to a file, and the number of device-days in each room is
published for that day alone. The true numbers are known here, which nobody else would see.
"""

from __future__ import annotations

import argparse
import csv
import os
import tempfile
from collections import defaultdict
from datetime import date, timedelta
from math import pi, sin
from pathlib import Path

import altair as alt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import onesided as osd
from onesided.cli import run
from onesided.randomness import seeded

FIRST = date(2026, 1, 1)
ROOMS = ("cafe", "clinic", "hall", "lab")
SHARES = (0.4, 0.05, 0.35, 0.2)
SHOWN = ("cafe", "lab")
DESCRIBED = """
[datasets.visits]
source = "visits.parquet"
unit = ["device", "day"]
partition_by = ["day"]
policy = "room = 'clinic' OR NOT consent"
budget = 0.5
ledger = "visits.ledger"

[datasets.visits.domains]
room = ["cafe", "clinic", "hall", "lab"]
"""
QUESTIONS = """
dataset = "visits"

[[questions]]
name = "rooms"
ask = "count"
by = "room"
max_groups = 1
mechanism = "one-sided"
epsilon = 0.5
"""

Truth = dict[tuple[str, str], int]


def grow(folder: Path, number: int, generator: np.random.Generator) -> Truth:
    """One more day of visits, fewer of them at weekends and in summer."""
    day = FIRST + timedelta(days=number)
    busy = 400 * (1 + 0.4 * sin(2 * pi * number / 365)) * (0.3 if day.isoweekday() > 5 else 1)
    devices = int(generator.poisson(busy))
    rooms = generator.choice(ROOMS, devices, p=SHARES)
    table = pa.table(
        {
            "device": pa.array(range(devices), pa.int64()),
            "room": rooms.tolist(),
            "consent": (generator.random(devices) > 0.05).tolist(),
        }
    )
    table = table.append_column("day", pa.array([day] * devices, pa.date32()))
    path = folder / "visits.parquet"
    pq.write_table(pa.concat_tables([pq.read_table(path), table]) if number else table, path)
    return {(str(day), room): int((rooms == room).sum()) for room in ROOMS}


def published(file: Path) -> Truth:
    """What everybody may see."""
    with file.open(newline="") as content:
        return {(row["day"], row["room"]): int(row["count"]) for row in csv.DictReader(content)}


def chart(truth: Truth, seen: Truth, target: Path) -> None:
    """True and published counts of two rooms, day by day."""
    rows = [
        {"day": day, "units": value, "what": f"{room}, {what}"}
        for what, counts in (("true (secret)", truth), ("published", seen))
        for (day, room), value in counts.items()
        if room in SHOWN
    ]
    lines = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(strokeWidth=1)
        .encode(
            x=alt.X("day:T", title="day"),
            y=alt.Y("units:Q", title="device-days in the room"),
            color=alt.Color("what:N", title=None),
            strokeDash=alt.StrokeDash("what:N", title=None),
        )
    )
    lines.properties(width=760, height=280).save(str(target))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--chart", type=Path)
    given = parser.parse_args()
    target = None if given.chart is None else given.chart.resolve()
    generator, truth = seeded(given.seed).generator(), Truth()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chdir(folder)
        (folder / "onesided.toml").write_text(DESCRIBED)
        (folder / "nightly.toml").write_text(QUESTIONS)
        for number in range(given.days):
            truth |= grow(folder, number, generator)
            today = FIRST + timedelta(days=number + 1)
            words = ["run", "nightly.toml", "--part", "day=yesterday", "--as-of", str(today)]
            if run([*words, "--series", "published", "--json"]) != 0:
                raise SystemExit(1)
        seen = published(folder / "published" / "rooms.csv")
        with osd.load("visits") as dataset:
            spent = dataset.budget.spent
    errors = defaultdict(list)
    for (day, room), value in seen.items():
        errors[room].append(abs(value - truth[day, room]))
    for room, found in errors.items():
        print(f"{room}: {len(found)} days, mean absolute error {np.mean(found):.1f}")
    print(f"spent: {spent} after {given.days} days")
    if target is not None:
        chart(truth, seen, target)


if __name__ == "__main__":
    main()
