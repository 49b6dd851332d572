"""Parts by schedule: which part a run is about, and the series that its answers go to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import click

from onesided.cli.sources import Command, named_values, with_options
from onesided.errors import OutputError, RequestError

_WORDS = {"today": 0, "yesterday": 1}

part_option = click.option(
    "--part",
    metavar="COLUMN=VALUE",
    help="Only this part of --partition-by, and once for all; day=yesterday counts from today.",
)
series_option = click.option(
    "--series",
    type=click.Path(path_type=Path),
    help="With --part: a folder with a CSV file for each answer, which gets the part's rows once.",
)
on_option = click.option(
    "--as-of",
    metavar="DATE",
    help="The day that yesterday and today are counted from, as in 2026-01-31; default: today.",
)


def part_options(command: Command) -> Command:
    """Adds what a run by schedule needs."""
    return with_options(command, (part_option, series_option, on_option))


def named_part(text: str | None, on: str | None) -> dict[str, str] | None:
    """The part that is said, with a day in place of a word."""
    if text is None:
        if on is not None:
            raise RequestError("--as-of goes with --part, such as day=yesterday.")
        return None
    ((column, value),) = named_values((text,), "--part").items()
    if value in _WORDS:
        try:
            day = date.today() if on is None else date.fromisoformat(on)
        except ValueError:
            raise RequestError("--as-of takes a date such as 2026-01-31.") from None
        value = (day - timedelta(days=_WORDS[value])).isoformat()
    return {column: value}


def series_files(
    folder: Path | None, part: Mapping[str, str] | None, questions: Sequence[Mapping[str, Any]]
) -> Path | None:
    """The folder of the series, made where it is not there; refused where there can be none."""
    if folder is None:
        return None
    if part is None:
        raise RequestError("A series grows by parts: say --part, such as day=yesterday.")
    if any(each.get("ask") == "sample" for each in questions):
        raise RequestError("A sample is no row of a series; ask for it in a file of its own.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise OutputError(f"{folder} is no folder and cannot be made; name another.") from None
    return folder


def add_to_series(folder: Path, part: Mapping[str, str], answers: Mapping[str, Any]) -> list[Path]:
    """Append each answer to its file; those that were there before are left as they are."""
    from onesided.data.series import add_part

    ((column, value),) = part.items()
    files = {folder / f"{name}.csv": release for name, release in answers.items()}
    for file, release in files.items():
        add_part(file, column, value, release.table)
    return list(files)
