"""`onesided sql`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from onesided.cli.charts import chart_option
from onesided.cli.output import (
    as_json,
    out_option,
    overwrite_option,
    show_json,
    show_table,
    working,
)
from onesided.cli.reports import check_output, show_release
from onesided.cli.sections import CommandInSections
from onesided.cli.sources import (
    Command,
    domain_option,
    max_groups_option,
    named_values,
    opened,
    unpriced_options,
    with_options,
)
from onesided.client.address import is_address
from onesided.errors import RequestError
from onesided.lists import split_list

_OF_A_CHARGE = ("fresh", "purpose", "yes")
_LIMITS = (
    click.option(
        "--mechanism",
        default="auto",
        show_default=True,
        help="What counts units: see `onesided mechanisms`.",
    ),
    max_groups_option,
    click.option("--max-rows", type=int, help="The most rows of one unit that count in a group."),
    click.option(
        "--max-values",
        type=int,
        help="The most values of one unit that COUNT(DISTINCT …) counts, in all groups.",
    ),
    click.option(
        "--bound",
        multiple=True,
        metavar="COLUMN=B",
        help="The most that one unit may add to a SUM or AVG of this column in a group; "
        "or LOW:HIGH, between which each value lies.",
    ),
    click.option(
        "--grid",
        multiple=True,
        metavar="COLUMN=STEP",
        help="Values are rounded down to whole steps of it; default: by the type of the column.",
    ),
    click.option(
        "--nonnegative", default="", help="Columns, with commas, in which no value is below 0."
    ),
    domain_option,
    click.option(
        "--public", multiple=True, metavar="NAME=FILE", help="A public table that the query joins."
    ),
)


def limit_options(command: Command) -> Command:
    """Adds what a SELECT does not say and a promise needs."""
    return with_options(command, _LIMITS)


def limits(options: dict[str, Any]) -> dict[str, Any]:
    """Takes out of `options` those that are arguments of `Dataset.sql` alone."""
    nonnegative = options.pop("nonnegative")
    return {
        "mechanism": options.pop("mechanism"),
        "max_rows": options.pop("max_rows"),
        "max_values": options.pop("max_values"),
        "bounds": {
            name: tuple(bound.split(":")) if ":" in bound else bound
            for name, bound in named_values(options.pop("bound"), "--bound").items()
        },
        "grid": named_values(options.pop("grid"), "--grid"),
        "nonnegative": split_list(nonnegative) if nonnegative else (),
    }


@click.command(
    cls=CommandInSections,
    example='onesided sql "SELECT room, COUNT(DISTINCT device, day) FROM data GROUP BY room" \\\n'
    "  visits.parquet --unit device,day \\\n"
    "  --policy \"room = 'clinic'\" --epsilon 0.5 --max-groups 4",
)
@click.argument("query")
@click.option("--epsilon", help="What the answer may cost.")
@click.option(
    "--from-releases",
    is_flag=True,
    help="Compute from what was released: FROM names r3 for charge number 3; free.",
)
@unpriced_options
@limit_options
@out_option
@chart_option
@overwrite_option
@as_json
def sql(
    query: str,
    source: str | None,
    epsilon: str | None,
    from_releases: bool,
    public: tuple[str, ...],
    out: Path | None,
    chart: Path | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Answer QUERY, one SELECT from the table SOURCE, which FROM calls by its name or `data`.

    COUNT(*), COUNT(DISTINCT …) of the units' key, SUM and AVG get equal shares of ε. HAVING, ORDER
    BY and LIMIT are free. Everything else is refused, and the reason is given.
    """
    if from_releases:
        _from_releases(query, source, public, out, overwrite=overwrite, as_json=as_json, **options)
        return
    if epsilon is None:
        raise RequestError("Say with --epsilon what the answer may cost.")
    outputs = check_output(out, overwrite=overwrite, chart=chart)
    tables, limited = named_values(public, "--public") or None, limits(options)
    with opened(source, outputs=outputs, epsilon=epsilon, public=tables, **options) as (
        dataset,
        asked,
    ):
        if not is_address(source or ""):
            _say_what_is_free(dataset.plan, query, epsilon, {**limited, **asked})
        with working("Answering", dataset.progress):
            release = dataset.sql(query, epsilon=epsilon, **limited, **asked)
        show_release(release, out, overwrite=overwrite, as_json=as_json, chart=chart)


def _say_what_is_free(plan: Any, query: str, epsilon: str, asked: dict[str, Any]) -> None:
    """A note before the charge: which figures `--from-releases` would read for nothing."""
    given = {name: said for name, said in asked.items() if name not in _OF_A_CHARGE}
    for line in plan.from_releases(query, epsilon=epsilon, **given):
        click.echo(f"Note: from releases, {line}", err=True)


def _from_releases(
    query: str,
    source: str | None,
    public: tuple[str, ...],
    out: Path | None,
    *,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Compute from what was released; nothing is charged."""
    outputs, tables = check_output(out, overwrite=overwrite), named_values(public, "--public")
    limits(options)
    for name in _OF_A_CHARGE:
        options.pop(name)
    with opened(source, outputs=outputs, public=tables or None, **options) as (dataset, _):
        answer = dataset.released.sql(query)
    if out is not None:
        from onesided.data.files import write_table

        write_table(answer, out)
    rows = [tuple(row.values()) for row in answer.to_pylist()]
    if as_json:
        show_json({"rows": answer.to_pylist()})
    elif out is None:
        show_table(None, answer.column_names, rows)
