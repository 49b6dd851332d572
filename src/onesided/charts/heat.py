"""Two keys as a heat map, more of them as small multiples; noise alone explains marked cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from onesided.charts.parts import Drawing, DrawnFigure, DrawnKey
from onesided.charts.style import (
    HEAT,
    LABEL_LIMIT,
    Spec,
    Theme,
    beside_labels,
    heading,
    inline,
    one_each,
)
from onesided.visible import visible

MOST_LABELS = 40
MOST_PLACES = 400
MOST_PANELS = 9
_WIDTH, _HEIGHT, _PANEL = 560, 620, 190
_SHORT_LABEL = 100
_MOST_CELL, _MARKED_CELL = 26, 6.0
_MARK = "Circles: an interval that holds 0, so noise alone may explain the cell."
_EMPTY = "Cells without a colour were not released or not counted."


def heat(down: DrawnKey, across: DrawnKey, figures: Sequence[DrawnFigure]) -> Drawing:
    """A cell for each pair of values, brighter for more; one map for each figure."""
    figure = figures[0]
    rows = list(range(len(figure.values)))
    ys, xs = _axis(down, figure, rows), _axis(across, figure, rows)
    notes = [*ys.notes, *xs.notes, *_marks(figures, rows)]
    if any(each is None for each in figure.values) or len(ys.order) * len(xs.order) > len(rows):
        notes.append(_EMPTY)

    def draw(theme: Theme) -> Spec:
        found = [_map(each, rows, ys, xs, (_WIDTH, _HEIGHT), None) for each in figures]
        if len(found) == 1:
            return found[0]
        return {"vconcat": found, "spacing": 20, "resolve": {"scale": {"color": "independent"}}}

    return Drawing(draw, notes, "Heat map")


def panels(keys: Sequence[DrawnKey], figure: DrawnFigure) -> Drawing:
    """A small heat map of the last two keys for each value of those before them."""
    down, across = keys[-2], keys[-1]
    groups: dict[str, list[int]] = {}
    for row in range(len(figure.values)):
        name = " · ".join(visible(key.texts[row]) for key in keys[:-2])
        groups.setdefault(name, []).append(row)
    ranked = sorted(groups, key=lambda name: -_total(figure, groups[name]))
    shown = [name for name in groups if name in set(ranked[:MOST_PANELS])]
    rows = [row for name in shown for row in groups[name]]
    ys, xs = _axis(down, figure, rows), _axis(across, figure, rows)
    notes = [f"One panel for each {', '.join(heading(key.name) for key in keys[:-2])}."]
    if len(shown) < len(groups):
        notes.append(
            f"The {len(shown)} panels of {len(groups):,} with the largest {figure.name}; all are "
            "in the table."
        )
    notes += [*ys.notes, *xs.notes, *_marks([figure], rows)]
    known = [value for row in rows if (value := figure.values[row]) is not None]
    ends = [min(known, default=0.0), max(known, default=1.0)]

    def draw(theme: Theme) -> Spec:
        found = [
            {**_map(figure, groups[name], ys, xs, (_PANEL, _PANEL), ends), "title": heading(name)}
            for name in shown
        ]
        return {
            "concat": found,
            "columns": 3,
            "spacing": 16,
            "resolve": {"scale": {"color": "shared"}},
        }

    return Drawing(draw, notes, "Small heat maps")


class _Axis:
    """One side of a map: the label of each row of the table, and the labels in their order."""

    def __init__(
        self, key: DrawnKey, labels: dict[int, str], order: list[str], notes: list[str]
    ) -> None:
        self.key, self.labels, self.order, self.notes = key, labels, order, notes

    def spec(self, channel: str, size: float, limit: int) -> Spec:
        cell = size / max(len(self.order), 1)
        axis: Spec = {"title": heading(self.key.name), "labelOverlap": True, "ticks": cell > 8}
        if channel == "y":
            axis |= {**beside_labels(), "labelLimit": limit}
        else:
            short = all(len(each) <= 3 for each in self.order) or self.key.ordered
            axis |= {"labelAngle": 0 if short else -90, "labelLimit": 130}
        return {
            "field": channel,
            "type": "ordinal",
            "sort": self.order,
            "axis": axis,
            "scale": {"domain": self.order, "padding": 0},
        }


def _axis(key: DrawnKey, figure: DrawnFigure, rows: Sequence[int]) -> _Axis:
    """The values of a key: ordered ones in their order, else the largest of many."""
    members: dict[Any, list[int]] = {}
    for row in rows:
        members.setdefault((key.places[row] is None, key.places[row], key.texts[row]), []).append(
            row
        )
    found = sorted(members, key=lambda each: each[:2]) if key.ordered else list(members)
    if key.ordered:
        found = sorted((each for each in members if not each[0]), key=lambda each: each[1])
        found += [each for each in members if each[0]]
    most = MOST_PLACES if key.ordered else MOST_LABELS
    notes = []
    if len(found) > most:
        total = f"{len(found):,}"
        if key.ordered:
            found = found[:most]
            notes.append(f"The first {most} of {total} values of {key.name}; all are in the table.")
        else:
            sizes = {each: _total(figure, members[each]) for each in found}
            found = sorted(found, key=lambda each: -sizes[each])[:most]
            notes.append(
                f"The {most} of {total} values of {key.name} with the largest {figure.name}; all "
                "are in the table."
            )
    order = one_each(visible(each[2]) or "(empty)" for each in found)
    labels = {row: label for each, label in zip(found, order, strict=True) for row in members[each]}
    return _Axis(key, labels, order, notes)


def _map(
    figure: DrawnFigure,
    rows: Iterable[int],
    down: _Axis,
    across: _Axis,
    room: tuple[int, int],
    ends: Sequence[float] | None,
) -> Spec:
    width, height = _side(room[0], across), _side(room[1], down)
    data = [
        {"x": across.labels[row], "y": down.labels[row], **figure.row(row)}
        for row in rows
        if row in across.labels and row in down.labels
    ]
    limit = LABEL_LIMIT if ends is None else _SHORT_LABEL
    x, y = across.spec("x", width, limit), down.spec("y", height, limit)
    # Few large values would else leave all others in one shade; the legend shows the scale.
    scale: Spec = {"scheme": HEAT, "type": "pow", "exponent": 0.5}
    if ends is not None:
        scale["domain"] = list(ends)
    legend = {"title": heading(figure.name), "gradientLength": 140, "format": ",~r"}
    layers: list[Spec] = [
        {
            "transform": [{"filter": "isValid(datum.value)"}],
            "mark": {"type": "rect"},
            "encoding": {
                "x": x,
                "y": y,
                "color": {
                    "field": "value",
                    "type": "quantitative",
                    "scale": scale,
                    "legend": legend,
                },
                "description": {"field": "words", "type": "nominal"},
            },
        }
    ]
    cell = min(width / max(len(across.order), 1), height / max(len(down.order), 1))
    size = max(min((cell * 0.32) ** 2, 34.0), 1.5)
    stroke = {"stroke": "#1a1a1a", "strokeWidth": 0.6} if cell >= _MARKED_CELL else {}
    layers.append(
        {
            "transform": [{"filter": "datum.noise && isValid(datum.value)"}],
            "mark": {"type": "circle", "color": "#ffffff", "opacity": 1, "size": size, **stroke},
            "encoding": {"x": x, "y": y},
        }
    )
    return {"data": inline(data), "width": width, "height": height, "layer": layers}


def _side(room: int, axis: _Axis) -> int:
    """How long a side is; cells are whole pixels, so that no seams are seen between them."""
    cells = max(len(axis.order), 1)
    return cells * max(1, min(_MOST_CELL, room // cells))


def _marks(figures: Sequence[DrawnFigure], rows: Sequence[int]) -> list[str]:
    return [_MARK] if any(figure.row(row)["noise"] for figure in figures for row in rows) else []


def _total(figure: DrawnFigure, rows: Sequence[int]) -> float:
    return sum(value for row in rows if (value := figure.values[row]) is not None)
