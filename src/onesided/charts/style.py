"""What all charts have in common: colours, sizes, themes, and how texts get into them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from onesided.visible import visible

Spec = dict[str, Any]

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
#: Those of them that can be told from white and from black alike.
LINES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
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

FILL = "#4C8DC7"
LIGHT_FILL = "#A9C8E4"
HEAT = "cividis"
LABEL_LIMIT = 230
_TITLE_WIDTH, _SUBTITLE_WIDTH, _TITLE_LINES = 74, 96, 3
_NUMBER = "abs(datum.value) >= 1e15 ? format(datum.value, '.2~e') : format(datum.value, ',~r')"
_YEAR = 10_000


class Theme(Enum):
    """What a chart stands on; on a page it takes the colour of the text around it."""

    LIGHT = "light"
    DARK = "dark"
    PAGE = "page"


@dataclass(frozen=True)
class _Ground:
    ink: str
    paper: str


_GROUNDS = {
    Theme.LIGHT: _Ground("#1a1a1a", "#ffffff"),
    Theme.DARK: _Ground("#ececec", "#16181c"),
    Theme.PAGE: _Ground("currentColor", "transparent"),
}


def ink(theme: Theme) -> str:
    """The colour of texts and thin lines."""
    return _GROUNDS[theme].ink


def config(theme: Theme) -> Spec:
    """The look of axes, titles and legends."""
    ground = _GROUNDS[theme]
    return {
        "background": ground.paper,
        "padding": 8,
        "config": {
            "axis": {
                "labelColor": ground.ink,
                "titleColor": ground.ink,
                "tickColor": ground.ink,
                "domainColor": ground.ink,
                "domainOpacity": 0.5,
                "tickOpacity": 0.5,
                "gridColor": ground.ink,
                "gridOpacity": 0.13,
                "labelFontSize": 11,
                "titleFontSize": 11,
                "titleFontWeight": "normal",
                "labelLimit": LABEL_LIMIT,
                "titleLimit": 420,
            },
            "title": {
                "color": ground.ink,
                "subtitleColor": ground.ink,
                "anchor": "start",
                "frame": "group",
                "fontSize": 13,
                "subtitleFontSize": 11,
                "subtitlePadding": 4,
                "offset": 10,
                "limit": 900,
            },
            "header": {"labelColor": ground.ink, "titleColor": ground.ink},
            "legend": {
                "labelColor": ground.ink,
                "titleColor": ground.ink,
                "labelFontSize": 11,
                "titleFontSize": 11,
                "titleFontWeight": "normal",
                "labelLimit": LABEL_LIMIT,
                "titleLimit": LABEL_LIMIT,
                "symbolSize": 80,
                # Dashes around the legend's small symbols would blur their shapes.
                "symbolStrokeWidth": 0,
            },
            "text": {"color": ground.ink, "fontSize": 10.5},
            "rule": {"color": ground.ink},
            "view": {"stroke": ground.ink, "strokeOpacity": 0.15},
            "font": "DejaVu Sans, Noto Sans, Noto Color Emoji, sans-serif",
        },
    }


def inline(rows: Iterable[Mapping[str, Any]]) -> Spec:
    """Rows that travel inside the chart's own text, so that it stands alone."""
    return {"values": [dict(row) for row in rows]}


def heading(text: str) -> str:
    """A title that is safe to draw: Vega reads it once more, where a backslash would act again."""
    return visible(text).replace("\\", "⧵")


def titled(title: str, notes: Sequence[str] = ()) -> Spec:
    """A title of few lines, with notes below it."""
    lines = textwrap.wrap(heading(title), _TITLE_WIDTH) or [""]
    if len(lines) > _TITLE_LINES:
        lines = [*lines[: _TITLE_LINES - 1], lines[_TITLE_LINES - 1] + " …"]
    below = [line for note in notes for line in textwrap.wrap(heading(note), _SUBTITLE_WIDTH)]
    return {"text": lines, **({"subtitle": below} if below else {})}


def one_each(texts: Iterable[str]) -> list[str]:
    """The texts, each another one to an axis, though two of them may look the same."""
    seen: dict[str, int] = {}
    found = []
    for text in texts:
        seen[text] = seen.get(text, -1) + 1
        found.append(text + "\u200b" * seen[text])
    return found


def number_axis(title: str | None, **more: Any) -> Spec:
    """An axis of numbers, thousands separated and never as 3.09e+3."""
    return {"title": None if title is None else heading(title), "labelExpr": _NUMBER, **more}


def beside_labels() -> Spec:
    """The title of a vertical axis above its labels, where no label is in its way."""
    return {
        "titleAngle": 0,
        "titleAlign": "right",
        "titleBaseline": "bottom",
        "titleX": -8,
        "titleY": -6,
    }


def place_format(values: Iterable[float]) -> str:
    """How the places along an axis are written: years have no comma."""
    found = list(values)
    plain = all(each == int(each) and abs(each) < _YEAR for each in found)
    return "d" if plain else ",~r"
