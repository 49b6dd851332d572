"""A map: its places where they lie, and the ways between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onesided.charts.picture import Picture
from onesided.charts.style import COLOURS, Spec, Theme, heading, ink, inline, titled
from onesided.maps import ClosedMap
from onesided.maps.walks import FAR, least_times
from onesided.visible import visible

MOST_DRAWN = 60
"""Of more places the names would cover one another."""
_LEAST_APART, _ROUNDS = 0.3, 200
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


def walked_picture(title: str, closed: ClosedMap) -> Picture | None:
    """A map whose places have no positions: the farther to walk, the farther apart they are drawn.

    None where there are too many places to be told from each other.
    """
    edges = closed.edges
    if len(edges.places) > MOST_DRAWN:
        return None
    names = [str(each) for each in edges.places]
    places = [
        DrawnPlace(name, *at, sensitive=place in closed.closed)
        for name, place, at in zip(names, edges.places, _positions(closed), strict=True)
    ]
    triples = zip(edges.start.tolist(), edges.end.tolist(), edges.time.tolist(), strict=True)
    ways = {(min(a, b), max(a, b)): time for a, b, time in sorted(triples, key=lambda way: -way[2])}
    drawn = [(names[a], names[b], round(time / 1e6)) for (a, b), time in ways.items()]
    return map_picture(title, places, drawn)


def _positions(closed: ClosedMap) -> list[tuple[float, float]]:
    """Places in the plane, so that the longer the quickest way, the farther apart they are.

    From a circle on, each place moves to where its distances to all others fit best (SMACOF).
    """
    edges = closed.edges
    count = len(edges.places)
    times = least_times(edges, np.arange(count), None).astype(float)
    near = times < FAR
    longest = times[near].max(initial=1.0) or 1.0
    # Of long ways the roots are drawn, so that short ones can be seen beside them.
    apart = np.sqrt(np.where(near, times / longest, 1.5))
    apart = np.maximum(np.minimum(apart, apart.T), _LEAST_APART)
    np.fill_diagonal(apart, 1.0)
    pull = apart**-2.0
    np.fill_diagonal(pull, 0.0)
    weights = np.diag(pull.sum(axis=1)) - pull
    spread = np.linalg.pinv(weights)
    turns = np.arange(count) * 2 * np.pi / count
    at = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    for _ in range(_ROUNDS):
        between = np.linalg.norm(at[:, None] - at[None], axis=2)
        ratio = np.where(between > 0, apart / np.where(between > 0, between, 1), 0) * pull
        at = spread @ (np.diag(ratio.sum(axis=1)) - ratio) @ at
    return [(float(x), float(y)) for x, y in at]


def _place(field: str) -> Spec:
    """Along or across, without numbers: they are metres of nowhere."""
    return {
        "field": field,
        "type": "quantitative",
        "axis": None,
        "scale": {"zero": False, "nice": False, "padding": _MARGIN},
    }
