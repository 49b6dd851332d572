"""From a release to its chart: what is handed over is what was released, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onesided.charts.answers import DrawnAnswer, answer_picture
from onesided.charts.parts import DrawnFigure, DrawnKey
from onesided.data.shown import ShownAnswer, ShownFigure, as_number
from onesided.errors import RequestError

if TYPE_CHECKING:
    from onesided.charts.picture import Picture

MOST_ROWS = 20_000
"""Charts look at so many rows at the most; far fewer are drawn."""


def table_picture(answer: ShownAnswer, title: str) -> Picture:
    """The chart of a released table."""
    keys = [
        DrawnKey.of(
            key.name,
            key.values,
            [key.text(row) for row in range(answer.rows)],
            ordered=key.ordered,
        )
        for key in answer.keys
    ]
    rows = [[cell.text for cell in row if cell.bar is None] for row in answer.cells(answer.rows)]
    figures = [_figure(each, answer.rows) for each in answer.figures if _is_drawn(each, answer)]
    if not figures:
        raise RequestError("No column of this answer holds numbers; there is nothing to draw.")
    return answer_picture(DrawnAnswer(title, keys, figures, list(answer.headings), rows))


def _is_drawn(figure: ShownFigure, answer: ShownAnswer) -> bool:
    """What stands beside the mean of a table is in it alone; of a SELECT every figure is drawn."""
    first = answer.figures[0]
    if not all(value is None or as_number(value) is not None for value in figure.values):
        return False
    return figure is first or not first.is_mean or bool(figure.covers)


def _figure(figure: ShownFigure, rows: int) -> DrawnFigure:
    ends = [figure.ends(row) for row in range(rows)]
    return DrawnFigure(
        name=figure.heading,
        values=[figure.number(row) for row in range(rows)],
        low=_numbers([low for low, _ in ends]),
        high=_numbers([high for _, high in ends]),
        texts=[figure.digits.text(value) for value in figure.values],
        covers=figure.covers,
        from_zero=not figure.is_mean,
    )


def _numbers(values: list[Any]) -> list[float | None]:
    return [as_number(value) for value in values]
