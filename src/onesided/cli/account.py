"""`onesided budget`: what was spent on what, and what is left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from onesided.cli.charts import chart_option, check_chart, draw_chart, put, written
from onesided.cli.inputs import ledger_files
from onesided.cli.output import (
    MOST_ROWS,
    as_json,
    overwrite_option,
    show_facts,
    show_json,
    show_line,
    show_table,
)
from onesided.cli.remote import check_here, opened_elsewhere, token_option
from onesided.cli.sources import config_option, description
from onesided.client.address import is_address
from onesided.errors import CheckFailed, RequestError
from onesided.spelling import meant
from onesided.visible import json_text

_TO_THE_SECOND = len("2024-02-29T23:59:59")


@click.command()
@click.argument("ledger")
@config_option
@token_option
@click.option("--verify", is_flag=True, help="Check the whole ledger; exit code 1 if it is wrong.")
@click.option(
    "--anchor",
    metavar="ENTRIES:HASH",
    help="Check that the ledger still has this end, noted earlier.",
)
@click.option(
    "--export", type=click.Path(path_type=Path), help="Write the ledger as JSON for auditors."
)
@chart_option
@click.option("--raise", "raised", metavar="DATASET", help="Raise the budget of this data set.")
@click.option("--to", metavar="EPSILON", help="With --raise: the new budget.")
@click.option("--who", help="With --raise: who raises it.")
@click.option("--why", help="With --raise: the reason. The ledger keeps who, when and why.")
@overwrite_option
@as_json
def budget(
    ledger: str,
    config: Path | None,
    token_file: Path | None,
    verify: bool,
    anchor: str | None,
    export: Path | None,
    chart: Path | None,
    raised: str | None,
    to: str | None,
    who: str | None,
    why: str | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """The accounts in LEDGER: what was spent on what, what is promised, and what is left.

    LEDGER is a file, a postgresql:// address, or the name of a data set in onesided.toml. It may
    also be the address of a data set at a server, such as https://host/visits.
    """
    check_here(ledger, token_file)
    if is_address(ledger):
        others: dict[str, Any] = {
            "config": config,
            "anchor": anchor,
            "export": export,
            "chart": chart,
        }
        others |= {"raise": raised, "to": to, "who": who, "why": why, "verify": verify or None}
        _show_elsewhere(ledger, token_file, others, as_json=as_json)
        return
    from onesided.ledger import open_ledger
    from onesided.session import statements

    where, file = _address(ledger, config)
    _check_targets(export, chart, (*ledger_files(where), file), overwrite)
    head = _verified(where, anchor) if verify or anchor else None
    book = open_ledger(where, create=False)
    try:
        if raised or to or who or why:
            _raise_budget(book, raised, to, who, why)
        found = statements(book)
        if export is not None:
            text = json_text(book.export()) + "\n"
            written(export, lambda path: put(path, text), overwrite=overwrite)
    finally:
        book.close()
    draw_chart(chart, lambda: _picture(found), overwrite=overwrite)
    files = [str(path) for path in (export, chart) if path is not None]
    if as_json:
        accounts = [each.to_json() for each in found]
        show_json({"accounts": accounts, "verified": head, "written": files})
        return
    _show(found)
    facts = {"written": ", ".join(files)} if files else {}
    if head is not None:
        facts["verified"] = f"{head['entries']:,} entries, the last one {head['hash']}"
    if facts:
        show_facts(facts)


def _show_elsewhere(
    source: str, token_file: Path | None, others: dict[str, Any], *, as_json: bool
) -> None:
    """The account of a data set at a server, and one's own share of it."""
    with opened_elsewhere(source, token_file, others, stewards=False) as dataset:
        balance = dataset.budget
    account = dict(balance.content)
    if as_json:
        show_json({"accounts": [account], "verified": None, "written": []})
        return
    columns = ("data set", "policy", "budget", "spent", "left", "by you")
    figures = (account["budget"], account["spent"], account["left"], balance.own)
    show_table(None, columns, [(account["dataset"], account["policy"]["sql"], *figures)])
    _show_account(account)


def _address(ledger: str, config: Path | None) -> tuple[str, Path | None]:
    """The ledger itself, or that of the data set of this name with the file that says so."""
    described = description(ledger, config)
    if described is None:
        return ledger, None
    if "ledger" not in described.arguments:
        raise RequestError(f"{described.file} names no ledger for {ledger}; name the ledger here.")
    return str(described.arguments["ledger"]), described.file


def _verified(where: str, anchor: str | None) -> dict[str, Any]:
    """The end of a ledger that is right; CheckFailed with one sentence for any other."""
    from onesided.ledger import Head, LedgerDamaged, open_ledger

    known = None
    if anchor is not None:
        entries, mark, digest = anchor.partition(":")
        if not mark or not entries.isdecimal():
            raise RequestError("An anchor is ENTRIES:HASH, as --verify printed it earlier.")
        known = Head(entries=int(entries), hash=digest.strip())
    try:
        book = open_ledger(where, create=False)
        try:
            answer = book.verify(known)
        finally:
            book.close()
    except LedgerDamaged as error:
        raise CheckFailed(str(error)) from None
    if not answer.ok:
        raise CheckFailed(f"The ledger does not verify: {answer.problem}")
    return {"entries": answer.head.entries, "hash": answer.head.hash}


def _raise_budget(
    book: Any, dataset: str | None, to: str | None, who: str | None, why: str | None
) -> None:
    from onesided.loss import privacy_budget

    if dataset is None or to is None or who is None or why is None:
        raise RequestError("To raise a budget say all of --raise DATASET, --to, --who and --why.")
    accounts = {account.terms.dataset: account for account in book.accounts()}
    if dataset not in accounts:
        raise RequestError(
            f"This ledger has no account {dataset!r}{meant(dataset, accounts)}; "
            f"it has {', '.join(accounts)}."
        )
    accounts[dataset].raise_budget(privacy_budget(to), who=who, why=why)


def _show(found: Sequence[Any]) -> None:
    from onesided.loss import show

    columns = ("data set", "policy", "budget", "spent", "left", "plain sum of ε")
    rows = [
        (
            balance.terms.dataset,
            balance.terms.policy_sql,
            *map(show, (balance.budget, balance.spent, balance.left, balance.plain_sum)),
        )
        for balance in (each.balance for each in found)
    ]
    show_table(None, columns, rows)
    for each in found:
        _show_account(each.to_json())


def _show_account(account: dict[str, Any]) -> None:
    charges = account["charges"]
    columns = ("time", "what", "ε", "cost", "spent", "state")
    rows = [
        (
            charge["time"][:_TO_THE_SECOND],
            _question(charge),
            charge["request"].get("epsilon"),
            charge["cost"],
            charge["spent"],
            charge["state"],
        )
        for charge in charges[-MOST_ROWS:]
    ]
    title = account["dataset"]
    if len(charges) > MOST_ROWS:
        title += f": the latest {MOST_ROWS} of {len(charges):,} charges; --json has all of them"
    show_table(title, columns, rows)
    for raised in account["raised_budgets"]:
        time = raised["time"][:_TO_THE_SECOND]
        show_line(f"{time}: raised to {raised['budget']} by {raised['who']}: {raised['why']}")
    show_facts({"promise": account["guarantee"], "outlook": account["outlook"]})


def _question(charge: dict[str, Any]) -> str:
    """A request in a few words."""
    request = charge["request"]
    words = [str(request.get("kind", "release"))]
    if request.get("by"):
        words.append("by " + ", ".join(request["by"]))
    if request.get("where"):
        words.append(f"where {request['where']}")
    if request.get("mechanism"):
        words.append(f"({request['mechanism']}{', probe' if 'step' in request else ''})")
    if charge["part"]:
        words.append("on {} = {}".format(*charge["part"]))
    if charge["snapshot"] > 1:
        words.append(f"on snapshot {charge['snapshot']}")
    return " ".join(words)


def _check_targets(
    export: Path | None, chart: Path | None, needed: Iterable[Path | None], overwrite: bool
) -> None:
    from onesided.data.output import refuse_existing, refuse_inputs

    check_chart(chart, overwrite=overwrite)
    targets = [path for path in (export, chart) if path is not None]
    refuse_existing(targets, overwrite=overwrite)
    refuse_inputs(targets, filter(None, needed))
    refuse_inputs(targets[:1], targets[1:])


def _picture(found: Sequence[Any]) -> Any:
    from onesided.charts.accounts import AccountSteps, account_picture

    if not found:
        raise RequestError("This ledger has no account yet; there is nothing to draw.")
    return account_picture(
        [AccountSteps.of(each.balance.terms.dataset, each.history()) for each in found]
    )
