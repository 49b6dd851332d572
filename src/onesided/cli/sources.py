"""The options that say which data, under which policy, from which budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from onesided.errors import RequestError

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.argument("source"),
    click.option("--unit", help="Columns that name one record, such as device,day; else each row."),
    click.option("--policy", required=True, help="SQL; true or NULL means sensitive."),
    click.option("--epsilon", required=True, help="The privacy loss of this release."),
    click.option("--where", help="SQL; choose rows (NULL does not)."),
    click.option("--ledger", help="File or postgresql:// address that keeps the account."),
    click.option("--budget", help="The most that all releases may cost; epsilon unless told."),
    click.option("--name", help="The account's name; the file's name unless told."),
    click.option("--memory-limit", help="What the engine may use, such as 2GB."),
    click.option("--fresh", is_flag=True, help="Pay again rather than repeat a paid release."),
)


def release_options(command: Command) -> Command:
    """Adds what every release needs."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def opened(
    source: str,
    *,
    unit: str | None,
    policy: str,
    epsilon: str,
    budget: str | None,
    ledger: str | None,
    name: str | None,
    memory_limit: str | None,
) -> Any:
    """The data set; without a ledger the budget is the epsilon of this one release."""
    from onesided.session import open_dataset

    return open_dataset(
        source,
        unit=unit,
        policy=policy,
        budget=budget if budget is not None or ledger is not None else epsilon,
        ledger=ledger,
        name=name,
        memory_limit=memory_limit,
    )


def split_list(text: str) -> list[str]:
    """The parts between commas outside parentheses and quotes: `room,bucket(age, 10)`."""
    parts, depth, quote, start = [], 0, "", 0
    for index, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
        else:
            depth += (letter == "(") - (letter == ")")
    parts.append(text[start:])
    return [part.strip() for part in parts]


def named_values(texts: tuple[str, ...], option: str) -> dict[str, str]:
    """`name=value` options as a mapping."""
    pairs = {}
    for text in texts:
        name, mark, value = text.partition("=")
        if not mark or not name.strip():
            raise RequestError(f"{option} takes NAME=VALUE, such as room=a,b,c.")
        pairs[name.strip()] = value
    return pairs
