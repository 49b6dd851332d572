"""`onesided sample` and `onesided count`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from onesided.cli.output import as_json, overwrite_option, working
from onesided.cli.reports import check_output, report, show_release
from onesided.cli.sources import named_values, opened, release_options, split_list


@click.command()
@release_options
@click.option("--columns", help="The columns to publish, with commas; all of them unless told.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help=".parquet .csv .arrow")
@overwrite_option
@as_json
def sample(
    source: str,
    epsilon: str,
    where: str | None,
    columns: str | None,
    out: Path,
    fresh: bool,
    overwrite: bool,
    as_json: bool,
    **account: Any,
) -> None:
    """Publish true records of SOURCE: each non-sensitive unit whole, with probability 1 − e^−ε.

    Sensitive units never leave, and nobody can tell why a unit is missing. The receipt is written
    beside the output.
    """
    check_output(out, overwrite=overwrite)
    chosen = None if columns is None else split_list(columns)
    with working("Drawing the sample"), opened(source, epsilon=epsilon, **account) as dataset:
        release = dataset.sample(epsilon, where=where, columns=chosen, fresh=fresh)
        written = release.write(out, overwrite=overwrite, receipt=True)
    report(release, written, as_json)


@click.command()
@release_options
@click.option("--by", default="", help="Group keys with commas: room,hour(ts),bucket(age, 10).")
@click.option("--mechanism", default="auto", show_default=True, help="See `onesided mechanisms`.")
@click.option(
    "--domain", multiple=True, metavar="KEY=VALUES", help="a,b,c or a file; * is the rest."
)
@click.option("--max-groups", type=int, help="The most groups that count for one unit.")
@click.option("--out", type=click.Path(path_type=Path), help=".parquet .csv .arrow")
@overwrite_option
@as_json
def count(
    source: str,
    epsilon: str,
    where: str | None,
    by: str,
    mechanism: str,
    domain: tuple[str, ...],
    max_groups: int | None,
    out: Path | None,
    fresh: bool,
    overwrite: bool,
    as_json: bool,
    **account: Any,
) -> None:
    """Publish how many units of SOURCE are in each group."""
    from onesided.session.domains import read_domain

    check_output(out, overwrite=overwrite)
    domains = {key: read_domain(text) for key, text in named_values(domain, "--domain").items()}
    with working("Counting"), opened(source, epsilon=epsilon, **account) as dataset:
        release = dataset.count(
            split_list(by) if by else (),
            where,
            epsilon=epsilon,
            mechanism=mechanism,
            max_groups=max_groups,
            domain=domains,
            fresh=fresh,
        )
    show_release(release, out, overwrite=overwrite, as_json=as_json)
