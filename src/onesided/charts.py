"""Plain arrays in, Altair chart out; nothing else draws.

Series are told apart by colour, by the shape of their points and by the dashes of their lines, so
that a chart can be read in greyscale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onesided.errors import InputError

try:
    import altair as alt
    import vl_convert
except ImportError:
    raise InputError("Charts need more than the core: install onesided[charts].") from None

# Okabe and Ito's colours for all kinds of sight, ordered so that neighbours differ in lightness.
COLOURS = (
    "#000000",
    "#E69F00",
    "#0072B2",
    "#56B4E9",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#777777",
    "#8C6D1F",
    "#4B2E83",
    "#A6A6A6",
)
SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
    "M0,-1L.23,-.31L.95,-.31L.36,.12L.59,.81L0,.38L-.59,.81L-.36,.12L-.95,-.31L-.23,-.31Z",
    "M1,0L.5,.87L-.5,.87L-1,0L-.5,-.87L.5,-.87Z",
    "M-1,-1L1,1L1,-1L-1,1Z",
)
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 1], [10, 2, 2, 2, 2, 2])
PNG_SCALE = 2.0


Columns = Mapping[str, Sequence[Any]]


def group_chart(columns: Columns, keys: Sequence[str], figure: str) -> Any:
    """The released `figure` by group: bars for one key, a heat map for two, else joined labels."""
    if len(keys) == 2:
        return heatmap(columns, x=keys[1], y=keys[0], figure=figure, title=f"{figure} by group")
    label = " · ".join(keys) or "all"
    rows = zip(*(columns[key] for key in keys), strict=True) if keys else [("all",)]
    names = [" · ".join(map(str, row)) for row in rows]
    return bars(
        {label: names, figure: columns[figure]}, x=label, y=figure, title=f"{figure} by group"
    )


def bars(columns: Columns, *, x: str, y: str, title: str) -> Any:
    """One horizontal bar for each value of the column `x`, as long as `y`, in the given order."""
    values = [
        {"x": str(name), "y": height} for name, height in zip(columns[x], columns[y], strict=True)
    ]
    base = alt.Chart(_inline(values), title=title).encode(
        x=alt.X("y:Q", title=y),
        y=alt.Y("x:N", title=None, sort=None, axis=alt.Axis(labelLimit=320)),
    )
    figures = base.mark_text(align="left", dx=4).encode(text=alt.Text("y:Q", format=".3~g"))
    return (base.mark_bar(color=COLOURS[2]) + figures).properties(width=420)


def heatmap(columns: Columns, *, x: str, y: str, figure: str, title: str) -> Any:
    """A cell for each pair of values of the columns `x` and `y`, the darker the larger."""
    values = [
        {"x": across, "y": down, "figure": shade}
        for across, down, shade in zip(columns[x], columns[y], columns[figure], strict=True)
    ]
    return (
        alt.Chart(_inline(values), title=title)
        .mark_rect()
        .encode(
            x=alt.X("x:O", title=x, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("y:O", title=y),
            color=alt.Color("figure:Q", title=figure, scale=alt.Scale(scheme="blues")),
        )
        .properties(height=alt.Step(12))
    )


@dataclass(frozen=True, kw_only=True)
class Series:
    """One method: a mean `y` with its spread from `low` to `high` at every `x`."""

    name: str
    x: Sequence[str] | Sequence[float]
    y: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


@dataclass(frozen=True, kw_only=True)
class Axes:
    """Titles of the axes, and how they run.

    `reference` draws a dotted line at that height; `mark` one at that place along a numeric x.
    """

    x: str
    y: str
    log_x: bool = False
    log_y: bool = True
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
    names = list(dict.fromkeys(each.name for panel in panels.values() for each in panel))
    drawn = [
        _panel(heading, series, axes, names, width) for heading, series in panels.items() if series
    ]
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


@dataclass(frozen=True, kw_only=True)
class AccountSteps:
    """What an account had spent and what it might have, from each `times` on."""

    name: str
    times: Sequence[str]
    spent: Sequence[float]
    plain_sum: Sequence[float]
    budget: Sequence[float]


def account_chart(accounts: Sequence[AccountSteps]) -> Any:
    """Each account over time, one below the other: the budget, what is spent, and the plain sum."""
    names = ["spent", "budget", "plain sum of ε"]
    line = alt.Legend(symbolType="stroke", symbolSize=300, symbolStrokeWidth=2)
    drawn = []
    for account in accounts:
        figures = zip(names, (account.spent, account.budget, account.plain_sum), strict=True)
        rows = [
            {"time": time, "figure": name, "epsilon": value}
            for name, values in reversed(list(figures))  # what is spent is drawn above the rest
            for time, value in zip(account.times, values, strict=True)
        ]
        chart = alt.Chart(_inline(rows), title=account.name)
        drawn.append(
            chart.mark_line(interpolate="step-after", point=True, strokeWidth=2)
            .encode(
                x=alt.X("time:T", title="time (UTC)", scale=alt.Scale(type="utc")),
                y=alt.Y("epsilon:Q", title="ε", scale=alt.Scale(zero=True)),
                color=alt.Color(
                    "figure:N", title=None, legend=line, scale=_scale(names, COLOURS[2:])
                ),
                strokeDash=alt.StrokeDash("figure:N", title=None, scale=_scale(names, DASHES)),
            )
            .properties(width=520, height=220)
        )
    return alt.vconcat(*drawn)


def svg(chart: Any) -> str:
    """The chart as SVG text."""
    return str(vl_convert.vegalite_to_svg(chart.to_json()))


def write_png(chart: Any, path: Path) -> None:
    """The chart as a PNG file, to be looked at."""
    path.write_bytes(vl_convert.vegalite_to_png(chart.to_json(), scale=PNG_SCALE))


def _panel(heading: str, series: Sequence[Series], axes: Axes, names: list[str], width: int) -> Any:
    rows = [
        {"series": each.name, "x": x, "y": y, "low": low, "high": high}
        for each in series
        for x, y, low, high in zip(each.x, each.y, each.low, each.high, strict=True)
    ]
    base = alt.Chart(_inline(rows)).encode(x=_x(axes, rows))
    y_scale = alt.Scale(type="log", nice=False, padding=8) if axes.log_y else alt.Scale(zero=True)
    y_axis = alt.Axis(format="~r", tickCount=6)
    y = alt.Y("y:Q", title=axes.y, scale=y_scale, axis=y_axis)
    offset = {} if axes.connect else {"xOffset": alt.XOffset("series:N", sort=names)}
    colour = alt.Color("series:N", title="method", sort=names, scale=_scale(names, COLOURS))
    shape = alt.Shape("series:N", title="method", sort=names, scale=_scale(names, SHAPES))
    spread = base.mark_rule(strokeWidth=1.3).encode(y=y, y2="high:Q", color=colour, **offset)
    layers = [
        spread.encode(y=alt.Y("low:Q", title=axes.y, scale=y_scale, axis=y_axis)),
        base.mark_point(filled=True, size=62, opacity=1).encode(
            y=y, color=colour, shape=shape, **offset
        ),
    ]
    if axes.connect:
        dash = alt.StrokeDash("series:N", title="method", sort=names, scale=_scale(names, DASHES))
        layers.insert(0, base.mark_line(strokeWidth=1.6).encode(y=y, color=colour, strokeDash=dash))
    if axes.reference is not None:
        line = alt.Chart(_inline([{"y": axes.reference}]))
        layers.insert(0, line.mark_rule(strokeDash=[1, 3], color="#444444").encode(y="y:Q"))
    if axes.mark is not None:
        line = alt.Chart(_inline([{"x": axes.mark}]))
        layers.insert(0, line.mark_rule(strokeDash=[1, 3], color="#444444").encode(x="x:Q"))
    return alt.layer(*layers).properties(width=width, height=250, title=heading)


def _x(axes: Axes, rows: list[dict[str, Any]]) -> alt.X:
    if any(isinstance(row["x"], str) for row in rows):
        order = list(dict.fromkeys(row["x"] for row in rows))
        return alt.X("x:N", sort=order, title=axes.x, axis=alt.Axis(labelAngle=0))
    kind: Any = "log" if axes.log_x else "linear"
    scale = alt.Scale(type=kind, zero=False, nice=False, padding=10)
    return alt.X("x:Q", title=axes.x, scale=scale, axis=alt.Axis(format="~r", tickCount=6))


def _scale(names: list[str], values: Sequence[Any]) -> alt.Scale:
    """Each series keeps its looks in every panel; looks repeat only beyond their number."""
    return alt.Scale(domain=names, range=[values[i % len(values)] for i in range(len(names))])


def _inline(values: list[dict[str, Any]]) -> Any:
    """Rows that travel inside the chart's own text, so that it stands alone."""
    return {"values": values}
