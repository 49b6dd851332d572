"""Expected errors: by mechanism, by ε, and by the bound on groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log10
from typing import Any

from onesided.charts.picture import Picture
from onesided.charts.style import (
    DASHES,
    FILL,
    LINES,
    SHAPES,
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

MOST_WAYS = 12
_WIDTH, _HEIGHT = 430, 190
_STEP = 19


@dataclass(frozen=True)
class Way:
    """One way to answer: its expected error, and whether it can be had now."""

    name: str
    error: float
    text: str
    available: bool


@dataclass(frozen=True, kw_only=True)
class PlannedErrors:
    """What a plan shows.

    - `what`: what is planned, in words.
    - `by_epsilon`: for each mechanism, pairs of an ε and an expected error.
    - `by_bound`: for each part of the error, pairs of a bound on groups and its size.
    - `best_bound`: where the whole error is least.
    """

    what: str
    ways: Sequence[Way]
    by_epsilon: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    by_bound: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    best_bound: float | None = None


def plan_picture(plan: PlannedErrors) -> Picture:
    """A bar for each mechanism, and lines along ε and the bound, as far as they are known."""
    ways = plan.ways[:MOST_WAYS]
    notes = ["Expected mean error of a group; pale: not to be had now."]
    if len(ways) < len(plan.ways):
        notes.append(f"{len(plan.ways) - len(ways):,} more are in the table.")

    def draw(theme: Theme) -> Spec:
        parts = [_bars(ways)] if ways else []
        if plan.by_epsilon:
            parts.append(_lines(plan.by_epsilon, "ε", None, theme, logarithmic=True))
        if plan.by_bound:
            logarithmic = any(len(points) > 1 for points in plan.by_bound.values())
            parts.append(
                _lines(plan.by_bound, "max_groups", plan.best_bound, theme, logarithmic=logarithmic)
            )
        independent = {"scale": {"color": "independent", "shape": "independent"}}
        independent["scale"]["strokeDash"] = "independent"
        return {
            "vconcat": parts,
            "spacing": 26,
            "title": titled(plan.what, notes),
            "resolve": independent,
        }

    best = min((way for way in ways if way.available), key=lambda way: way.error, default=None)
    said = "nothing can be had" if best is None else f"least: {best.name} at {best.text}"
    rows = [[way.name, "", way.text, "yes" if way.available else "no"] for way in plan.ways]
    for title, lines in (("ε", plan.by_epsilon), ("max_groups", plan.by_bound)):
        rows += [
            [name, f"{title} = {place:g}", f"±{error:.4g}", ""]
            for name, points in lines.items()
            for place, error in points
        ]
    return Picture(
        draw=draw,
        title=plan.what,
        said=f"Bar chart of expected errors, {plan.what}: {said}.",
        headings=("mechanism", "at", "expected error", "can be had"),
        rows=rows,
    )


def _bars(ways: Sequence[Way]) -> Spec:
    labels = one_each(heading(way.name) for way in ways)
    data = [
        {"way": label, "error": way.error, "text": heading(way.text), "can": way.available}
        for label, way in zip(labels, ways, strict=True)
    ]
    y = {
        "field": "way",
        "type": "nominal",
        "sort": labels,
        "title": "mechanism",
        "axis": beside_labels(),
    }
    x = {
        "field": "error",
        "type": "quantitative",
        "scale": {"zero": True},
        "axis": number_axis("expected error", tickCount=5),
    }
    pale = {"condition": {"test": "datum.can", "value": 0.85}, "value": 0.12}
    return {
        "data": inline(data),
        "width": _WIDTH,
        "height": {"step": _STEP},
        "layer": [
            {
                "mark": {"type": "bar", "color": FILL, "stroke": FILL, "height": 13},
                "encoding": {"x": x, "y": y, "fillOpacity": pale},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 6},
                "encoding": {"x": x, "y": y, "text": {"field": "text", "type": "nominal"}},
            },
        ],
    }


def _lines(
    lines: Mapping[str, Sequence[tuple[float, float]]],
    title: str,
    mark: float | None,
    theme: Theme,
    *,
    logarithmic: bool,
) -> Spec:
    names = list(lines)
    pairs = [(name, *point) for name, points in lines.items() for point in points]
    data = [{"name": heading(name), "place": place, "error": error} for name, place, error in pairs]
    places = sorted({place for _, place, _ in pairs})
    positive = all(error > 0 for _, _, error in pairs)
    x: dict[str, Any] = {
        "field": "place",
        "type": "quantitative",
        "scale": {"type": "log" if logarithmic else "linear", "nice": False, "padding": 12},
        "axis": {"title": title, "format": "~r", "values": _few(places)},
    }
    if not logarithmic:
        x["scale"]["zero"] = False
    y: dict[str, Any] = {
        "field": "error",
        "type": "quantitative",
        "scale": {"zero": True},
        "axis": number_axis("expected error", tickCount=5),
    }
    if positive and logarithmic and title == "ε":
        y["scale"] = {"type": "log", "nice": False, "padding": 8}
        y["axis"]["values"] = _round_numbers([error for _, _, error in pairs])
    scales = {"color": LINES, "shape": SHAPES, "strokeDash": DASHES}
    coded = {
        channel: {
            "field": "name",
            "type": "nominal",
            "title": None,
            "scale": {"domain": list(map(heading, names)), "range": list(found[: len(names)])},
        }
        for channel, found in scales.items()
    }
    line = {name: coded[name] for name in ("color", "strokeDash")}
    point = {name: coded[name] for name in ("color", "shape")}
    layers: list[Spec] = [
        {"mark": {"type": "line", "strokeWidth": 1.8}, "encoding": {"x": x, "y": y, **line}},
        {
            "mark": {"type": "point", "filled": True, "size": 36, "opacity": 1},
            "encoding": {"x": x, "y": y, **point},
        },
    ]
    if mark is not None:
        rule = {"type": "rule", "strokeDash": [2, 3], "color": ink(theme), "opacity": 0.7}
        layers.append(
            {
                "data": inline([{"place": mark}]),
                "mark": rule,
                "encoding": {"x": {**x, "field": "place"}},
            }
        )
    return {"data": inline(data), "width": _WIDTH, "height": _HEIGHT, "layer": layers}


def _round_numbers(values: Sequence[float]) -> list[float]:
    """Ones, twos and fives of every power from the least of the values to the largest."""
    low, high = min(values), max(values)
    powers = range(floor(log10(low)) - 1, ceil(log10(high)) + 1)
    found = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    return [float(f"{each:.1g}") for each in found if low / 2 <= each <= high * 2]


def _few(places: Sequence[float]) -> list[float]:
    """Of many places along an axis those that can be written beside each other."""
    if len(places) <= 8:
        return list(places)
    chosen = [places[0]]
    for place in places[1:]:
        if place >= 1.45 * chosen[-1]:
            chosen.append(place)
    return chosen
