"""`onesided check`: what a steward should look at before anything is published."""

from __future__ import annotations

from typing import Any

import click

from onesided.cli.output import as_json, show_facts, show_json, show_line, show_table, working
from onesided.cli.sources import domain_option, opened, steward_options


@click.command()
@steward_options
@domain_option
@click.option(
    "--secret",
    is_flag=True,
    help="Say also how many units the policy protects; for the steward alone.",
)
@as_json
def check(source: str | None, secret: bool, as_json: bool, **options: Any) -> int:
    """Look at SOURCE for the steward before anything is published: free, and for nobody else.

    Types as they were understood, rows of a unit, values in the policy and in domains that do not
    occur, columns that look as if they named somebody. A ledger keeps that the data were looked
    at, under which policy, and not what was seen.

    Exit code 1 where something should be looked at, otherwise 0. What --secret shows does not
    change it.
    """
    with (
        opened(source, stewards=True, **options) as (dataset, asked),
        working("Looking at the data", dataset.progress),
    ):
        found = dataset.check(domain=asked.get("domain"), secret=secret)
    if as_json:
        show_json(found.to_json())
    else:
        _show(found)
    return 0 if found else 1


def _show(found: Any) -> None:
    from onesided.session.checking.report import SECRET

    columns = [
        (each.name, each.type, "yes" if each.may_be_null else "no", each.note)
        for each in found.columns
    ]
    show_table(None, ("column", "type", "may be NULL", "note"), columns)
    show_facts(
        {
            "units": f"{found.units:,}, none with a NULL in its key",
            "rows": f"{found.rows:,}{_of_one_unit(found)}",
        }
    )
    for each in found.findings:
        show_line(f"look at {each.about}: {each.text}")
    if found.proposed:
        show_line(f"to keep them in: --withhold {','.join(found.proposed)}")
    for name, condition in found.stands_for:
        show_line(f"with weights by {name} a sample stands for those where {condition}")
    if not found.findings:
        show_line("Nothing else needs to be looked at.")
    if found.secret is not None:
        show_line(f"{found.secret.sentence} {SECRET}")


def _of_one_unit(found: Any) -> str:
    if found.most_rows is None:
        return ", each a unit"
    return f", {found.rows / found.units:,.1f} of a unit on average, at most {found.most_rows:,}"
