"""Intervals of ratios and differences of figures in SQL."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import onesided as osd

ROWS = pa.table(
    {
        "room": ["lab", "hall", None, "clinic"] * 250,
        "late": [row % 3 == 0 for row in range(1000)],
        "paid": [row % 50 for row in range(1000)],
    }
)
BOUNDS = ("nonsensitive_at_least", "nonsensitive_at_most")
ASKED: dict[str, Any] = {"bounds": {"paid": 50}, "mechanism": "one-sided"}


def asked(text: str, seed: int = 1, **options: Any) -> Any:
    given: dict[str, Any] = {"epsilon": 2, **ASKED, **options}
    with osd.open(
        ROWS, unit="rows", policy="room = 'clinic'", budget=50, rng=osd.seeded(seed)
    ) as data:
        return data.sql(f"SELECT {text} FROM data GROUP BY room", **given)


def test_a_ratio_lies_between_what_its_figures_allow() -> None:
    release = asked("room, SUM(paid) / COUNT(*) AS mean, COUNT(*) AS n")
    table = release.interval("mean")
    assert table.column_names == ["room", "mean", *BOUNDS]
    sums, counts = (release.figures[name].table.to_pylist() for name in ("sum(paid)", "count(*)"))
    for row, above, below in zip(table.to_pylist(), sums, counts, strict=True):
        assert row["room"] == above["room"] == below["room"]
        assert row["mean"] == above["sum"] / below["count"]
        assert row[BOUNDS[0]] == above[BOUNDS[0]] / below[BOUNDS[1]]
        assert row[BOUNDS[1]] == above[BOUNDS[1]] / below[BOUNDS[0]]
    said = release.receipt["computed"]["mean"]["interval"]
    assert (said["columns"], said["confidence"]) == (list(BOUNDS), "0.9")
    assert release.interval("n") is None
    assert set(release.receipt["computed"]) == {"mean"}


def test_it_holds_as_often_as_it_says() -> None:
    """Of 99 intervals ten may miss on average, and 20 hardly ever do."""
    text = (
        "room, 100.0 * COUNT(*) FILTER (WHERE late) / COUNT(*) AS late, SUM(paid) - COUNT(*) AS d"
    )
    rows = ROWS.to_pylist()
    true: dict[str | None, tuple[float, float]] = {}
    for room in ("lab", "hall", None):
        own = [row for row in rows if row["room"] == room]
        late = sum(row["late"] for row in own)
        true[room] = 100 * late / len(own), sum(row["paid"] for row in own) - len(own)
    missed, seen = np.zeros(2, int), 0
    for seed in range(33):
        release = asked(text, seed)
        for place, name in enumerate(("late", "d")):
            for row in release.interval(name).to_pylist():
                inside = row[BOUNDS[0]] <= true[row["room"]][place] <= row[BOUNDS[1]]
                missed[place] += not inside
        seen += 3
    assert (missed <= 20).all(), missed


def test_what_may_be_divided_by_nothing_has_no_bounds() -> None:
    release = asked("room, COUNT(*) / COUNT(*) FILTER (WHERE paid > 70) AS r", epsilon=1)
    rows = release.interval("r").to_pylist()
    assert all(row[BOUNDS[0]] is None and row[BOUNDS[1]] is None for row in rows)


@pytest.mark.parametrize("text", ["ROUND(SUM(paid))", "SUM(paid) * COUNT(*)", "COUNT(*) + 1"])
def test_all_else_says_that_it_has_none(text: str) -> None:
    release = asked(f"room, {text} AS x")
    assert release.receipt["computed"] == {"x": {"interval": "none"}}
    assert release.interval("x") is None


def test_figures_without_the_same_bounds_have_none_together() -> None:
    release = asked(
        "room, SUM(paid) / COUNT(*) AS x", mechanism="laplace", domain={"room": ["lab"]}
    )
    assert release.receipt["computed"]["x"]["interval"] == "none"
    assert release.interval("x") is None
