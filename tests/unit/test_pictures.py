"""Charts of answers: what is drawn, folded, marked and said, at any size and with any names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import altair
import pyarrow as pa
import pytest

from onesided.charts.accounts import AccountSteps, account_picture
from onesided.charts.findings import ComparedRow, audit_picture, compared_picture
from onesided.charts.picture import Picture
from onesided.charts.plans import PlannedErrors, Way, plan_picture
from onesided.charts.style import Theme
from onesided.data.drawing import table_picture
from onesided.data.shown import ShownAnswer
from onesided.errors import OutputError

ODD = (
    "never seen",
    "a label that goes on and on, " * 4,
    "مرحبا بالعالم",
    "😀 party 🎉",
    "<script>alert(1)</script>",
    "</svg><img src=x onerror=alert(1)>",
    "=1+1",
    "**bold** [red]x[/red]",
    "esc\x1b[31m\u202e",
    "",
)
MOST_PIXELS = 1_200


def names(number: int) -> list[str]:
    return [ODD[place] if place < len(ODD) else f"room {place:04}" for place in range(number)]


def days(number: int) -> list[date]:
    return [date(2024, 1, 1) + timedelta(days=each) for each in range(number)]


def picture(
    keys: dict[str, list[Any]], values: Sequence[float | None], half: float = 30
) -> Picture:
    """The chart of counts with intervals of this half-width."""
    low = [None if each is None else max(each - half, 0) for each in values]
    high = [None if each is None else each + half for each in values]
    columns = {"count": values, "at_least": low, "at_most": high}
    bounds = ["at_least", "at_most"]
    interval = {"bound": "count of all units", "columns": bounds, "confidence": "0.95"}
    receipt = {
        "kind": "count",
        "request": {"by": list(keys), "domain": {}},
        "error": {"expected_absolute_error_per_group": "12", "intervals": [interval]},
    }
    table = pa.table(
        {**keys, **{name: pa.array(each, pa.float64()) for name, each in columns.items()}}
    )
    return table_picture(ShownAnswer.of(table, receipt), "count of units")


def values(number: int) -> list[float | None]:
    """Large and small ones, one below zero, a zero, and one that was not counted."""
    found: list[float | None] = [float((each * 37) % 400 + each % 7) for each in range(number)]
    return [0.0, -11.5, None, *found][:number]


def drawn_groups(drawn: Picture) -> int:
    return len(drawn.to_dict()["data"]["values"])


def by(kind: str, number: int) -> dict[str, list[Any]]:
    """Keys of so many groups."""
    if kind == "text":
        return {"room": names(number)}
    if kind == "day":
        return {"day": days(number)}
    if kind == "hour":
        return {"hour": list(range(number))}
    across = max(1, round(number**0.5))
    pairs = list(product(names(-(-number // across)), range(across)))[:number]
    keys: dict[str, list[Any]] = {"room": [a for a, _ in pairs], "hour": [b for _, b in pairs]}
    if kind == "three":
        keys = {"floor": [f"floor {place % 12}" for place in range(number)], **keys}
    return keys


def check(drawn: Picture, theme: Theme, *, valid: bool = True) -> None:
    """It is valid, of a bounded size, and nothing in it acts."""
    if valid:
        altair.Chart.from_dict(drawn.to_dict(theme))
    svg = drawn.svg(theme)
    width, height = map(float, re.findall(r'viewBox="0 0 (\d+\.?\d*) (\d+\.?\d*)"', svg)[0])
    assert width <= MOST_PIXELS
    assert height <= MOST_PIXELS
    for text in (svg, drawn._repr_html_()):
        lowered = text.lower()
        assert not any(each in lowered for each in ("<script", "<img", "\x1b", "\u202e"))
        assert 'role="img" aria-label="' in text
    assert re.search(r">\s*-?[\d.]+e\+\d", svg) is None


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", ["text", "day", "hour", "two", "three"])
@pytest.mark.parametrize("number", [3, 40])
def test_a_chart_of_each_kind(kind: str, number: int) -> None:
    valid = number == 3 and kind in ("text", "hour")  # Altair takes a second for each panel
    check(picture(by(kind, number), values(number)), Theme.DARK, valid=valid)


@pytest.mark.soak
@pytest.mark.parametrize("theme", list(Theme))
@pytest.mark.parametrize("half", [0, 9_000])
@pytest.mark.parametrize("kind", ["text", "day", "hour", "two", "three"])
@pytest.mark.parametrize("number", [1, 4_000])
def test_a_chart_of_each_kind_and_size(kind: str, number: int, half: float, theme: Theme) -> None:
    check(picture(by(kind, number), values(number), half), theme, valid=number == 1)


def test_many_bars_are_folded_and_that_is_said() -> None:
    drawn = picture(by("text", 4_000), values(4_000))
    assert drawn_groups(drawn) == 40
    assert "40 groups of 4,000" in drawn.said
    assert len(drawn.rows) == 4_000
    assert drawn_groups(picture(by("text", 40), values(40))) == 40


def test_ordered_keys_are_a_line_with_a_ribbon_in_their_order() -> None:
    keys = {"hour": [5, 3, None, 4]}
    drawn = picture(keys, [50, 30, 99, 40])
    spec = drawn.to_dict()
    assert [each["place"] for each in spec["data"]["values"]] == [3, 4, 5]
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["area", "line", "point"]
    assert "(no value): count 99" in drawn.said


def test_what_noise_explains_is_marked_and_what_was_not_counted_is_said() -> None:
    drawn = picture({"room": ["a", "b", "c"]}, [100.0, 0.0, None])
    rows = drawn.to_dict()["data"]["values"]
    assert [each["noise"] for each in rows] == [False, True, False]
    assert [each["text"] for each in rows] == ["100", "0", "not counted"]
    assert "noise alone" in drawn.said
    heat = picture({"room": ["a", "a"], "hour": [1, 2]}, [100.0, 3.0])
    assert "Circles" in heat.said


def test_an_interval_beyond_all_values_ends_in_an_arrow() -> None:
    rows = picture({"room": ["a", "b"]}, [100.0, 50.0], half=9_000).to_dict()["data"]["values"]
    assert all(each["cut"] and each["high"] == 160 for each in rows)


def test_names_that_look_alike_stay_apart() -> None:
    drawn = picture({"room": ["x\x1b", "x\\x1b", "y"]}, [1.0, 2.0, 3.0])
    assert len({each["group"] for each in drawn.to_dict()["data"]["values"]}) == 3


def test_several_charts_on_a_page_keep_their_names_apart() -> None:
    keys = {"room": ["a", "b"], "hour": [1, 2]}
    one, other = (picture(keys, [1.0, most]).svg(Theme.PAGE) for most in (50.0, 60.0))
    marks = [set(re.findall(r'\bid="([^"]+)"', svg)) for svg in (one, other)]
    assert marks[0]
    assert not marks[0] & marks[1]
    assert all(f"#{mark}" in one for mark in marks[0] if "clip" in mark or "gradient" in mark)


def test_charts_of_plans_accounts_audits_and_samples() -> None:
    ways = [Way("laplace", 12.0, "±12", True), Way(ODD[5], 40.0, "±40", False)]
    lines = {"laplace": [(0.5, 24.0), (1.0, 12.0)]}
    steps = AccountSteps(
        name=ODD[4],
        times=["2024-01-01T00:00:00+00:00", "2024-01-02T00:00:00+00:00"],
        spent=[0.0, 1.0],
        plain_sum=[0.0, 1.5],
        budget=[2.0, 2.0],
    )
    found = [ComparedRow(name, 0.1, 0.3, "φ 1") for name in names(60)]
    plan = PlannedErrors(what="Plan", ways=ways, by_epsilon=lines, by_bound=lines, best_bound=1.0)
    pictures = [
        plan_picture(plan),
        account_picture([steps] * 5),
        audit_picture("Audit", 1.0, found[:2]),
        compared_picture("Attack", found, names=("before", "after"), axis="probability"),
    ]
    for each in pictures:
        check(each, Theme.LIGHT, valid=each is pictures[0])
    assert "More accounts, 1 of them" in str(pictures[1].to_dict()["title"])


def test_a_picture_is_written_as_its_ending_says(tmp_path: Path) -> None:
    drawn = picture({"room": ["a", "b"]}, [1.0, 2.0])
    starts = {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF", ".html": b"<!doctype html>"}
    for ending, start in starts.items():
        assert drawn.write(tmp_path / f"x{ending}").read_bytes().startswith(start)
    with pytest.raises(OutputError, match="does not tell its format"):
        drawn.write(tmp_path / "x.bmp")
    with pytest.raises(OutputError, match="cannot be written"):
        drawn.write(tmp_path / "missing" / "x.svg")
    assert "http" not in drawn.html().replace("http-equiv", "").replace("http://www.w3.org/", "")
