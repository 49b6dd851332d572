"""Charts that commands draw, in the format of their file's ending."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from onesided.errors import OutputError

chart_option = click.option(
    "--chart", type=click.Path(path_type=Path), help="Draw a chart: .svg, .png or .html."
)


def chart_writer(
    chart: Path, title: str, caption: str, *, overwrite: bool
) -> Callable[[Any], None]:
    """How a chart of this ending is written; refused now where nobody knows."""
    from onesided import charts
    from onesided.report.page import Page

    def page(drawing: Any) -> str:
        sheet = Page(title)
        sheet.figure(charts.svg(drawing), caption)
        return sheet.html()

    ways: dict[str, Callable[[Any, Path], Any]] = {
        ".svg": lambda drawing, path: put(path, charts.svg(drawing)),
        ".png": charts.write_png,
        ".html": lambda drawing, path: put(path, page(drawing)),
    }
    way = ways.get(chart.suffix.lower())
    if way is None:
        raise OutputError(f"{chart.name} does not tell its format; use {', '.join(ways)}.")
    return lambda drawing: written(chart, lambda path: way(drawing, path), overwrite=overwrite)


def written(target: Path, write: Callable[[Path], Any], *, overwrite: bool) -> None:
    """Write a file, whole or not at all."""
    from onesided.data.output import new_files

    with new_files([target], overwrite=overwrite) as workspace:
        write(workspace / target.name)


def put(path: Path, text: str) -> None:
    """Write a text."""
    path.write_text(text, encoding="utf-8")
