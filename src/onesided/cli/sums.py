"""`onesided sum` and `onesided mean`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from onesided.cli.charts import chart_option
from onesided.cli.output import as_json, out_option, overwrite_option, working
from onesided.cli.reports import check_output, show_release
from onesided.cli.sections import CommandInSections
from onesided.cli.sources import Command, group_options, opened, release_options, with_options

_AMOUNT = (
    click.option("--column", required=True, help="The column of numbers."),
    click.option("--bound", required=True, help="The most that one unit may add to a group."),
    click.option(
        "--grid",
        help="Values are rounded down to whole steps of it; default: by the type of the column.",
    ),
    group_options,
)
nonnegative_option = click.option(
    "--nonnegative",
    is_flag=True,
    help="You know that no value is below 0, so the sum has a certain lower bound.",
)
max_rows_option = click.option(
    "--max-rows",
    type=int,
    help="The mean of rows, of which at most this many of one unit count in a group; default: the "
    "mean of units.",
)


def amount_options(command: Command) -> Command:
    """Adds what says which column is added up, within which bound, and by which groups."""
    return with_options(command, _AMOUNT)


def _sum_options(command: Command) -> Command:
    return release_options(
        amount_options(out_option(chart_option(overwrite_option(as_json(command)))))
    )


@click.command(
    "sum",
    cls=CommandInSections,
    example="onesided sum visits.parquet --unit device,day \\\n"
    "  --policy \"room = 'clinic'\" --epsilon 0.5 \\\n"
    "  --column paid --bound 100 --by room --max-groups 4",
)
@nonnegative_option
@_sum_options
def sum_(
    source: str | None,
    epsilon: str,
    column: str,
    bound: str,
    grid: str | None,
    nonnegative: bool,
    out: Path | None,
    chart: Path | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Publish the sum of a column of SOURCE in each group, each unit clipped to [0, BOUND]."""
    outputs = check_output(out, overwrite=overwrite, chart=chart)
    with opened(source, outputs=outputs, epsilon=epsilon, **options) as (dataset, asked):
        with working("Adding up", dataset.progress):
            release = dataset.sum(
                column, epsilon=epsilon, bound=bound, grid=grid, nonnegative=nonnegative, **asked
            )
        show_release(release, out, overwrite=overwrite, as_json=as_json, chart=chart)


@click.command(
    cls=CommandInSections,
    example="onesided mean visits.parquet --unit device,day \\\n"
    "  --policy \"room = 'clinic'\" --epsilon 0.5 \\\n"
    "  --column paid --bound 100 --by room --max-groups 4",
)
@max_rows_option
@_sum_options
def mean(
    source: str | None,
    epsilon: str,
    column: str,
    bound: str,
    grid: str | None,
    max_rows: int | None,
    out: Path | None,
    chart: Path | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Publish the mean of a column of SOURCE in each group: a sum and a count at half of ε each.

    It is the mean of the units' totals. With --max-rows it is the mean of rows.
    """
    outputs = check_output(out, overwrite=overwrite, chart=chart)
    with opened(source, outputs=outputs, epsilon=epsilon, **options) as (dataset, asked):
        with working("Averaging", dataset.progress):
            release = dataset.mean(
                column, epsilon=epsilon, bound=bound, grid=grid, max_rows=max_rows, **asked
            )
        show_release(release, out, overwrite=overwrite, as_json=as_json, chart=chart)
