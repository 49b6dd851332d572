"""Units in cells of numbers or dates: bars as wide as the cells, one panel for each line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onesided.charts.bars import bars
from onesided.charts.parts import DrawnFigure, DrawnKey
from onesided.charts.picture import Picture
from onesided.charts.style import FILL, Spec, Theme, inline, number_axis, place_format, titled

MOST_PANELS = 60
_WIDE, _NARROW, _HEIGHT, _LOW = 560, 250, 230, 120
_TO_A_ROW = 2
_RULES = 60
"""Up to so many cells, each has its interval drawn."""


@dataclass(frozen=True)
class DrawnCells:
    """A line of cells: where each begins and ends, its units, and their interval.

    - `is_time`: ends are ISO texts of dates or moments.
    - `notes`: what is said below the name.
    """

    name: str
    low: Sequence[Any]
    high: Sequence[Any]
    values: Sequence[float]
    ends: Sequence[tuple[float | None, float | None]] | None = None
    is_time: bool = False
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class DrawnValues:
    """The frequent values of a column instead."""

    name: str
    key: DrawnKey
    figure: DrawnFigure
    notes: Sequence[str] = ()


def cells_picture(
    title: str,
    panels: Sequence[DrawnCells | DrawnValues],
    table: tuple[Sequence[str], Sequence[Sequence[str]]],
    notes: Sequence[str] = (),
) -> Picture:
    """A chart of these panels; `table` is what a reader may see instead."""
    shown = panels[:MOST_PANELS]
    said = list(notes)
    if len(panels) > len(shown):
        said.append(f"The first {len(shown)} of {len(panels):,}; all are in the table.")
    if any(isinstance(each, DrawnCells) and _has_rules(each) for each in shown):
        said.append("Thin lines: 95 % interval.")
    alone = len(panels) == 1

    def draw(theme: Theme) -> Spec:
        drawn = [_panel(each, theme, alone=alone) for each in shown]
        whole: Spec = drawn[0] if alone else {"concat": drawn, "columns": _TO_A_ROW, "spacing": 24}
        return {**whole, "title": titled(title, said)}

    headings, rows = table
    return Picture(draw, title, f"Histogram of {title}: {len(panels)} panels.", headings, rows)


def _has_rules(panel: DrawnCells) -> bool:
    return panel.ends is not None and len(panel.values) <= _RULES


def _panel(panel: DrawnCells | DrawnValues, theme: Theme, *, alone: bool) -> Spec:
    name = {"title": titled(panel.name, panel.notes)}
    if isinstance(panel, DrawnValues):
        return {**bars(panel.key, [panel.figure]).draw(theme), "width": _NARROW, **name}
    width, height = (_WIDE, _HEIGHT) if alone else (_NARROW, _LOW)
    rows = [_row(panel, place) for place in range(len(panel.values))]
    x: dict[str, Any] = {"field": "low", "title": None}
    if panel.is_time:
        x |= {"type": "temporal", "scale": {"type": "utc"}, "axis": {"labelOverlap": True}}
    else:
        scale = {"zero": False, "nice": False}
        plain = place_format([*panel.low, *panel.high]) == "d"
        axis: Spec = {"format": "d", "tickCount": 6}
        axis = axis if plain else number_axis(None, tickCount=6)
        x |= {"type": "quantitative", "scale": scale, "axis": axis}
    y = {"field": "value", "type": "quantitative", "axis": number_axis("units", tickCount=4)}
    bar = {"type": "rect", "color": FILL, "stroke": FILL, "strokeWidth": 0.5}
    sides = {"x": x, "x2": {"field": "high"}, "y": y, "y2": {"datum": 0}}
    layers: list[Spec] = [{"mark": bar, "encoding": sides}]
    if _has_rules(panel):
        across = {**x, "field": "middle"}
        ends = {"x": across, "y": {**y, "field": "least"}, "y2": {"field": "most"}}
        layers.append({"mark": {"type": "rule", "opacity": 0.8}, "encoding": ends})
    whole: Spec = {"data": inline(rows), "width": width, "height": height, "layer": layers}
    return whole if alone else {**whole, **name}


def _row(panel: DrawnCells, place: int) -> Mapping[str, Any]:
    low, high = panel.low[place], panel.high[place]
    row = {"low": low, "high": high, "value": panel.values[place]}
    if panel.ends is None or panel.is_time:
        return row
    least, most = panel.ends[place]
    return {**row, "middle": (low + high) / 2, "least": least, "most": most}
