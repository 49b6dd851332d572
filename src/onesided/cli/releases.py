"""`onesided sample` and `onesided count`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from onesided.cli.charts import chart_option, draw_paid
from onesided.cli.output import as_json, out_option, overwrite_option, working
from onesided.cli.reports import check_output, report, show_release, write_release
from onesided.cli.sections import CommandInSections
from onesided.cli.sources import (
    domain_option,
    group_options,
    noisy_option,
    opened,
    release_options,
    stands_for_option,
)
from onesided.engine.registry import places
from onesided.errors import RequestError
from onesided.lists import split_list


@click.command(
    cls=CommandInSections,
    example="onesided sample visits.parquet --unit device,day \\\n"
    "  --policy \"room = 'clinic'\" --epsilon 0.5 --out sample.parquet",
)
@release_options
@click.option("--columns", help="The columns to publish, with commas; default: all.")
@click.option("--out", type=click.Path(path_type=Path), help="A .parquet, .csv or .arrow file.")
@click.option("--into", metavar="PLACE", help=f"Beside the data: {places()}.")
@stands_for_option
@domain_option
@noisy_option
@chart_option
@overwrite_option
@as_json
def sample(
    source: str | None,
    epsilon: str,
    columns: str | None,
    out: Path | None,
    into: str | None,
    stands_for: str | None,
    noisy: bool,
    chart: Path | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Publish true records of SOURCE: each non-sensitive unit whole, with probability 1 − e^−ε.

    Sensitive units never leave, and nobody can tell why a unit is missing. The receipt is written
    beside the output. With --into the engine writes the rows itself. The chart holds the sample
    against a count by one of its columns, where that was released. With --stands-for each row has a
    weight, and the chart shows what the weights changed.
    """
    if (out is None) == (into is None):
        raise RequestError("Say with --out where to write the sample, or with --into.")
    if chart is not None and into is not None:
        raise RequestError("A sample that is written with --into is not here to be drawn.")
    outputs = check_output(out, overwrite=overwrite, chart=chart)
    chosen = None if columns is None else split_list(columns)
    with opened(source, outputs=outputs, epsilon=epsilon, **options) as (dataset, asked):
        if out is not None:
            dataset.check_writable(chosen, out)
        with working("Drawing the sample", dataset.progress):
            if stands_for is not None:
                asked |= {"stands_for": split_list(stands_for), "noisy": noisy}
            place = {} if into is None else {"into": into}
            release = dataset.sample(epsilon, columns=chosen, **place, **asked)
            written: tuple[str | Path, ...] = (into,) if into is not None else ()
            if out is not None:
                written = write_release(release, out, overwrite=overwrite)
            where = {name: asked[name] for name in ("policy", "part") if name in asked}
            drawn = draw_paid(
                chart,
                lambda: (
                    release.plot(next(iter(dataset.counted(chosen, **where)), None))
                    if stands_for is None
                    else release.plot()
                ),
                overwrite=overwrite,
            )
            written = (*written, *drawn)
        report(release, written, as_json)


@click.command(
    cls=CommandInSections,
    example="onesided count visits.parquet --unit device,day \\\n"
    "  --policy \"room = 'clinic'\" --epsilon 0.5 --by room --max-groups 4",
)
@release_options
@group_options
@click.option("--mechanism", default="auto", show_default=True, help="See `onesided mechanisms`.")
@out_option
@chart_option
@overwrite_option
@as_json
def count(
    source: str | None,
    epsilon: str,
    mechanism: str,
    out: Path | None,
    chart: Path | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Publish how many units of SOURCE are in each group."""
    outputs = check_output(out, overwrite=overwrite, chart=chart)
    with opened(source, outputs=outputs, epsilon=epsilon, **options) as (dataset, asked):
        with working("Counting", dataset.progress):
            release = dataset.count(epsilon=epsilon, mechanism=mechanism, **asked)
        show_release(release, out, overwrite=overwrite, as_json=as_json, chart=chart)
