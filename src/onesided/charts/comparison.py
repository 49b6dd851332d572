"""Methods side by side, as points with error bars: plain arrays in, Altair chart out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

from onesided.charts.style import COLOURS, DASHES, SHAPES
from onesided.errors import InputError

try:
    import altair as alt
    import vl_convert
except ImportError:
    raise InputError("Charts need more than the core: install onesided[charts].") from None

PNG_SCALE = 2.0

AIR = 0.05
FEW_DECADES, MANY_DECADES, MOST_POWERS = 2.2, 3.5, 7
CONNECTED_GAP, LOOSE_GAP = 0.45, 0.25
LOG_LABEL = "datum.value >= 0.001 ? format(datum.value, ',~r') : format(datum.value, '~e')"


@dataclass(frozen=True, kw_only=True)
class Series:
    """One method: a mean `y` with its spread from `low` to `high` at every `x`.

    `look` is the place of its colour, shape and dashes in the lists above, so that a method can
    look the same in many charts; by default the place of the method in its chart.
    """

    name: str
    x: Sequence[str] | Sequence[float]
    y: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    look: int | None = None


@dataclass(frozen=True, kw_only=True)
class Axes:
    """Titles of the axes, and how they run.

    `reference` draws a dotted line at that height; `mark` one at that place along a numeric x.
    With `same_y` all panels have one scale, so that heights can be compared across them.
    """

    x: str
    y: str
    log_x: bool = False
    log_y: bool = True
    same_y: bool = False
    connect: bool = True
    reference: float | None = None
    mark: float | None = None


def comparison(
    panels: Mapping[str, Sequence[Series]],
    axes: Axes,
    *,
    title: str,
    subtitle: str = "",
    width: int = 330,
    columns: int = 2,
) -> Any:
    """Panels side by side, in each of them the same methods, drawn as points with error bars."""
    looks = _looks([each for panel in panels.values() for each in panel])
    everything = [row for series in panels.values() for row in _rows(series)]
    drawn = []
    for heading, series in panels.items():
        if series:
            rows = _rows(series)
            y_range = _Range.of(everything if axes.same_y else rows, axes)
            drawn.append(_panel(heading, rows, axes, looks, y_range, width))
    return (
        alt.concat(*drawn, columns=columns)
        .resolve_scale(y="independent", color="shared", shape="shared", strokeDash="shared")
        .properties(title=alt.TitleParams(title, subtitle=subtitle, anchor="start", fontSize=15))
        .configure_axis(labelFontSize=12, titleFontSize=12, gridColor="#e4e4e4")
        # Without strokes: dashes around the legend's small symbols would blur their shapes.
        .configure_legend(
            labelFontSize=12,
            titleFontSize=12,
            symbolSize=90,
            symbolStrokeWidth=0,
            labelLimit=260,
        )
        .configure_view(stroke="#999999")
    )


def svg(chart: Any) -> str:
    """The chart as SVG text."""
    return str(vl_convert.vegalite_to_svg(chart.to_json()))


def write_png(chart: Any, path: Path) -> None:
    """The chart as a PNG file, to be looked at."""
    path.write_bytes(vl_convert.vegalite_to_png(chart.to_json(), scale=PNG_SCALE))


@dataclass(frozen=True)
class _Range:
    """Where an axis begins and ends."""

    low: float
    high: float
    logarithmic: bool

    @classmethod
    def of(cls, rows: list[dict[str, Any]], axes: Axes) -> _Range:
        """All error bars with some air around them; a linear axis begins at 0."""
        marks = [] if axes.reference is None else [axes.reference]
        highest = max([row["high"] for row in rows] + marks)
        lowest = min([row["low"] for row in rows] + marks)
        if not axes.log_y:
            return cls(min(lowest, 0.0), highest * (1 + AIR) or 1.0, logarithmic=False)
        air = max((highest / lowest) ** AIR, 1 + AIR)
        return cls(lowest / air, highest * air, logarithmic=True)

    @property
    def scale(self) -> alt.Scale:
        kind: Any = "log" if self.logarithmic else "linear"
        return alt.Scale(type=kind, domain=[self.low, self.high], nice=False)

    @property
    def axis(self) -> alt.Axis:
        if not self.logarithmic:
            return alt.Axis(format="~r", tickCount=6)
        return alt.Axis(values=log_ticks(self.low, self.high), labelExpr=LOG_LABEL)


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers from `low` to `high`, few enough that every one of them can have a label."""
    decades = log10(high / low)
    steps = (1, 2, 5) if decades < FEW_DECADES else (1, 3) if decades < MANY_DECADES else (1,)
    stride = ceil(decades / MOST_POWERS) if len(steps) == 1 else 1
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers if power % stride == 0 for step in steps]
    return [float(f"{tick:.1g}") for tick in ticks if low <= tick <= high]


def _rows(series: Sequence[Series]) -> list[dict[str, Any]]:
    return [
        {"series": each.name, "x": x, "y": y, "low": low, "high": high}
        for each in series
        for x, y, low, high in zip(each.x, each.y, each.low, each.high, strict=True)
    ]


def _looks(series: Sequence[Series]) -> dict[str, int]:
    """The place of every method in the lists of colours, shapes and dashes."""
    looks: dict[str, int] = {}
    for each in series:
        looks.setdefault(each.name, len(looks) if each.look is None else each.look)
    return looks


def _panel(
    heading: str,
    rows: list[dict[str, Any]],
    axes: Axes,
    looks: dict[str, int],
    y_range: _Range,
    width: int,
) -> Any:
    names = list(looks)
    base = alt.Chart(_inline(rows)).encode(x=_x(axes, rows))
    # Methods stand beside each other, so that no error bar hides another.
    if any(isinstance(row["x"], str) for row in rows):
        base = base.encode(xOffset=alt.XOffset("series:N", sort=names))
    y = alt.Y("y:Q", title=axes.y, scale=y_range.scale, axis=y_range.axis)
    low = alt.Y("low:Q", title=axes.y, scale=y_range.scale, axis=y_range.axis)
    colour, shape, dash = (
        channel("series:N", title="method", sort=names, scale=_scale(looks, values))
        for channel, values in (
            (alt.Color, COLOURS),
            (alt.Shape, SHAPES),
            (alt.StrokeDash, DASHES),
        )
    )
    layers = [
        base.mark_rule(strokeWidth=1.3).encode(y=low, y2="high:Q", color=colour),
        base.mark_point(filled=True, size=56, opacity=1).encode(y=y, color=colour, shape=shape),
    ]
    if axes.connect:
        layers.insert(0, base.mark_line(strokeWidth=1.4).encode(y=y, color=colour, strokeDash=dash))
    if axes.reference is not None:
        line = alt.Chart(_inline([{"y": axes.reference}]))
        layers.insert(0, line.mark_rule(strokeDash=[1, 3], color="#444444").encode(y="y:Q"))
    if axes.mark is not None:
        line = alt.Chart(_inline([{"x": axes.mark}]))
        layers.insert(0, line.mark_rule(strokeDash=[1, 3], color="#444444").encode(x="x:Q"))
    return alt.layer(*layers).properties(width=width, height=250, title=heading)


def _x(axes: Axes, rows: list[dict[str, Any]]) -> alt.X:
    places = list(dict.fromkeys(row["x"] for row in rows))
    if any(isinstance(place, str) for place in places):
        gap = CONNECTED_GAP if axes.connect else LOOSE_GAP
        band = alt.Scale(paddingInner=gap, paddingOuter=gap / 2)
        return alt.X("x:N", sort=places, title=axes.x, scale=band, axis=alt.Axis(labelAngle=0))
    kind: Any = "log" if axes.log_x else "linear"
    scale = alt.Scale(type=kind, zero=False, nice=False, padding=10)
    axis = alt.Axis(format="~r", tickCount=6)
    if axes.log_x:
        axis = alt.Axis(values=log_ticks(min(places), max(places)), labelExpr=LOG_LABEL)
    return alt.X("x:Q", title=axes.x, scale=scale, axis=axis)


def _scale(looks: dict[str, int], values: Sequence[Any]) -> alt.Scale:
    """Each series keeps its looks in every panel; looks repeat only beyond their number."""
    return alt.Scale(
        domain=list(looks), range=[values[place % len(values)] for place in looks.values()]
    )


def _inline(values: list[dict[str, Any]]) -> Any:
    """Rows that travel inside the chart's own text, so that it stands alone."""
    return {"values": values}
