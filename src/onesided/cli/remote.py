"""SOURCE as the address of a server: `onesided count https://host/visits --epsilon 0.5`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from onesided.client.address import is_address
from onesided.errors import RequestError

token_option = click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    help="For SOURCE at a server: the file of your token; default: what ONESIDED_TOKEN says, or "
    "~/.config/onesided/token.",
)
_ASKED = ("epsilon",)
_TYPED = {"version": "data-version", "lookups": "lookup"}
"""What options are called on the command line where that is another word."""


def opened_elsewhere(
    source: str, token_file: Path | None, options: Mapping[str, Any], *, stewards: bool
) -> Any:
    """The data set at a server; its steward has said there what the options of one here say.

    - `stewards`: the command is for whoever holds the data.
    """
    if stewards:
        raise RequestError(
            "This is for data that you hold yourself; at a server ask a question at a time."
        )
    said = [name for name, value in options.items() if value not in (None, (), "")]
    others = [name for name in said if name not in _ASKED]
    if others:
        name = _TYPED.get(others[0], others[0].replace("_", "-"))
        raise RequestError(f"The steward of {source} has said --{name} already; leave it out.")
    from onesided.client.connecting import connect

    return connect(source, token_file=token_file)


def check_here(source: str | None, token_file: Path | None) -> None:
    """Refuse a token where there is nobody to show it to."""
    if token_file is not None and not is_address(source):
        raise RequestError("A token is for SOURCE at a server, such as https://host/visits.")
