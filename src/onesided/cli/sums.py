"""`onesided sum` and `onesided mean`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from onesided.cli.output import as_json, overwrite_option, working
from onesided.cli.reports import check_output, show_release
from onesided.cli.sources import (
    Command,
    named_values,
    opened,
    release_options,
    split_list,
    with_options,
)

_OPTIONS = (
    click.option("--column", required=True, help="The column of numbers."),
    click.option("--bound", required=True, help="The most that one unit may add to a group."),
    click.option("--grid", help="Values are rounded down to whole steps of it."),
    click.option("--by", default="", help="Group keys with commas: room,hour(ts)."),
    click.option(
        "--domain", multiple=True, metavar="KEY=VALUES", help="a,b,c or a file; * is the rest."
    ),
    click.option("--max-groups", type=int, help="The most groups that count for one unit."),
    click.option("--out", type=click.Path(path_type=Path), help=".parquet .csv .arrow"),
)


def _sum_options(command: Command) -> Command:
    return release_options(with_options(overwrite_option(as_json(command)), _OPTIONS))


@click.command("sum")
@click.option("--nonnegative", is_flag=True, help="No value is below 0: the sum is bounded below.")
@_sum_options
def sum_(
    source: str | None,
    epsilon: str,
    nonnegative: bool,
    out: Path | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Publish the sum of a column of SOURCE in each group, each unit clipped to [0, BOUND]."""
    outputs = check_output(out, overwrite=overwrite)
    question, account = _question(options)
    with opened(source, outputs=outputs, epsilon=epsilon, **account) as (dataset, within):
        with working("Adding up", dataset.progress):
            release = dataset.sum(epsilon=epsilon, nonnegative=nonnegative, **question, **within)
        show_release(release, out, overwrite=overwrite, as_json=as_json)


@click.command()
@click.option("--max-rows", type=int, help="Mean over rows, so many of one unit in a group.")
@_sum_options
def mean(
    source: str | None,
    epsilon: str,
    max_rows: int | None,
    out: Path | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Publish the mean of a column of SOURCE in each group: a sum and a count at half of ε each.

    It is the mean of the units' totals; with --max-rows it is one of rows.
    """
    outputs = check_output(out, overwrite=overwrite)
    question, account = _question(options)
    with opened(source, outputs=outputs, epsilon=epsilon, **account) as (dataset, within):
        with working("Averaging", dataset.progress):
            release = dataset.mean(epsilon=epsilon, max_rows=max_rows, **question, **within)
        show_release(release, out, overwrite=overwrite, as_json=as_json)


def _question(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is asked of the data, and what says which data are meant."""
    from onesided.session.domains import read_domain

    asked = ("column", "where", "bound", "grid", "max_groups", "fresh")
    by, domains = options["by"], named_values(options["domain"], "--domain")
    question = {
        **{name: options[name] for name in asked},
        "by": split_list(by) if by else (),
        "domain": {key: read_domain(text) for key, text in domains.items()},
    }
    account = {name: value for name, value in options.items() if name not in question}
    return question, {**account, "domains": domains.values()}
