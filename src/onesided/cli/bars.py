"""An answer on a terminal: each number with its interval and a small bar, as wide as the window."""

from __future__ import annotations

import sys
from io import StringIO
from typing import Any

from onesided.cli.output import is_terminal
from onesided.cli.printing import say
from onesided.visible import visible

LEAST_BAR = 8
_CERTAIN, _LIKELY, _POSSIBLE, _BEYOND = "█", "▓", "░", "▸"
_ROOM = 1.5
"""Bars reach so far beyond the largest value at the most; an interval that is longer is cut."""


def draws_bars() -> bool:
    """Whether standard output is a terminal that has the letters bars are made of."""
    if not is_terminal(sys.stdout):
        return False
    try:
        (_CERTAIN + _LIKELY + _POSSIBLE + _BEYOND).encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def show_answer(answer: Any) -> None:
    """The keys, the figures, and the bars of the first figure in the room that is left."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    window = Console().width
    headings = list(answer.headings)
    rows = [[cell for cell in row if cell.bar is None] for row in answer.cells(answer.rows)]
    widths = [
        max(Text(visible(each)).cell_len for each in (heading, *(row[place].text for row in rows)))
        for place, heading in enumerate(headings)
    ]
    room = window - sum(widths) - 3 * (len(widths) + 1) - 1
    bars = None
    if answer.has_bars and room >= LEAST_BAR:
        bars = interval_bars(answer.figures[0], answer.rows, room)
    table = Table(header_style="bold")
    for place, heading in enumerate(headings):
        right = all(row[place].number for row in rows)
        table.add_column(
            Text(visible(heading)), overflow="fold", justify="right" if right else "left"
        )
    if bars is not None:
        table.add_column("", no_wrap=True)
    for number, row in enumerate(rows):
        cells = [Text(visible(cell.text), style="dim" if cell.muted else "") for cell in row]
        table.add_row(*cells, *([] if bars is None else [Text(bars[number], style="cyan")]))
    drawn = StringIO()
    Console(file=drawn, highlight=False, force_terminal=True, width=window).print(table)
    say(drawn.getvalue().removesuffix("\n"))


def interval_bars(figure: Any, rows: int, width: int) -> list[str]:
    """A bar for each row: solid to the lower end, grey to the value, light to the upper end."""
    values = [figure.number(row) or 0.0 for row in range(rows)]
    lows, highs = ([_number(figure.ends(row)[side]) for row in range(rows)] for side in (0, 1))
    highest = max([*values, *(high for high in highs if high is not None)])
    most = min(highest, _ROOM * max(values)) or 1.0
    return [
        _bar(value, low, high, most, width)
        for value, low, high in zip(values, lows, highs, strict=True)
    ]


def _bar(value: float, low: float | None, high: float | None, most: float, width: int) -> str:
    """Rounded to whole letters; what goes on beyond the room ends in an arrow."""
    places = [
        round(max(each, 0.0) / most * width)
        for each in (value if low is None else min(low, value), value, max(high or value, value))
    ]
    sure, likely, possible = (min(place, width) for place in places)
    bar = _CERTAIN * sure + _LIKELY * (likely - sure) + _POSSIBLE * (possible - likely)
    return bar[:-1] + _BEYOND if places[2] > width else bar


def _number(value: Any) -> float | None:
    from onesided.data.shown import as_number

    return as_number(value)
