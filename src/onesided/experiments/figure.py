"""What a figure is, and how its rows become lines of a chart and lines of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from onesided.charts.comparison import Series
from onesided.experiments.methods import LOOKS
from onesided.experiments.setting import ReproductionSetting
from onesided.experiments.trial import Results, Row, Scalar, Trial
from onesided.report.claims import NumberTable, Section


@dataclass(frozen=True, kw_only=True)
class PaperFigure:
    """A figure or table of the paper: the grid of its trials, and what is made of their results.

    `uses_traces` says that trajectories must be prepared first.
    """

    name: str
    title: str
    trials: Callable[[ReproductionSetting], list[Trial]]
    section: Callable[[ReproductionSetting, Results], Section]
    uses_traces: bool = False


def percent(share: Scalar) -> str:
    """0.99 as 99 %."""
    return f"{float(share) * 100:g} %"


def lines(results: Results, methods: Iterable[str], x: str) -> list[Series]:
    """One line per method over the label `x`; rows without it (ordinary DP) make a level line."""
    places = results.labels(x)
    drawn = []
    for method in methods:
        points = _along(results.where(method=method), x, places)
        if not points:
            continue
        # The spread of a level line is the same everywhere, and drawn once.
        level = x not in points[0].labels
        spread = points[:1] if level else points
        rest = [row.mean for row in points[len(spread) :]]
        drawn.append(
            Series(
                name=method,
                look=LOOKS.get(method),
                x=[_place(x, place) for place in places],
                y=[row.mean for row in points],
                low=[*(row.low for row in spread), *rest],
                high=[*(row.high for row in spread), *rest],
            )
        )
    return drawn


def numbers(
    title: str, results: Results, methods: Sequence[str], x: str, x_title: str
) -> NumberTable:
    """The same rows as a table: methods down, the label `x` across."""
    places = results.labels(x)
    found = {method: _along(results.where(method=method), x, places) for method in methods}
    return NumberTable(
        title=title,
        columns=[f"method \\ {x_title}", *(_place(x, place) for place in places)],
        rows=[
            [method, *(row.spread for row in points)] for method, points in found.items() if points
        ],
    )


def _along(rows: Results, x: str, places: list[Scalar]) -> list[Row]:
    """The row of each place; the only row everywhere where it does not depend on the place."""
    if not rows.rows:
        return []
    if x not in rows.rows[0].labels:
        return [rows.rows[0]] * len(places)
    return [rows.one(**{x: place}) for place in places]


def _place(x: str, value: Scalar) -> str:
    return percent(value) if x == "share" else str(value)


def relabelled(rows: Iterable[Row], **labels: Scalar) -> Results:
    """The rows with some labels set anew."""
    return Results([Row(labels={**row.labels, **labels}, values=row.values) for row in rows])
