"""How a release shows itself: a line, a text and a table for notebooks; the first rows of many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onesided import html
from onesided.data.release import PlacedRelease, Receipt, Release, SampleRelease, TableRelease
from onesided.data.values import python_rows
from onesided.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

ROWS = 20
TEXT_ROWS = 10
_NULL = "NULL"


def release_html(release: Release) -> str:
    """The first rows with their intervals, the promise, the cost and what is left."""
    more = len(release) - ROWS
    headings, rows = release_cells(release)
    parts = [html.table(headings, rows)] if headings else []
    if more > 0 and not isinstance(release, PlacedRelease):
        parts.append(html.note(f"… {more:,} more rows"))
    parts.append(html.facts(_facts(release)))
    return html.card(release.receipt.figure, *parts)


def release_cells(release: Release) -> tuple[list[str], list[list[html.Cell]]]:
    """The headings and the first rows; nothing where the rows are elsewhere."""
    if isinstance(release, TableRelease):
        answer = release.shown(ROWS)
        headings = list(answer.headings)
        if answer.has_bars:
            first = answer.figures[0]
            headings.insert(len(answer.keys) + 1 + bool(first.covers), "")
        return headings, list(answer.cells(ROWS))
    if isinstance(release, SampleRelease):
        return true_cells(release.head(ROWS))
    return [], []


def true_cells(rows: pa.Table) -> tuple[list[str], list[list[html.Cell]]]:
    """The headings and the rows of a sample: true values are shown as they are."""
    return list(rows.column_names), [_cells(row) for row in python_rows(rows)]


def receipt_html(receipt: Receipt) -> str:
    """What was promised, at what cost, with which noise."""
    content = receipt.content
    return html.card(
        f"Receipt: {receipt.figure}",
        html.facts(
            {
                "promise": receipt.guarantee,
                "cost": receipt.price,
                "mechanism": content["mechanism"],
                "noise": content["noise"],
                "policy": content["policy"]["sql"],
                "unit": content["unit"],
            }
        ),
    )


def release_text(release: Release) -> str:
    """The first rows in plain columns, and what they cost."""
    lines = [visible(release.receipt.figure)]
    if isinstance(release, TableRelease):
        answer = release.shown(TEXT_ROWS)
        rows = [[cell for cell in row if cell.bar is None] for row in answer.cells(TEXT_ROWS)]
        lines += _columns(answer.headings, rows)
    elif isinstance(release, SampleRelease):
        head = release.head(TEXT_ROWS)
        lines += _columns(head.column_names, [_cells(row) for row in python_rows(head)])
    if len(release) > TEXT_ROWS and not isinstance(release, PlacedRelease):
        lines.append(f"… {len(release) - TEXT_ROWS:,} more rows")
    return "\n".join([*lines, *(f"{name}: {said}" for name, said in _facts(release).items())])


def _facts(release: Release) -> dict[str, str]:
    facts = {}
    if isinstance(release, SampleRelease):
        facts = {name: visible(said) for name, said in release.said.items()}
    if isinstance(release, PlacedRelease):
        facts["released"] = str(release.held)
        facts["rows"] = visible(release.place)
    if isinstance(release, TableRelease) and release.accuracy.said:
        facts["error"] = release.accuracy.said
    return {**facts, "promise": visible(release.guarantee), "cost": release.receipt.price}


def _cells(row: Sequence[object]) -> list[html.Cell]:
    return [
        html.Cell(
            _NULL if value is None else str(value),
            number=isinstance(value, int | float) and not isinstance(value, bool),
            muted=value is None,
        )
        for value in row
    ]


def _columns(headings: Sequence[str], rows: Sequence[Sequence[html.Cell]]) -> list[str]:
    """Columns as wide as what is in them, numbers at the right."""
    texts = [[visible(cell.text) for cell in row] for row in rows]
    names = list(map(visible, headings))
    widths = [max(map(len, column)) for column in zip(names, *texts, strict=True)]
    right = [all(row[place].number for row in rows) for place in range(len(names))]
    return [
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in (names, *texts)
    ]
