"""What a figure is, and how its rows become lines of a chart and lines of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from onesided.charts import Series
from onesided.experiments.setting import Setting
from onesided.experiments.trial import Results, Row, Scalar, Trial
from onesided.report.claims import Section, Table


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure or table of the paper: the grid of its trials, and what is made of their results."""

    name: str
    title: str
    trials: Callable[[Setting], list[Trial]]
    section: Callable[[Setting, Results], Section]


def percent(share: Scalar) -> str:
    """0.99 as 99 %."""
    return f"{float(share) * 100:g} %"


def lines(results: Results, methods: Iterable[str], x: str) -> list[Series]:
    """One line a method over the label `x`; rows without it (ordinary DP) make a level line."""
    places = results.labels(x)
    drawn = []
    for method in methods:
        rows = results.where(method=method)
        if not rows.rows:
            continue
        level = rows.rows[0] if x not in rows.rows[0].labels else None
        points = [level or rows.one(**{x: place}) for place in places]
        drawn.append(
            Series(
                name=method,
                x=[percent(place) if x == "share" else str(place) for place in places],
                y=[row.mean for row in points],
                low=[row.low for row in points],
                high=[row.high for row in points],
            )
        )
    return drawn


def numbers(
    title: str, results: Results, methods: Sequence[str], x: str, x_title: str
) -> Table:
    """The same rows as a table: methods down, the label `x` across, mean (least–greatest)."""
    places = results.labels(x)
    rows = []
    for method in methods:
        found = results.where(method=method)
        if not found.rows:
            continue
        level = found.rows[0] if x not in found.rows[0].labels else None
        rows.append([method, *(str(level or found.one(**{x: place})) for place in places)])
    heads = [percent(place) if x == "share" else str(place) for place in places]
    return Table(title=title, columns=[f"method \\ {x_title}", *heads], rows=rows)


def relabelled(rows: Iterable[Row], **labels: Scalar) -> Results:
    """The rows with some labels set anew."""
    return Results([Row(labels={**row.labels, **labels}, values=row.values) for row in rows])
