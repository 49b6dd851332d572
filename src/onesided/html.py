"""Small pieces of HTML for notebooks: tables and facts that can be read on dark and light.

Every text is escaped, letters that act are written out, and there is neither script nor link. The
colours are those of the page around it, or grey and blue that can be read on both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from onesided.visible import visible

_LINE = "border-bottom:1px solid rgba(128,128,128,.3)"
_CELL = "padding:.15em .8em .15em 0;background:transparent;color:inherit"
_BAR = "display:inline-block;height:.7em;background:#5b9bd5;vertical-align:baseline"
_BAR_WIDTH = 8.0


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    - `text`: what is in it.
    - `number`: it stands at the right.
    - `muted`: it steps back, as an interval or a mark that is no value.
    - `bar`: a bar of this share of the most, from 0 to 1.
    """

    text: str
    number: bool = False
    muted: bool = False
    bar: float | None = None


def safe(text: str) -> str:
    """A text in which nothing acts, kept apart from the direction of what is around it."""
    return f"<bdi>{escape(visible(text))}</bdi>"


def table(headings: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A table; the heading of a column stands where its cells do."""
    body, right = [], set()
    for row in rows:
        right |= {place for place, cell in enumerate(row) if cell.number}
        body.append("<tr>" + "".join(map(_cell, row)) + "</tr>")
    head = "".join(
        f'<th style="text-align:{"right" if place in right else "left"};{_CELL};{_LINE}">'
        f"{safe(heading)}</th>"
        for place, heading in enumerate(headings)
    )
    return (
        f'<table style="border-collapse:collapse;margin:.3em 0;color:inherit"><thead><tr>{head}'
        f"</tr></thead><tbody>{''.join(body)}</tbody></table>"
    )


def plain_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts with the look of the page around it: a long one stays small."""
    head = "".join(f"<th>{safe(each)}</th>" for each in headings)
    body = "".join(f"<tr>{''.join(f'<td>{safe(each)}</td>' for each in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def facts(pairs: Mapping[str, Any]) -> str:
    """Names with what they are, one to a line."""
    lines = "".join(
        f'<div><span style="opacity:.7">{safe(name)}</span>&ensp;{safe(str(value))}</div>'
        for name, value in pairs.items()
    )
    return f'<div style="margin:.2em 0;font-size:.92em;max-width:60em">{lines}</div>'


def note(text: str) -> str:
    """A line that steps back."""
    return f'<div style="opacity:.7;font-size:.92em">{safe(text)}</div>'


def card(title: str, *parts: str) -> str:
    """One value: its title, and below it its parts, which are HTML already."""
    return f'<div style="overflow-x:auto"><strong>{safe(title)}</strong>{"".join(parts)}</div>'


def _cell(cell: Cell) -> str:
    place = "right" if cell.number else "left"
    muted = ";opacity:.7" if cell.muted else ""
    numbers = ";font-variant-numeric:tabular-nums;white-space:nowrap" if cell.number else ""
    inner = safe(cell.text)
    if cell.bar is not None:
        width = _BAR_WIDTH * min(max(cell.bar, 0.0), 1.0)
        inner = f'<span style="{_BAR};width:{width:.2f}em"></span>'
    return f'<td style="text-align:{place};{_CELL};{_LINE}{muted}{numbers}">{inner}</td>'
