"""A released answer: by one key, by two, by more; with intervals, and with what noise explains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onesided.charts.bars import bars
from onesided.charts.heat import heat, panels
from onesided.charts.lines import lines
from onesided.charts.parts import Drawing, DrawnFigure, DrawnKey
from onesided.charts.picture import Picture
from onesided.charts.style import Spec, Theme, titled

MOST_FIGURES = 4
LEAST_ON_A_LINE = 3


@dataclass(frozen=True)
class DrawnAnswer:
    """Keys and figures of the same rows; `title` says what was released."""

    title: str
    keys: Sequence[DrawnKey]
    figures: Sequence[DrawnFigure]
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


def answer_picture(answer: DrawnAnswer) -> Picture:
    """The answer: a line with a ribbon for ordered keys, bars for others, heat maps for two."""
    part = _part(answer)
    left_out = len(answer.figures) - MOST_FIGURES
    more = [f"{left_out} more figures are in the table alone."] if left_out > 0 else []

    def draw(theme: Theme) -> Spec:
        return {**part.draw(theme), "title": titled(answer.title, [*part.notes, *more])}

    return Picture(
        draw=draw,
        title=answer.title,
        said=_said(answer, part),
        headings=answer.headings,
        rows=answer.rows,
    )


def _part(answer: DrawnAnswer) -> Drawing:
    figures = list(answer.figures[:MOST_FIGURES])
    keys = list(answer.keys)
    if len(keys) == 2:
        return heat(keys[0], keys[1], figures)
    if len(keys) > 2:
        return panels(keys, figures[0])
    key = keys[0] if keys else DrawnKey.of_all(len(figures[0].values) if figures else 0)
    if key.ordered and sum(each is not None for each in key.places) >= LEAST_ON_A_LINE:
        return lines(key, figures)
    return bars(key, figures)


def _said(answer: DrawnAnswer, part: Drawing) -> str:
    """In words, for those who do not see it."""
    if not answer.figures:
        return answer.title
    figure = answer.figures[0]
    found = [(value, row) for row, value in enumerate(figure.values) if value is not None]
    by = " and ".join(key.name for key in answer.keys)
    start = f"{part.kind} of {answer.title}" + (f" by {by}" if by else "")
    if not found:
        return f"{start}: {len(figure.values):,} groups, of which none was counted."
    (_, low), (_, high) = min(found), max(found)

    def group(row: int) -> str:
        names = ", ".join(key.texts[row] for key in answer.keys)
        return f"{figure.texts[row]}" + (f" ({names})" if names else "")

    intervals = f", with intervals ({figure.covers})" if figure.covers else ""
    span = group(low) if low == high else f"from {group(low)} to {group(high)}"
    groups = f"{len(figure.values):,} groups, " if answer.keys else ""
    notes = "".join(f" {note}" for note in part.notes)
    return f"{start}: {groups}{span}{intervals}.{notes}"
