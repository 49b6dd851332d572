"""`onesided describe`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from onesided.cli.charts import chart_option
from onesided.cli.output import as_json, out_option, overwrite_option, working
from onesided.cli.reports import check_output, show_release
from onesided.cli.sections import CommandInSections
from onesided.cli.sources import Command, opened, release_options, with_options
from onesided.lists import split_list

_DESCRIBED = (
    click.option("--columns", help="The columns to describe, with commas; default: all."),
    click.option(
        "--max-values",
        type=int,
        default=1,
        show_default=True,
        help="Of a column of which a unit can have several values, how many count for it.",
    ),
)


def described_options(command: Command) -> Command:
    """Adds what says which columns are described."""
    return with_options(command, _DESCRIBED)


def listed(columns: str | None) -> list[str] | None:
    """The columns by their names; None for all."""
    return None if columns is None else split_list(columns)


@click.command(
    cls=CommandInSections,
    example="onesided describe visits.parquet --unit device,day \\\n"
    "  --policy \"room = 'clinic'\" --epsilon 1 --chart columns.html",
)
@described_options
@release_options
@out_option
@chart_option
@overwrite_option
@as_json
def describe(
    source: str | None,
    epsilon: str,
    columns: str | None,
    max_values: int,
    out: Path | None,
    chart: Path | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Publish what each column of SOURCE holds, in one release that all columns share.

    Missing and different values; of numbers mean, standard deviation and quantiles; of dates
    quantiles; of other values the most frequent ones. The chart has a panel for each column.
    """
    outputs = check_output(out, overwrite=overwrite, chart=chart)
    with opened(source, outputs=outputs, epsilon=epsilon, **options) as (dataset, asked):
        with working("Describing", dataset.progress):
            release = dataset.describe(
                listed(columns), epsilon=epsilon, max_values=max_values, **asked
            )
        show_release(release, out, overwrite=overwrite, as_json=as_json, chart=chart)
