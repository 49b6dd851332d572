"""Audits, attacks, and how the make-up of a sample differs from what was counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onesided.charts.picture import Picture
from onesided.charts.style import (
    FILL,
    LINES,
    Spec,
    Theme,
    beside_labels,
    heading,
    ink,
    inline,
    number_axis,
    one_each,
    titled,
)
from onesided.visible import visible

MOST_ROWS = 40
_WIDTH, _STEP = 430, 22


@dataclass(frozen=True)
class ComparedRow:
    """One thing that was measured, beside what was claimed or held before."""

    name: str
    before: float | None
    after: float | None
    text: str


def compared_picture(
    title: str,
    found: Sequence[ComparedRow],
    *,
    names: tuple[str, str],
    axis: str,
    notes: Sequence[str] = (),
    what: str = "",
    from_zero: bool = True,
) -> Picture:
    """A row for each: an open diamond for the one, a filled point for the other.

    - `names`: of the one and of the other; the first is empty where there is none.
    - `what`: what the rows are.
    - `from_zero`: the axis begins there.
    """
    shown = found[:MOST_ROWS]
    more = len(found) - len(shown)
    told = [*notes, *([f"{more:,} more are in the table."] if more else [])]
    if names[0]:
        told.insert(0, f"Diamond: {names[0]}; point: {names[1]}.")

    def draw(theme: Theme) -> Spec:
        drawn = _rows(shown, axis, what, theme, from_zero=from_zero)
        return {**drawn, "title": titled(title, told)}

    said = "; ".join(f"{each.name}: {each.text}" for each in shown[:5])
    rows = [[each.name, _shown(each.before), _shown(each.after), each.text] for each in found]
    return Picture(draw, title, f"{title}. {said}.", ("", *names, ""), rows)


def audit_picture(title: str, claimed: float, found: Sequence[ComparedRow]) -> Picture:
    """What was found to be lost at least, beside a line for what is claimed."""

    def draw(theme: Theme) -> Spec:
        spec = _rows(found, "privacy loss", "", theme, from_zero=True)
        line = {"type": "rule", "strokeDash": [5, 3], "strokeWidth": 1.5, "color": LINES[5]}
        spec["layer"].append(
            {
                "data": inline([{"after": claimed}]),
                "mark": line,
                "encoding": {"x": {"field": "after", "type": "quantitative"}},
            }
        )
        note = f"Dashed line: what is claimed, {claimed:g}. A point to the right of it refutes it."
        return {**spec, "title": titled(title, [note])}

    said = "; ".join(f"{each.name}: {each.text}" for each in found)
    rows = [["claimed", f"{claimed:g}"], *([each.name, each.text] for each in found)]
    return Picture(draw, title, f"{title}: claimed {claimed:g}; {said}.", ("", "loss"), rows)


def _rows(
    found: Sequence[ComparedRow], axis: str, what: str, theme: Theme, *, from_zero: bool
) -> Spec:
    labels = one_each(heading(each.name) or "(empty)" for each in found)
    data = [
        {
            "name": label,
            "before": each.before,
            "after": each.after,
            "text": visible(each.text),
            "end": max((at for at in (each.before, each.after) if at is not None), default=0.0),
        }
        for label, each in zip(labels, found, strict=True)
    ]
    title = {"title": heading(what) or None}
    y = {"field": "name", "type": "nominal", "sort": labels, **title, "axis": beside_labels()}
    x = {
        "type": "quantitative",
        "scale": {"zero": from_zero, "padding": 0 if from_zero else 12},
        "axis": number_axis(axis, tickCount=5),
    }
    before, after = {**x, "field": "before"}, {**x, "field": "after"}
    both = {"filter": "isValid(datum.before) && isValid(datum.after)"}
    layers: list[Spec] = [
        {
            "transform": [both],
            "mark": {"type": "rule", "opacity": 0.6},
            "encoding": {"x": before, "x2": {"field": "after"}, "y": y},
        },
        {
            "transform": [{"filter": "isValid(datum.before)"}],
            "mark": {
                "type": "point",
                "shape": "diamond",
                "size": 70,
                "filled": False,
                "color": ink(theme),
                "opacity": 1,
            },
            "encoding": {"x": before, "y": y},
        },
        {
            "transform": [{"filter": "isValid(datum.after)"}],
            "mark": {"type": "point", "filled": True, "size": 64, "color": FILL, "opacity": 1},
            "encoding": {"x": after, "y": y},
        },
        {
            "mark": {"type": "text", "align": "left", "dx": 10},
            "encoding": {
                "x": {**x, "field": "end"},
                "y": y,
                "text": {"field": "text", "type": "nominal"},
            },
        },
    ]
    return {"data": inline(data), "width": _WIDTH, "height": {"step": _STEP}, "layer": layers}


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
