"""The options that say which secret tables lie beside the data, and which columns never leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from onesided.errors import RequestError

LOOKUP_OPTIONS = (
    click.option(
        "--lookup",
        "lookups",
        multiple=True,
        metavar="NAME=SOURCE",
        help="A secret table beside the data, whose columns become NAME.column of every row; "
        "beside --table a table too.",
    ),
    click.option(
        "--on",
        multiple=True,
        metavar="[NAME:]KEY",
        help="What names one row of a lookup: device, or device=id where it is called otherwise; "
        "default: the columns that both have.",
    ),
    click.option(
        "--max-units",
        multiple=True,
        metavar="[NAME:]INTEGER",
        help="The most units that a row of a lookup may decide over, at a multiple of epsilon.",
    ),
    click.option(
        "--withhold",
        metavar="COLUMNS",
        help="Columns with commas that never leave: the policy and the filters of counts may use "
        "them.",
    ),
)


def take_lookups(options: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Takes what these options say of lookups out of `options`; each has its source as `where`."""
    from onesided.cli.sources import named_values

    sources = named_values(options.pop("lookups", ()), "--lookup")
    keys = _by_name(options.pop("on", ()), "--on", sources)
    numbers = _by_name(options.pop("max_units", ()), "--max-units", sources)
    found: dict[str, dict[str, Any]] = {}
    for name, source in sources.items():
        found[name] = {"where": source}
        if name in keys:
            found[name]["on"] = keys[name]
        if name in numbers:
            if not numbers[name].isdecimal():
                raise RequestError("--max-units takes a whole number, such as people:3.")
            found[name]["max_units"] = int(numbers[name])
    return found


def placed(lookups: Mapping[str, Mapping[str, Any]], *, in_tables: bool) -> dict[str, Any]:
    """The arguments of `onesided.open`: beside a table the others are tables as well."""
    kind = "table" if in_tables else "source"
    return {
        name: {kind: each["where"], **{key: said for key, said in each.items() if key != "where"}}
        for name, each in lookups.items()
    }


def _by_name(texts: Sequence[str], option: str, lookups: Mapping[str, str]) -> dict[str, str]:
    """What an option says of each lookup; where there is one, its name may be left out."""
    said: dict[str, str] = {}
    for text in texts:
        name, mark, value = text.partition(":")
        if not mark and len(lookups) == 1:
            (name,), value = lookups, text
        if name not in lookups or not value:
            known = ", ".join(lookups) or "none"
            raise RequestError(f"{option} takes NAME:VALUE with the name of a lookup: {known}.")
        if name in said:
            raise RequestError(f"{option} says something of {name} twice.")
        said[name] = value
    return said
