"""`onesided publish`, `report` and `verify`: pages for those who get the data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from onesided.cli.output import as_json, overwrite_option, show_facts, show_json, show_line
from onesided.cli.printing import note
from onesided.errors import CheckFailed, InputError

if TYPE_CHECKING:
    from onesided.report.publication.signing import SigningKey

Command = TypeVar("Command", bound=Callable[..., Any])
_OUT = click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="A folder."
)


def _signing(command: Command) -> Command:
    for option in (
        click.option("--unsigned", is_flag=True, help="Sign nothing."),
        click.option(
            "--new-key", is_flag=True, help="Make a new key; the old one is kept under its name."
        ),
        click.option(
            "--signing-key",
            type=click.Path(path_type=Path, dir_okay=False),
            help="The file of the private key; default: one in the folder of your settings, which "
            "is made at the first signing.",
        ),
    ):
        command = option(command)
    return command


def _key(file: Path | None, new: bool, unsigned: bool) -> SigningKey | None:
    from onesided.report.publication.signing import SigningKey, can_sign, signing_key_file

    if unsigned:
        return None
    if can_sign():
        return SigningKey.at(file or signing_key_file(), new=new)
    if file is not None or new:
        raise InputError("Signatures need more than the core: install onesided[sign].")
    note("Nothing is signed: signatures need onesided[sign].")
    return None


@click.command()
@click.argument("releases", nargs=-1, required=True, metavar="RELEASE…")
@_OUT
@click.option("--ledger", help="The ledger in which files must stand as they are.")
@_signing
@overwrite_option
@as_json
def publish(
    releases: tuple[str, ...],
    out: Path,
    ledger: str | None,
    signing_key: Path | None,
    new_key: bool,
    unsigned: bool,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Write a page about releases for those who get the data.

    A RELEASE is a file with its receipt beside it, or LEDGER#NUMBER for a release in a ledger. The
    folder has the data, a chart, the promise in plain words, and what other programs read:
    schema.org, Croissant and Frictionless. Who asked is not on it.
    """
    from onesided.report.publication.publishing import publish as written

    key = _key(signing_key, new_key, unsigned)
    files = written(releases, out, ledger=ledger, key=key, overwrite=overwrite)
    _say(files, key, as_json)


@click.command()
@click.argument("ledger")
@_OUT
@_signing
@overwrite_option
@as_json
def report(
    ledger: str,
    out: Path,
    signing_key: Path | None,
    new_key: bool,
    unsigned: bool,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Write a page about the accounts in LEDGER for an auditor or a data-protection officer.

    It says what was released when and to what end, what is left, and that the chain verifies.
    """
    from onesided.report.publication.account import report as written

    key = _key(signing_key, new_key, unsigned)
    _say(written(ledger, out, key=key, overwrite=overwrite), key, as_json)


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--key",
    "keys",
    multiple=True,
    help="The public key that must have signed it, or a file with it; may be repeated. Without it "
    "the key that is named in PATH is believed.",
)
@click.option(
    "--chain",
    type=click.Path(path_type=Path, dir_okay=False),
    help="An export of the ledger: its chain is checked, and that PATH stands in it.",
)
@as_json
def verify(path: Path, keys: tuple[str, ...], chain: Path | None, as_json: bool) -> None:
    """Check a published folder, a receipt or the export of a ledger; exit code 1 if it is wrong.

    It needs no ledger and no data.
    """
    from onesided.report.publication.signing import public_keys
    from onesided.report.publication.verification import problems

    wrong = problems(path, public_keys(keys), chain)
    if as_json:
        show_json({"verified": not wrong, "problems": wrong})
    if wrong:
        raise CheckFailed(f"{path.name or path} does not verify: {'; '.join(wrong)}.")
    if not as_json:
        show_line("It is what it says." if keys else "It fits together; no key was asked for.")


def _say(files: tuple[Path, ...], key: SigningKey | None, as_json: bool) -> None:
    public = None if key is None else key.public
    if as_json:
        show_json({"written": [str(each) for each in files], "key": public})
        return
    facts = {"page": next(str(each) for each in files if each.name == "index.html")}
    show_facts(facts if public is None else {**facts, "key": public})
