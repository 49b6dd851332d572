"""The chart of a plan."""

from __future__ import annotations

from fractions import Fraction

from onesided.charts.picture import Picture
from onesided.charts.plans import PlannedErrors, Way, plan_picture
from onesided.data.planned.option import Option
from onesided.data.planned.plan import Plan

LINES_DRAWN = 3
STEPS = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))
"""At these multiples of the planned ε the errors are drawn."""


def drawn(plan: Plan) -> Picture:
    """The errors of a plan: by mechanism, by ε, and by the bound on groups, as far as known."""
    together = plan.together is not None
    known = [row for row in plan.rows if row.error is not None]
    ways = [
        Way(
            name=_name(row, together=together),
            error=row.error or 0.0,
            text=row.said,
            available=row.available,
        )
        for row in known
    ]
    by_bound, best = {}, None
    if plan.curve is not None:
        bounds = plan.curve.bounds
        by_bound = {
            "all units": [(float(each.k), each.total) for each in bounds],
            "noise alone": [(float(each.k), each.noise) for each in bounds],
            "left out": [(float(each.k), each.cut) for each in bounds],
        }
        best = float(plan.curve.best.k)
    by = ", ".join(plan.by)
    return plan_picture(
        PlannedErrors(
            what="Plan of an answer" + (f" by {by}" if by else ""),
            ways=ways,
            by_epsilon=_by_epsilon(plan, known, together=together),
            by_bound=by_bound,
            best_bound=best,
        )
    )


def _by_epsilon(
    plan: Plan, rows: list[Option], *, together: bool
) -> dict[str, list[tuple[float, float]]]:
    """The errors of the best ways for a range of ε; a way that is paid for has its own ε."""
    if plan.error_at is None:
        return {}
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        if len(lines) == LINES_DRAWN or row.note:
            continue
        points = []
        for step in STEPS:
            error = plan.error_at(row, row.epsilon * step)
            if error is not None:
                points.append((float(row.epsilon * step), error))
        lines[_name(row, together=together)] = points
    return lines


def _name(row: Option, *, together: bool) -> str:
    """Of figures that are asked for together, the figure; else the mechanism."""
    return row.figure if together else row.mechanism
