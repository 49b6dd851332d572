"""A figure of a SELECT beside the release that it was computed from, which has its intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from onesided.data.shown import ShownFigure, shown_figure
from onesided.data.values import python_values


def figure_beside(
    name: str,
    answer: pa.Table,
    sources: Mapping[str, str],
    released: pa.Table,
    receipt: Mapping[str, Any],
) -> ShownFigure:
    """The column `name` of `answer`, with intervals as far as the keys in it tell the rows.

    - `sources`: from which key or figure each column of the answer comes.
    - `released`, `receipt`: the release of the figure, its keys in the first columns.
    """
    keys = list(receipt["request"]["by"])
    columns = {source: column for column, source in sources.items()}
    figure = shown_figure(name, released, receipt, released.column_names[len(keys)])
    values = tuple(python_values(answer.column(name)))
    if not set(keys) <= set(columns):
        return replace(figure, values=values, low=None, high=None, covers="")
    rows = {group: row for row, group in enumerate(_groups(released, keys))}
    places = [rows.get(group) for group in _groups(answer, [columns[key] for key in keys])]
    low, high = (
        None if ends is None else tuple(None if row is None else ends[row] for row in places)
        for ends in (figure.low, figure.high)
    )
    return replace(figure, values=values, low=low, high=high)


def _groups(table: pa.Table, keys: Sequence[str]) -> list[tuple[str, ...]]:
    """The keys of each row, in a form that equals itself."""
    columns = [map(repr, python_values(table.column(key))) for key in keys]
    return list(zip(*columns, strict=True)) if columns else [()] * len(table)
