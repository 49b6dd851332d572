"""`onesided sample` and `onesided count`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from onesided.cli.output import as_json, overwrite_option, working
from onesided.cli.reports import check_output, report, show_release, write_release
from onesided.cli.sources import named_values, opened, release_options, split_list
from onesided.engine.registry import places
from onesided.errors import RequestError


@click.command()
@release_options
@click.option("--columns", help="The columns to publish, with commas; all of them unless told.")
@click.option("--out", type=click.Path(path_type=Path), help=".parquet .csv .arrow")
@click.option("--into", metavar="PLACE", help=f"Beside the data: {places()}.")
@overwrite_option
@as_json
def sample(
    source: str | None,
    epsilon: str,
    where: str | None,
    columns: str | None,
    out: Path | None,
    into: str | None,
    fresh: bool,
    overwrite: bool,
    as_json: bool,
    **account: Any,
) -> None:
    """Publish true records of SOURCE: each non-sensitive unit whole, with probability 1 − e^−ε.

    Sensitive units never leave, and nobody can tell why a unit is missing. The receipt is written
    beside the output. With --into the engine writes the rows itself.
    """
    if (out is None) == (into is None):
        raise RequestError("Say with --out where to write the sample, or with --into.")
    outputs = check_output(out, overwrite=overwrite)
    chosen = None if columns is None else split_list(columns)
    with opened(source, outputs=outputs, epsilon=epsilon, **account) as (dataset, within):
        if out is not None:
            dataset.check_writable(chosen, out)
        with working("Drawing the sample", dataset.progress):
            release = dataset.sample(
                epsilon, where=where, columns=chosen, into=into, fresh=fresh, **within
            )
            written: tuple[str | Path, ...] = (into,) if into is not None else ()
            if out is not None:
                written = write_release(release, out, overwrite=overwrite)
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
    source: str | None,
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

    outputs = check_output(out, overwrite=overwrite)
    named = named_values(domain, "--domain")
    domains = {key: read_domain(text) for key, text in named.items()}
    with opened(source, outputs=outputs, domains=named.values(), epsilon=epsilon, **account) as (
        dataset,
        within,
    ):
        with working("Counting", dataset.progress):
            release = dataset.count(
                split_list(by) if by else (),
                where,
                epsilon=epsilon,
                mechanism=mechanism,
                max_groups=max_groups,
                domain=domains,
                fresh=fresh,
                **within,
            )
        show_release(release, out, overwrite=overwrite, as_json=as_json)
