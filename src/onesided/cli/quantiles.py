"""`onesided quantile` and `onesided histogram`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from onesided.cli.charts import chart_option
from onesided.cli.output import as_json, out_option, overwrite_option, working
from onesided.cli.reports import check_output, show_release
from onesided.cli.sections import CommandInSections
from onesided.cli.sources import Command, group_options, opened, release_options, with_options
from onesided.loss import rational

_CELLS = (
    click.option("--column", required=True, help="The column of numbers."),
    click.option(
        "--bounds",
        default="auto",
        show_default=True,
        help="The range of values, as 0,100, which is cut into cells; known without the data. "
        "With auto the cells are found.",
    ),
    click.option("--cells", type=int, help="How many cells at most; default: 1,024."),
    group_options,
)


def cell_options(command: Command) -> Command:
    """Adds what says which column is cut into cells, and by which groups."""
    return with_options(command, _CELLS)


def listed(text: str) -> list[str]:
    """The numbers of a list with commas, as they were typed."""
    return [each.strip() for each in text.split(",")]


@click.command(
    cls=CommandInSections,
    example="onesided quantile visits.parquet --unit device,day \\\n"
    "  --policy \"room = 'clinic'\" --epsilon 0.5 \\\n"
    "  --column paid --at 0.25,0.5,0.75 --bounds 0,100 --max-groups 4",
)
@click.option(
    "--at", default="0.25,0.5,0.75", show_default=True, help="The quantiles, from 0 to 1."
)
@cell_options
@release_options
@out_option
@overwrite_option
@as_json
def quantile(
    source: str | None,
    epsilon: str,
    column: str,
    at: str,
    bounds: str,
    cells: int | None,
    out: Path | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Publish quantiles of a column of SOURCE in each group; other quantiles are free afterwards.

    Asking again with the same options and other quantiles costs nothing.
    """
    outputs = check_output(out, overwrite=overwrite)
    wanted = [float(rational(each, "A quantile")) for each in listed(at)]
    said = {} if cells is None else {"cells": cells}
    with opened(source, outputs=outputs, epsilon=epsilon, **options) as (dataset, asked):
        with working("Counting", dataset.progress):
            release = dataset.quantile(
                column,
                wanted,
                epsilon=epsilon,
                bounds=bounds if bounds == "auto" else listed(bounds),
                **asked,
                **said,
            )
        show_release(release, out, overwrite=overwrite, as_json=as_json)


@click.command(
    cls=CommandInSections,
    example="onesided histogram visits.parquet --unit device,day \\\n"
    "  --policy \"room = 'clinic'\" --epsilon 0.5 \\\n"
    "  --column paid --edges 0,10,50,100 --max-groups 4",
)
@click.option("--column", required=True, help="The column of numbers.")
@click.option(
    "--edges",
    help="Rising numbers, as 0,10,50: a cell from each to before the next; what lies outside "
    "counts in the first or last one. Without them cells of one width are found.",
)
@click.option("--cumulative", is_flag=True, help="Show the units up to the end of each cell.")
@group_options
@release_options
@out_option
@chart_option
@overwrite_option
@as_json
def histogram(
    source: str | None,
    epsilon: str,
    column: str,
    edges: str | None,
    cumulative: bool,
    out: Path | None,
    chart: Path | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Publish how many units of SOURCE have a value between each two edges, in each group."""
    outputs = check_output(out, overwrite=overwrite, chart=chart)
    with opened(source, outputs=outputs, epsilon=epsilon, **options) as (dataset, asked):
        with working("Counting", dataset.progress):
            given = None if edges is None else listed(edges)
            release = dataset.histogram(column, given, epsilon=epsilon, **asked)
        shown = release.cumulative() if cumulative else release
        show_release(shown, out, overwrite=overwrite, as_json=as_json, chart=chart)
