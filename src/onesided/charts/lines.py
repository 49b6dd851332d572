"""Ordered keys, such as hours and dates: a line in their order, with a ribbon for the intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onesided.charts.parts import Drawing, DrawnFigure, DrawnKey
from onesided.charts.style import FILL, Spec, Theme, heading, inline, number_axis, place_format

MOST_PLACES = 4_000
_MOST_POINTS, _MOST_TICKS, _THIN_FROM = 60, 12, 300
_WIDTH, _HEIGHT, _LOW_HEIGHT = 560, 230, 150


def lines(key: DrawnKey, figures: Sequence[DrawnFigure]) -> Drawing:
    """A line for each figure, one below the other; what has no place is said."""
    placed = [row for row, place in enumerate(key.places) if place is not None]
    rows = sorted(placed, key=lambda row: key.places[row])[:MOST_PLACES]
    notes = []
    if len(placed) > len(rows):
        notes.append(f"The first {len(rows):,} of {len(placed):,}; all are in the table.")
    covers = dict.fromkeys(each.covers for each in figures if each.covers)
    if covers:
        notes.append(f"Ribbon: {', '.join(covers)}.")
    for row, place in enumerate(key.places):
        if place is None and figures:
            said = ", ".join(f"{each.name} {each.texts[row]}" for each in figures)
            notes.append(f"{key.texts[row]}: {said}.")

    def draw(theme: Theme) -> Spec:
        height = _HEIGHT if len(figures) == 1 else _LOW_HEIGHT
        found = [_line(key, each, rows, height) for each in figures]
        return found[0] if len(found) == 1 else {"vconcat": found, "spacing": 14}

    return Drawing(draw, notes, "Line chart")


def _line(key: DrawnKey, figure: DrawnFigure, rows: Sequence[int], height: int) -> Spec:
    data = [{"place": key.places[row], **figure.row(row)} for row in rows]
    x: dict[str, Any] = {"field": "place", "title": heading(key.name)}
    if key.is_time:
        x |= {"type": "temporal", "scale": {"type": "utc"}, "axis": {"labelOverlap": True}}
    else:
        places = [key.places[row] for row in rows]
        whole = place_format(places)
        # Between whole places there is nothing to be marked.
        few = whole == "d" and bool(places) and max(places) - min(places) <= _MOST_TICKS
        marks = {"values": list(range(int(min(places)), int(max(places)) + 1))} if few else {}
        x |= {
            "type": "quantitative",
            "scale": {"zero": False, "nice": False, "padding": 8},
            "axis": {"format": whole, "tickCount": _MOST_TICKS, **marks},
        }
    y = {
        "field": "value",
        "type": "quantitative",
        "scale": {"zero": figure.from_zero},
        "axis": number_axis(figure.name, tickCount=6),
    }
    band = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    layers: list[Spec] = [
        {
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": {"type": "area", "color": FILL, "opacity": 0.3},
            "encoding": band,
        },
        {
            "mark": {
                "type": "line",
                "color": FILL,
                "strokeWidth": 1.8 if len(rows) < _THIN_FROM else 0.8,
            },
            "encoding": {"x": x, "y": y},
        },
    ]
    if len(rows) <= _MOST_POINTS:
        hollow = {"condition": {"test": "datum.noise", "value": 0}, "value": 1}
        words = {"description": {"field": "words", "type": "nominal"}}
        layers.append(
            {
                "mark": {"type": "point", "color": FILL, "fill": FILL, "size": 26, "opacity": 1},
                "encoding": {"x": x, "y": y, "fillOpacity": hollow, **words},
            }
        )
    return {"data": inline(data), "width": _WIDTH, "height": height, "layer": layers}
