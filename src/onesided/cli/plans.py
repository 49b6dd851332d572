"""`onesided plan`: what a question would cost and how exact its answer would be; free."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from onesided.cli.charts import chart_option, check_chart, draw_chart
from onesided.cli.describe import described_options, listed
from onesided.cli.output import (
    as_json,
    overwrite_option,
    show_facts,
    show_json,
    show_line,
    show_table,
    working,
)
from onesided.cli.sources import (
    Command,
    domain_option,
    group_options,
    named_values,
    noisy_option,
    opened,
    plan_options,
    source_options,
    stands_for_option,
    where_option,
    with_options,
)
from onesided.cli.sql import limit_options, limits
from onesided.cli.sums import amount_options, max_rows_option, nonnegative_option
from onesided.client.address import is_address
from onesided.errors import RequestError
from onesided.lists import split_list

_AIMS = (
    click.option("--epsilon", help="The privacy loss to plan for."),
    click.option(
        "--error",
        help="Instead, the mean expected error of a group that is wanted: says the least epsilon.",
    ),
)
_SHARE = click.option(
    "--nonsensitive-share",
    type=float,
    help="The share of non-sensitive units to suppose; default: as in a sample that was released, "
    "else one half.",
)
_SHOWN = (
    _SHARE,
    click.option(
        "--groups",
        type=int,
        help="The number of groups to suppose where they are found on the way.",
    ),
    click.option("--all", "every", is_flag=True, help="Show all mechanisms, not the best three."),
    chart_option,
    overwrite_option,
    as_json,
)
_SUPPOSED = ("nonsensitive_share", "groups", "error")
_AMOUNTS = ("bound", "grid", "nonnegative", "max_rows")


class _PlanGroup(click.Group):
    """Plans a count where no other question is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["questions" if args[0].lower().endswith(".sql") else "count", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_PlanGroup)
def plan() -> None:
    """Show what a question would cost, and how far off its answer would be; free.

    Nothing is spent. Only public facts, the account and what it has released are read. Where no
    question is named a count is planned, `onesided plan SOURCE …`, or the questions of a file,
    `onesided plan questions.sql --budget 2`.
    """


def _planning_options(command: Command) -> Command:
    return plan_options(with_options(with_options(command, _SHOWN), _AIMS))


@plan.command()
@_planning_options
@where_option
@group_options
def count(**options: Any) -> None:
    """Plan a count of units by group: every mechanism, and the bound on groups.

    The chart shows the errors by mechanism and by ε, and by bound where a sample or `touches` has
    shown in how many groups units are.
    """
    _planned(options, lambda dataset, asked: dataset.plan.count(**asked))


@plan.command("sum")
@nonnegative_option
@_planning_options
@where_option
@amount_options
def sum_(column: str, **options: Any) -> None:
    """Plan the sum of a column by group."""
    _planned(options, lambda dataset, asked: dataset.plan.sum(column, **asked))


@plan.command()
@max_rows_option
@_planning_options
@where_option
@amount_options
def mean(column: str, **options: Any) -> None:
    """Plan the mean of a column by group."""
    _planned(options, lambda dataset, asked: dataset.plan.mean(column, **asked))


@plan.command()
@plan_options
@click.option("--epsilon", required=True, help="The privacy loss to plan for.")
@_SHARE
@where_option
@described_options
@chart_option
@overwrite_option
@as_json
def describe(columns: str | None, max_values: int, **options: Any) -> None:
    """Plan a description of columns: all that is counted, and what each part of it costs."""
    given = {"max_values": max_values, "columns": listed(columns)}
    _planned(
        {**options, "every": True},
        lambda dataset, asked: dataset.plan.describe(**given, **asked),
    )


@plan.command()
@click.argument("query")
@_planning_options
@limit_options
def sql(query: str, public: tuple[str, ...], **options: Any) -> None:
    """Plan QUERY, one SELECT: every figure of it."""
    limited, tables = limits(options), named_values(public, "--public") or None
    _planned(
        {**options, "public": tables},
        lambda dataset, asked: dataset.plan.sql(query, **limited, **asked),
    )


@plan.command()
@source_options
@stands_for_option
@domain_option
@noisy_option
@_SHARE
@as_json
def sample(
    epsilon: str,
    stands_for: str | None,
    noisy: bool,
    nonsensitive_share: float | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Plan a sample: how many units to expect, and rows where a sample has shown them."""
    with _opened(epsilon=epsilon, **options) as (dataset, asked):
        if stands_for is not None:
            asked |= {"stands_for": split_list(stands_for), "noisy": noisy}
        found = dataset.plan.sample(epsilon, nonsensitive_share=nonsensitive_share, **asked)
    if as_json:
        show_json(found.to_json())
        return
    show_line(found.said)
    cost = "cannot be booked" if found.cost is None else _epsilon(found.cost)
    over = "" if found.fits else ", over budget"
    facts = {"cost": f"{cost}{over}", "columns that will leave": ", ".join(found.columns)}
    if found.stands_for:
        facts["counted beside it"] = "; ".join(found.stands_for)
    show_facts({**facts, **_beside(found), "supposed": "; ".join(found.sources), **_left(found)})


@plan.command()
@click.argument("file", type=click.Path(path_type=Path))
@plan_options
@click.option("--error", help="The mean expected error of a group, for all that say none.")
@limit_options
@as_json
def questions(
    file: Path,
    source: str | None,
    budget: str | None,
    error: str | None,
    public: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> int:
    """Share a budget among the SELECTs in FILE: the least epsilon that gives each its error.

    Semicolons stand between them. A comment such as `-- error: 20` says the error that is wanted;
    questions without one share what is left. Without SOURCE the data set is the one that FROM
    names, in onesided.toml.

    Exit code 1 where a question cannot have its error, otherwise 0.
    """
    text = _text(file)
    limited, tables = limits(options), named_values(public, "--public") or None
    source = source or _named_in(text)
    known = is_address(source) or _has_account(options["ledger"])
    account = None if known else budget
    with _opened(source=source, budget=account, epsilon=None, public=tables, **options) as (
        dataset,
        asked,
    ):
        found = dataset.plan.questions(text, budget=budget, error=error, **limited, **asked)
    if as_json:
        show_json(found.to_json())
    else:
        show_table(None, *found.cells())
        show_facts({"cost": f"{_epsilon(found.cost)} of {_epsilon(found.budget)}"})
    return 0 if found.ok else 1


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise RequestError(f"{file} cannot be read as a text of SELECTs.") from None


def _named_in(text: str) -> str | None:
    """The first table that a text names."""
    found = re.search(r"\bFROM\s+\"?(\w+)", text, re.IGNORECASE)
    return None if found is None else found.group(1)


def _has_account(ledger: str | None) -> bool:
    """Whether a ledger may know its budget already, which is then not said again."""
    return ledger is not None and ("://" in ledger or Path(ledger).exists())


@contextmanager
def _opened(
    *, source: str | None, epsilon: str | None, **options: Any
) -> Iterator[tuple[Any, dict[str, Any]]]:
    with (
        opened(source, epsilon=epsilon, **options) as (dataset, asked),
        working("Planning", dataset.progress),
    ):
        yield dataset, asked


def _planned(
    options: dict[str, Any],
    plan: Callable[[Any, dict[str, Any]], Any],
) -> None:
    """Opens the data set, makes the plan, shows it and draws it."""
    every, in_json = options.pop("every"), options.pop("as_json")
    chart, overwrite = options.pop("chart"), options.pop("overwrite")
    options["outputs"] = check_chart(chart, overwrite=overwrite)
    own = {name: options.pop(name) for name in (*_SUPPOSED, *_AMOUNTS) if name in options}
    epsilon = options["epsilon"]
    with _opened(**options) as (dataset, asked):
        found = plan(dataset, {**asked, **own, "epsilon": epsilon})
    draw_chart(chart, found.plot, overwrite=overwrite)
    if in_json:
        show_json(found.to_json())
        return
    show_table(None, *found.cells(every=every))
    if not every:
        for line in found.folded():
            show_line(f"{line}; --all shows them")
    _show_facts(found)


def _show_facts(found: Any) -> None:
    groups = "found on the way" if found.groups is None else f"{found.groups:,}"
    upper = any("up to" in row.said for row in found.rows)
    facts = {
        "units": f"{found.units:,}",
        "groups": groups,
        "supposed": "; ".join(found.sources),
    }
    if upper:
        facts["up to"] = "where no two groups are alike, and far less where neighbours are"
    for place, line in enumerate(found.from_releases):
        facts["" if place else "from releases"] = line
    for place, line in enumerate(found.on_bounds()):
        facts["" if place else "bound"] = line
    show_facts({**facts, **_beside(found), **_left(found)})


def _beside(found: Any) -> dict[str, str]:
    said = {"lookups": found.lookups, "map": found.map, "time zones": found.time_zones}
    return {name: "; ".join(lines) for name, lines in said.items() if lines}


def _left(found: Any) -> dict[str, str]:
    if found.left is None:
        return {}
    from onesided.loss import show

    return {"left": f"{_epsilon(found.left)} of {show(found.budget)}"}


def _epsilon(value: Any) -> str:
    from onesided.loss import show

    return f"ε = {show(value)}"
