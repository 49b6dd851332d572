"""What accounts have spent over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from onesided.charts.picture import Picture
from onesided.charts.style import DASHES, LINES, Spec, Theme, inline, number_axis, titled

MOST_ACCOUNTS = 4
_SPENT, _BUDGET, _SUM = "spent", "budget", "plain sum of ε"
_WIDTH, _HEIGHT = 560, 180


@dataclass(frozen=True, kw_only=True)
class AccountSteps:
    """What an account had spent and what it might have, from each `times` on."""

    name: str
    times: Sequence[str]
    spent: Sequence[float]
    plain_sum: Sequence[float]
    budget: Sequence[float]

    @classmethod
    def of(cls, name: str, history: Iterable[Any]) -> AccountSteps:
        """From the moments of an account."""
        moments = list(history)
        return cls(
            name=name,
            times=[each.time for each in moments],
            spent=[float(each.spent) for each in moments],
            plain_sum=[float(each.plain_sum) for each in moments],
            budget=[float(each.budget) for each in moments],
        )


def account_picture(accounts: Sequence[AccountSteps]) -> Picture:
    """Each account over time, one below the other: the budget, what is spent, and the plain sum."""
    shown = accounts[:MOST_ACCOUNTS]
    more = len(accounts) - len(shown)
    notes = [f"More accounts, {more:,} of them, are in the table alone."] if more else []

    def draw(theme: Theme) -> Spec:
        panels = [{**_panel(each), "title": titled(each.name)} for each in shown]
        title = titled("Privacy budgets: ε over time", notes)
        return {"vconcat": panels, "spacing": 24, "title": title}

    said = "; ".join(
        f"{each.name}: ε = {each.spent[-1]:g} of {each.budget[-1]:g} spent"
        for each in shown
        if each.times
    )
    rows = [
        [each.name, time, f"{spent:g}", f"{plain:g}", f"{budget:g}"]
        for each in accounts
        for time, spent, plain, budget in zip(
            each.times, each.spent, each.plain_sum, each.budget, strict=True
        )
    ]
    headings = ("account", "time", _SPENT, _SUM, _BUDGET)
    return Picture(
        draw, "Privacy budgets", f"Step chart of privacy budgets. {said}.", headings, rows
    )


def _panel(account: AccountSteps) -> Spec:
    figures = zip(
        (_SPENT, _BUDGET, _SUM), (account.spent, account.budget, account.plain_sum), strict=True
    )
    rows = [
        {"time": time, "figure": name, "epsilon": value}
        for name, values in reversed(list(figures))  # what is spent is drawn above the rest
        for time, value in zip(account.times, values, strict=True)
    ]
    names = [_SPENT, _BUDGET, _SUM]
    line = {"symbolType": "stroke", "symbolSize": 300, "symbolStrokeWidth": 2}
    return {
        "data": inline(rows),
        "width": _WIDTH,
        "height": _HEIGHT,
        "mark": {
            "type": "line",
            "interpolate": "step-after",
            "point": {"size": 22},
            "strokeWidth": 2,
        },
        "encoding": {
            "x": {
                "field": "time",
                "type": "temporal",
                "title": "time (UTC)",
                "scale": {"type": "utc"},
                "axis": {"labelOverlap": True, "tickCount": 6},
            },
            "y": {
                "field": "epsilon",
                "type": "quantitative",
                "scale": {"zero": True},
                "axis": number_axis("ε", tickCount=5),
            },
            "color": {
                "field": "figure",
                "type": "nominal",
                "title": None,
                "legend": line,
                "scale": {"domain": names, "range": list(LINES[:3])},
            },
            "strokeDash": {
                "field": "figure",
                "type": "nominal",
                "title": None,
                "scale": {"domain": names, "range": list(DASHES[:3])},
            },
        },
    }
