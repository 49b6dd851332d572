"""`onesided distinct`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from onesided.cli.charts import chart_option
from onesided.cli.output import as_json, out_option, overwrite_option, working
from onesided.cli.reports import check_output, show_release
from onesided.cli.sections import CommandInSections
from onesided.cli.sources import group_options, opened, release_options


@click.command(
    cls=CommandInSections,
    example="onesided distinct visits.parquet --unit device,day \\\n"
    "  --policy \"room = 'clinic'\" --epsilon 0.5 \\\n"
    "  --column room --by day --max-values 4",
)
@click.option("--column", required=True, help="The column, or another value of a row.")
@click.option(
    "--max-values", type=int, help="The most values of one unit that count, in all groups."
)
@group_options
@release_options
@out_option
@chart_option
@overwrite_option
@as_json
def distinct(
    source: str | None,
    epsilon: str,
    column: str,
    max_values: int | None,
    out: Path | None,
    chart: Path | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Publish how many different values of a column the non-sensitive units of SOURCE have."""
    outputs = check_output(out, overwrite=overwrite, chart=chart)
    with opened(source, outputs=outputs, epsilon=epsilon, **options) as (dataset, asked):
        with working("Counting", dataset.progress):
            release = dataset.distinct(column, epsilon=epsilon, max_values=max_values, **asked)
        show_release(release, out, overwrite=overwrite, as_json=as_json, chart=chart)
