"""Bars or points with their intervals, one row for each group and one panel for each figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onesided.charts.parts import NOISE, Drawing, DrawnFigure, DrawnKey, folded, largest
from onesided.charts.style import (
    FILL,
    Spec,
    Theme,
    beside_labels,
    heading,
    ink,
    inline,
    number_axis,
)

MOST_BARS = 40
_STEP = 19
_WIDTH, _LEAST_WIDTH = 430, 190
_TEXT_ROOM = 8
_ROOM = 1.6
"""An axis ends so far beyond the largest value at the most; longer intervals are cut."""


def bars(key: DrawnKey, figures: Sequence[DrawnFigure]) -> Drawing:
    """The largest groups by the first figure, in their order where all fit."""
    rows = largest(figures[0], MOST_BARS) if figures else []
    labels = key.labels(rows)
    notes = folded(figures[0], rows, "groups") if figures else []
    cut = False
    for figure in figures:
        drawn = [figure.row(row) for row in rows]
        cut |= _end(drawn) is not None
    notes += _on_intervals(figures, rows)
    if cut:
        notes.append("An interval that ends in an arrow goes on beyond the axis.")

    def draw(theme: Theme) -> Spec:
        width = max(_WIDTH // max(len(figures), 1), _LEAST_WIDTH)
        found = [
            _panel(key, figure, rows, labels, width, theme, first=not place)
            for place, figure in enumerate(figures)
        ]
        return found[0] if len(found) == 1 else {"hconcat": found, "spacing": 14}

    return Drawing(draw, notes, "Bar chart")


def _panel(
    key: DrawnKey,
    figure: DrawnFigure,
    rows: Sequence[int],
    labels: Sequence[str],
    width: int,
    theme: Theme,
    *,
    first: bool,
) -> Spec:
    data = [{"group": label, **figure.row(row)} for label, row in zip(labels, rows, strict=True)]
    end = _end(data)
    for each in data:
        each["place"] = max(each["high"] or 0, each["value"] or 0, 0)
        if end is not None and each["high"] is not None and each["high"] > end:
            each |= {"high": end, "place": end, "cut": True}
    axis = {"labels": first, "ticks": first, "labelPadding": 6, **beside_labels()}
    y = {
        "field": "group",
        "type": "nominal",
        "sort": list(labels),
        "title": heading(key.name) or None if first else None,
        "axis": axis,
    }
    scale: Spec = {"zero": figure.from_zero, "nice": True}
    x = {
        "field": "value",
        "type": "quantitative",
        "scale": scale,
        "axis": number_axis(figure.name, tickCount=max(3, width // 80)),
    }
    ends = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}
    layers: list[Spec] = []
    if figure.from_zero:
        layers.append(_bar(x, y))
    layers.append(
        {
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": {"type": "rule", "strokeWidth": 1.4, "opacity": 0.85},
            "encoding": ends,
        }
    )
    layers.append(
        {
            "transform": [{"filter": "datum.cut === true"}],
            "mark": {"type": "point", "shape": "triangle-right", "size": 26, "filled": True}
            | {"color": ink(theme), "opacity": 0.85},
            "encoding": {"x": {**x, "field": "high"}, "y": y},
        }
    )
    if not figure.from_zero:
        layers.append(_point(x, y))
    layers.append(
        {
            "mark": {"type": "text", "align": "left", "dx": _TEXT_ROOM, "baseline": "middle"},
            "encoding": {
                "x": {**x, "field": "place"} if figure.from_zero else {**x, "field": "beside"},
                "y": y,
                "text": {"field": "text", "type": "nominal"},
                "opacity": {
                    "condition": {"test": "!isValid(datum.value)", "value": 0.6},
                    "value": 1,
                },
            },
        }
    )
    if not figure.from_zero:
        known = [each["high"] if each["high"] is not None else each["value"] for each in data]
        lowest = [each["low"] if each["low"] is not None else each["value"] for each in data]
        least = min((each for each in lowest if each is not None), default=0)
        for each, place in zip(data, known, strict=True):
            each["beside"] = least if place is None else place
    return {
        "data": inline(data),
        "width": width,
        "height": {"step": _STEP},
        "layer": layers,
    }


def _bar(x: Spec, y: Spec) -> Spec:
    hollow = {"condition": {"test": "datum.noise", "value": 0.12}, "value": 0.85}
    return {
        "mark": {"type": "bar", "color": FILL, "stroke": FILL, "strokeWidth": 1, "height": 13},
        "encoding": {"x": x, "y": y, "fillOpacity": hollow, **_words()},
    }


def _point(x: Spec, y: Spec) -> Spec:
    hollow = {"condition": {"test": "datum.noise", "value": 0}, "value": 1}
    return {
        "mark": {"type": "point", "color": FILL, "fill": FILL, "size": 60, "opacity": 1},
        "encoding": {"x": x, "y": y, "fillOpacity": hollow, **_words()},
    }


def _words() -> Spec:
    return {"description": {"field": "words", "type": "nominal"}}


def _end(data: Sequence[dict[str, Any]]) -> float | None:
    """Where the axis ends, if an interval would make all values look alike."""
    values = [each["value"] for each in data if each["value"] is not None]
    highs = [each["high"] for each in data if each["high"] is not None]
    most = max(values, default=0.0)
    if most <= 0 or not highs or max(highs) <= 2 * _ROOM * most:
        return None
    return float(_ROOM * most)


def _on_intervals(figures: Sequence[DrawnFigure], rows: Sequence[int]) -> list[str]:
    """What the thin lines are, and the hollow marks."""
    covers = dict.fromkeys(each.covers for each in figures if each.covers)
    found = [f"Thin lines: {', '.join(covers)}"] if covers else []
    if any(figure.row(row)["noise"] for figure in figures for row in rows):
        found.append(NOISE)
    return ["; ".join(found) + "."] if found else []
