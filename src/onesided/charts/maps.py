"""A map: its places where they lie, and the ways between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onesided.charts.picture import Picture
from onesided.charts.style import COLOURS, Spec, Theme, heading, ink, inline, titled
from onesided.visible import visible

_WIDTH, _HEIGHT, _MARGIN = 620, 380, 56
_OPEN, _SENSITIVE = COLOURS[2], COLOURS[4]


@dataclass(frozen=True)
class DrawnPlace:
    """A place with its position, in any unit; a `note` stands below its name."""

    name: str
    x: float
    y: float
    sensitive: bool = False
    note: str = ""


def map_picture(
    title: str,
    places: Sequence[DrawnPlace],
    ways: Sequence[tuple[str, str, int]],
    notes: Sequence[str] = (),
) -> Picture:
    """Ways are lines with their seconds; sensitive places are diamonds, and so told by shape too.

    - `ways`: from, to and seconds, each drawn once.
    """
    at = {each.name: each for each in places}
    drawn = [
        {
            "x": at[a].x,
            "y": at[a].y,
            "x2": at[b].x,
            "y2": at[b].y,
            "xm": (at[a].x + at[b].x) / 2,
            "ym": (at[a].y + at[b].y) / 2,
            "seconds": f"{seconds} s",
            "kind": "sensitive" if at[a].sensitive or at[b].sensitive else "open",
        }
        for a, b, seconds in ways
    ]
    points = [
        {
            "x": each.x,
            "y": each.y,
            "name": heading(each.name),
            "note": heading(each.note),
            "kind": "sensitive" if each.sensitive else "open",
        }
        for each in places
    ]
    shut = ", ".join(visible(each.name) for each in places if each.sensitive)

    def draw(theme: Theme) -> Spec:
        colour = {
            "field": "kind",
            "type": "nominal",
            "scale": {"domain": ["open", "sensitive"], "range": [_OPEN, _SENSITIVE]},
            "legend": None,
        }
        place = {"x": _place("x"), "y": _place("y")}
        ends = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
        layers = [
            {
                "data": inline(drawn),
                "mark": {"type": "rule", "strokeWidth": 2.5, "opacity": 0.6},
                "encoding": {**place, **ends, "color": colour},
            },
            {
                "data": inline(drawn),
                "mark": {"type": "text", "fontSize": 10, "dy": -7, "color": ink(theme)},
                "encoding": {"x": _place("xm"), "y": _place("ym"), "text": {"field": "seconds"}},
            },
            {
                "data": inline(points),
                "mark": {"type": "point", "filled": True, "size": 170, "opacity": 1},
                "encoding": {
                    **place,
                    "color": colour,
                    "shape": {
                        "field": "kind",
                        "type": "nominal",
                        "scale": {"domain": ["open", "sensitive"], "range": ["circle", "diamond"]},
                        "legend": None,
                    },
                },
            },
            {
                "data": inline(points),
                "mark": {"type": "text", "fontSize": 12, "dy": 18, "color": ink(theme)},
                "encoding": {**place, "text": {"field": "name"}},
            },
            {
                "data": inline(points),
                "mark": {
                    "type": "text",
                    "fontSize": 12,
                    "dy": 34,
                    "fontWeight": "bold",
                    "color": ink(theme),
                },
                "encoding": {**place, "text": {"field": "note"}},
            },
        ]
        told = [f"Sensitive: {shut} (diamond)." if shut else "No place is sensitive.", *notes]
        return {"title": titled(title, told), "width": _WIDTH, "height": _HEIGHT, "layer": layers}

    return Picture(
        draw,
        title,
        f"{title}. {len(places)} places and {len(ways)} ways; sensitive: {shut or 'none'}.",
        ("from", "to", "seconds"),
        [(a, b, str(seconds)) for a, b, seconds in ways],
    )


def _place(field: str) -> Spec:
    """Along or across, without numbers: they are metres of nowhere."""
    return {
        "field": field,
        "type": "quantitative",
        "axis": None,
        "scale": {"zero": False, "nice": False, "padding": _MARGIN},
    }
