"""`onesided serve token` and `onesided serve rights`: who may ask, and what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onesided.cli.output import as_json, show_json, show_line, show_table
from onesided.cli.sources import Command, config_option, with_options
from onesided.errors import RequestError
from onesided.spelling import meant

if TYPE_CHECKING:
    from onesided.ledger.desk import Desk, Rights, TokenRecord

_LENGTH = re.compile(r"([1-9][0-9]{0,5})([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
_TO_THE_SECOND = len("2024-02-29T23:59:59")

_PLACE = (
    config_option,
    click.option(
        "--ledger",
        metavar="ADDRESS",
        help="Instead of --config, the ledger: a file or a postgresql:// address.",
    ),
)


def _placed(command: Command) -> Command:
    return with_options(command, _PLACE)


@click.group()
def token() -> None:
    """Give, list and revoke the tokens by which a server knows people."""


@token.command("add")
@click.option("--name", required=True, help="Who gets it; public, and kept in the ledger.")
@click.option(
    "--role",
    required=True,
    type=click.Choice(["steward", "analyst", "auditor"]),
    help="Stewards may do everything, analysts ask by their rights, auditors read the ledger.",
)
@click.option(
    "--expires",
    default="90d",
    show_default=True,
    metavar="LENGTH|never",
    help="When it ends: hours, days or weeks from now, such as 12h, 30d or 8w.",
)
@_placed
@as_json
def add_token(
    name: str, role: str, expires: str, config: Path | None, ledger: str | None, as_json: bool
) -> None:
    """Print a new token; it is shown this once, and the ledger keeps its hash alone."""
    from onesided.ledger.desk import PersonRole

    length = _length(expires)
    with _desk(config, ledger, create=True) as desk:
        until = None if length is None else desk.now() + length
        secret = desk.add_token(name, PersonRole(role), expires=until)
        person = desk.person(secret)
    assert person is not None
    if as_json:
        ends = None if until is None else until.isoformat()
        show_json(
            {"token": secret, "id": person.token, "name": name, "role": role, "expires": ends}
        )
    else:
        show_line(secret)


@token.command("list")
@_placed
@as_json
def list_tokens(config: Path | None, ledger: str | None, as_json: bool) -> None:
    """List all tokens by their ids; the tokens themselves are kept nowhere."""
    from onesided.ledger.desk import TokenPurpose

    with _desk(config, ledger) as desk:
        now = desk.now()
        known = [each for each in desk.tokens() if each.purpose is TokenPurpose.ACCESS]
    if as_json:
        show_json([_as_json(each, now) for each in known])
        return
    rows = [
        (each.id, each.name, each.role.value, _moment(each.created), *_end(each, now))
        for each in known
    ]
    show_table(None, ("id", "name", "role", "given", "expires", "state"), rows)


@token.command("revoke")
@click.argument("name_or_id")
@_placed
@as_json
def revoke_token(name_or_id: str, config: Path | None, ledger: str | None, as_json: bool) -> None:
    """End one token by its id, or all tokens of a name, at once."""
    with _desk(config, ledger) as desk:
        ended = desk.revoke(name_or_id)
        names = {name for each in desk.tokens() for name in (each.id, each.name)}
    if not ended:
        likely = meant(name_or_id, names)
        raise RequestError(f"There is no token of {name_or_id} to revoke{likely}.")
    if as_json:
        show_json({"revoked": [each.id for each in ended]})
    else:
        show_line(f"revoked: {', '.join(each.id for each in ended)}")


@click.group()
def rights() -> None:
    """Say what analysts may do with each data set, and list it.

    Without rights a data set is not there for an analyst. Stewards need none.
    """


@rights.command("set")
@click.argument("dataset")
@click.argument("name")
@click.option("--kinds", help="What may be asked, such as count,sum,sample; default: everything.")
@click.option("--most-per-release", metavar="EPSILON", help="The largest ε of one question.")
@click.option(
    "--most-in-all",
    metavar="EPSILON",
    help="The largest ε of all that is charged in this name: a share of the one budget.",
)
@click.option("--least", metavar="EPSILON", help="The smallest ε of one question.")
@click.option("--approval", is_flag=True, help="Each question waits for a steward.")
@_placed
def set_rights(
    dataset: str,
    name: str,
    kinds: str | None,
    most_per_release: str | None,
    most_in_all: str | None,
    least: str | None,
    approval: bool,
    config: Path | None,
    ledger: str | None,
) -> None:
    """Say what NAME may do with DATASET from now on; what is left out has no limit."""
    from onesided.ledger.desk import Rights
    from onesided.lists import split_list

    some = Rights(
        kinds=None if kinds is None else frozenset(split_list(kinds)),
        most_per_release=_amount(most_per_release, "--most-per-release"),
        most_in_all=_amount(most_in_all, "--most-in-all"),
        least=_amount(least, "--least"),
        needs_approval=approval,
    )
    _known_dataset(dataset, config, ledger)
    with _desk(config, ledger, create=True) as desk:
        desk.set_rights(dataset, name, some)


@rights.command("remove")
@click.argument("dataset")
@click.argument("name")
@_placed
def remove_rights(dataset: str, name: str, config: Path | None, ledger: str | None) -> None:
    """Take DATASET away from NAME; what was asked before goes on."""
    with _desk(config, ledger) as desk:
        if desk.rights(dataset, name) is None:
            raise RequestError(
                f"{name} has no rights on {dataset}; see onesided serve rights list."
            )
        desk.set_rights(dataset, name, None)


@rights.command("list")
@_placed
@as_json
def list_rights(config: Path | None, ledger: str | None, as_json: bool) -> None:
    """List what each analyst may do with each data set, and has spent of it."""
    with _desk(config, ledger) as desk:
        known = [
            (dataset, name, each, desk.spent(dataset, name))
            for (dataset, name), each in desk.all_rights().items()
        ]
    if as_json:
        show_json([_rights_json(*each) for each in known])
        return
    columns = ("data set", "name", "kinds", "most per release", "least", "spent", "of", "approval")
    show_table(None, columns, [_rights_row(*each) for each in known])


def _rights_row(dataset: str, name: str, rights: Rights, spent: Fraction) -> tuple[Any, ...]:
    kinds = "all" if rights.kinds is None else ", ".join(sorted(rights.kinds))
    amounts = (rights.most_per_release, rights.least, spent, rights.most_in_all)
    shown = ("" if each is None else _shown(each) for each in amounts)
    return dataset, name, kinds, *shown, "needed" if rights.needs_approval else ""


def _rights_json(dataset: str, name: str, rights: Rights, spent: Fraction) -> dict[str, Any]:
    amounts = {
        "most_per_release": rights.most_per_release,
        "most_in_all": rights.most_in_all,
        "least": rights.least,
        "spent": spent,
    }
    return {
        "dataset": dataset,
        "name": name,
        "kinds": None if rights.kinds is None else sorted(rights.kinds),
        **{key: None if each is None else _shown(each) for key, each in amounts.items()},
        "needs_approval": rights.needs_approval,
    }


def _shown(amount: Fraction) -> str:
    from onesided.loss import show

    return show(amount)


def _amount(text: str | None, name: str) -> Fraction | None:
    from onesided.loss import rational

    return None if text is None else rational(text, name)


def _length(text: str) -> timedelta | None:
    """How long a token is good; None for ever."""
    if text == "never":
        return None
    found = _LENGTH.fullmatch(text.strip())
    if found is None:
        raise RequestError(f"--expires is never, or a length such as 12h, 30d or 8w, not {text}.")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _as_json(record: TokenRecord, now: datetime) -> dict[str, Any]:
    return {
        "id": record.id,
        "name": record.name,
        "role": record.role.value,
        "created": record.created.isoformat(),
        "expires": None if record.expires is None else record.expires.isoformat(),
        "revoked": None if record.revoked is None else record.revoked.isoformat(),
        "valid": record.valid(now),
    }


def _end(record: TokenRecord, now: datetime) -> tuple[str, str]:
    """When a token ends, and whether it has."""
    ends = "never" if record.expires is None else _moment(record.expires)
    if record.revoked is not None:
        return ends, f"revoked {_moment(record.revoked)}"
    return ends, "valid" if record.valid(now) else "expired"


def _moment(moment: datetime) -> str:
    return moment.isoformat()[:_TO_THE_SECOND]


@contextmanager
def _desk(config: Path | None, ledger: str | None, *, create: bool = False) -> Iterator[Desk]:
    """The desk of the ledger that is named, or that all described data sets share."""
    from onesided.ledger.desk import open_desk

    desk = open_desk(_ledger(config, ledger), create=create)
    try:
        yield desk
    finally:
        desk.close()


def _ledger(config: Path | None, ledger: str | None) -> str:
    if ledger is not None:
        if config is not None:
            raise RequestError("Say either --config or --ledger.")
        return ledger
    from onesided.session.description import USUAL_FILE, descriptions

    file = config or Path(USUAL_FILE)
    named = {each.arguments.get("ledger") for each in descriptions(file).values()}
    if len(named) != 1 or None in named:
        raise RequestError(
            f"The data sets of {file} must all name one ledger, in which the server keeps who may "
            f"ask; change the file, or say --ledger."
        )
    return str(named.pop())


def _known_dataset(dataset: str, config: Path | None, ledger: str | None) -> None:
    """Refuse a name that is misspelt, where it can be known."""
    if ledger is None:
        from onesided.session.description import USUAL_FILE, descriptions

        known = descriptions(config or Path(USUAL_FILE))
        if dataset not in known:
            raise RequestError(
                f"There is no data set {dataset!r}{meant(dataset, known)}; "
                f"there are {', '.join(known)}."
            )
