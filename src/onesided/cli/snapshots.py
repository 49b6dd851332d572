"""`onesided snapshot`: the new state of data that grow, and what becomes of answers and coins."""

from __future__ import annotations

from typing import Any

import click

from onesided.cli.output import as_json, show_facts, show_json, show_line, show_table, working
from onesided.cli.sections import CommandInSections
from onesided.cli.sources import dataset_arguments, opened, steward_options


@click.command(
    cls=CommandInSections,
    example="onesided snapshot visits\nonesided snapshot visits --before backup/visits.parquet",
)
@steward_options
@click.option("--before", metavar="SOURCE", help="The data as they were, to be held against these.")
@as_json
def snapshot(source: str | None, before: str | None, as_json: bool, **options: Any) -> None:
    """Open the state of SOURCE as it is now, and say what that means; for the steward.

    The ledger keeps that there is a new state, with coins of its own. Answers of earlier states are
    stale: they are true of the data as they were. With --before, say also which units came, went
    and changed. These numbers are secret.
    """
    with (
        opened(source, stewards=True, **options) as (dataset, _),
        working("Looking at the data", dataset.progress),
    ):
        states, balance = dataset.snapshots, dataset.budget
        found = None if before is None else _grown(dataset, source, before, options)
    rows = [each.to_json() for each in states]
    if as_json:
        show_json({"states": rows, "grown": None if found is None else vars(found)})
        return
    _show(states, balance, found)


def _grown(dataset: Any, source: str | None, before: str, options: dict[str, Any]) -> Any:
    """The units of both states compared; the old one is opened beside the account."""
    from onesided.session import open_dataset

    arguments, _ = dataset_arguments(source, **options)
    alone = {name: each for name, each in arguments.items() if name not in ("ledger", "budget")}
    with open_dataset(**{**alone, "source": before}) as old:
        return dataset.grown_since(old)


def _show(states: Any, balance: Any, found: Any) -> None:
    from onesided.loss import show

    cells = [
        (
            f"{each.number:,}{' (now)' if each.current else ''}",
            each.since[: len("2026-01-01T00:00:00")],
            f"{each.releases:,}",
            f"{each.of_parts:,}",
        )
        for each in states
    ]
    show_table(None, ("state", "since", "answers", "of parts"), cells)
    stale = sum(each.releases for each in states if not each.current)
    if found is not None:
        show_facts(
            {
                "units": f"{found.appended:,} came, {found.changed:,} changed, {found.gone:,} went",
                "late": f"{found.late:,} of those that came belong to a part from before",
            }
        )
        show_line("These numbers are secret; they are for the steward alone.")
    facts = {
        "stale": f"{stale:,} answers are of earlier states, and true of the data as they were",
        "coins": "those of this state alone; samples of earlier states used others",
        "account": f"spent {show(balance.spent)} of {show(balance.budget)}, whatever the state",
    }
    show_facts(facts)
