"""Columns that stand in the names of folders: visits/day=2026-01-01/part.parquet.

Their types follow from all names together, in the same way for every engine: whole numbers, dates,
and else texts. A value with leading zeros is a text, since two of them would become one number.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from onesided.engine.names import folded_name
from onesided.engine.sources import Files
from onesided.errors import SourceError
from onesided.language import Type

_FOLDER = re.compile(r"([^=%]+)=(.*)", re.DOTALL)
#: Engines agree on these: of letters outside of ASCII some make several.
_ESCAPE = re.compile(r"%[0-7][0-9A-Fa-f]")
_NONE = "__HIVE_DEFAULT_PARTITION__"
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True)
class FolderColumn:
    """A column with one value for each file; None is NULL."""

    name: str
    type: Type
    values: Mapping[Path, int | date | str | None]


def folder_columns(files: Files, stored: Collection[str]) -> tuple[FolderColumn, ...]:
    """The columns that the folders name, in the order of the folders.

    - `stored`: the columns within the files. Where one of them has such a name, folders name none.
    """
    pairs = {path: _pairs(files.relative(path)) for path in files.paths}
    if not all(pairs.values()):
        return ()  # a file beside them shows that these are folders like others
    names = [name for name, _ in next(iter(pairs.values()))]
    for path, found in pairs.items():
        if [name for name, _ in found] != names:
            raise SourceError(
                f"The folders above {files.relative(path)} name other columns than those above "
                f"{files.relative(files.paths[0])}; put all files into folders of the same names."
            )
    known = {folded_name(name) for name in stored}
    if any(folded_name(name) in known for name in names):
        return ()
    _check_escapes(files)
    return tuple(
        _column(name, {path: found[place][1] for path, found in pairs.items()})
        for place, name in enumerate(names)
    )


def agreed_columns(
    files: Files, stored: Collection[str], agreed: Sequence[str] | None
) -> tuple[FolderColumn, ...]:
    """As `folder_columns`; an account that was opened without them goes on without them."""
    if agreed is not None and list(agreed) == list(stored):
        return ()
    return folder_columns(files, stored)


def link_folder(files: Files, path: Path, folder: Path, columns: Sequence[FolderColumn]) -> Path:
    """A folder below `folder` whose name gives the same columns, made where it does not exist."""
    if columns:
        folder = folder.joinpath(*_folders(files.relative(path)))
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _folders(relative: str) -> list[str]:
    return [part for part in PurePosixPath(relative).parts[:-1] if _FOLDER.fullmatch(part)]


def _pairs(relative: str) -> list[tuple[str, str | None]]:
    """The columns and values in the folders of one file."""
    found = []
    for part in _folders(relative):
        name, value = part.split("=", 1)
        found.append((name, None if value == _NONE else unquote(value)))
    return found


def _check_escapes(files: Files) -> None:
    for part in {part for path in files.paths for part in _folders(files.relative(path))}:
        if "%" in _ESCAPE.sub("", part):
            raise SourceError(
                f"The folder {part} has a percent sign that engines read differently; write "
                "letters as they are, and signs such as / as %2F."
            )


def _column(name: str, texts: Mapping[Path, str | None]) -> FolderColumn:
    present = [text for text in texts.values() if text is not None]
    if present and all(map(_WHOLE.fullmatch, present)):
        numbers = {path: None if text is None else int(text) for path, text in texts.items()}
        return FolderColumn(name, Type.INTEGER, numbers)
    if present and all(map(_is_day, present)):
        days = {
            path: None if text is None else date.fromisoformat(text) for path, text in texts.items()
        }
        return FolderColumn(name, Type.DATE, days)
    return FolderColumn(name, Type.TEXT, texts)


def _is_day(text: str) -> bool:
    try:
        return _DAY.fullmatch(text) is not None and bool(date.fromisoformat(text))
    except ValueError:
        return False
