"""Data sets by name: `onesided.toml` says once what would otherwise be said at every call.

    [datasets.visits]
    source = "visits/*.parquet"
    unit = ["device", "day"]
    policy = "room = 'clinic' OR NOT consent"
    budget = 2
    ledger = "visits.ledger"

    [datasets.visits.domains]
    room = ["cafe", "hall", "lab", "*"]

Paths are relative to the file. Everything is checked before anything is opened. What the table
`[server]` says is read by the server.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onesided.engine.csv_options import CsvOptions
from onesided.errors import InputError, SourceError
from onesided.language.zones import Zones
from onesided.lists import split_list
from onesided.loss import privacy_budget
from onesided.randomness import Randomness
from onesided.session.dataset import Dataset
from onesided.session.domains import read_domain
from onesided.session.opening import open_dataset
from onesided.spelling import meant

USUAL_FILE = "onesided.toml"


@dataclass(frozen=True)
class Description:
    """One data set of a description file; `arguments` are those of `onesided.open`."""

    name: str
    file: Path
    arguments: Mapping[str, Any]

    def open(self, **changes: Any) -> Dataset:
        """Open it, with some arguments changed."""
        return open_dataset(**{**self.arguments, **changes})


def load_dataset(
    name: str, file: str | Path = USUAL_FILE, *, rng: Randomness | None = None
) -> Dataset:
    """Open the data set that `file` describes under `name`.

    - `rng`: seeded randomness for tests and experiments; the receipt says so.
    """
    described = descriptions(file)
    if name not in described:
        raise SourceError(
            f"{file} describes no data set {name!r}{meant(name, described)}; "
            f"it has {_listed(described)}."
        )
    return described[name].open(rng=rng)


def descriptions(file: str | Path = USUAL_FILE) -> dict[str, Description]:
    """All data sets that `file` describes, by name."""
    path = Path(file)
    content = file_content(path)
    unknown = [key for key in content if key not in ("datasets", "server")]
    tables = content.get("datasets")
    if unknown or not isinstance(tables, dict) or not tables:
        raise SourceError(
            f"{path} must hold tables [datasets.NAME], perhaps a table [server], and nothing else."
        )
    return {name: _described(path, name, table) for name, table in tables.items()}


def file_content(path: Path) -> dict[str, Any]:
    """What a file of descriptions says, as it is written."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SourceError(f"There is no file {path}; name the file of descriptions.") from None
    except (OSError, UnicodeDecodeError):
        raise SourceError(f"{path} cannot be read as text.") from None
    except (ValueError, RecursionError) as error:  # numbers of 4,301 digits, brackets in brackets
        raise SourceError(f"{path} is not TOML: {error}.") from None


def _described(path: Path, name: str, table: Any) -> Description:
    if not isinstance(table, dict):
        raise SourceError(f"{path}: {name} must be a table [datasets.{name}].")
    arguments: dict[str, Any] = {"name": name}
    for key, value in table.items():
        check = _KEYS.get(key)
        if check is None:
            known = ", ".join(_KEYS)
            raise SourceError(
                f"{path}: {name} has an unknown key {key!r}{meant(key, _KEYS)}; known are {known}."
            )
        try:
            arguments[key] = check(value, path.parent)
        except _WrongType as error:
            raise SourceError(f"{path}: {key} of {name} must be {error}.") from None
    if "policy" not in arguments:
        raise SourceError(f"{path}: {name} needs a policy; say which rows are sensitive.")
    if "unit" not in arguments:
        raise SourceError(
            f"{path}: {name} needs a unit: the columns that name one record, or the word rows."
        )
    if ("source" in arguments) == ("table" in arguments):
        raise SourceError(f"{path}: {name} needs either a source or a table with its connection.")
    return Description(name, path, arguments)


class _WrongType(Exception):
    """What a value must be, in words."""


def _text(value: Any, folder: Path) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _WrongType("a text")
    return value


def _path(value: Any, folder: Path) -> str:
    text = _text(value, folder)
    return text if "://" in text else str(folder / text)


def _names(value: Any, folder: Path) -> list[str]:
    names = split_list(value) if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _WrongType("a list of column names")
    return [name.strip() for name in names]


def _record(value: Any, folder: Path) -> str | list[str]:
    """What names one record: a text has words of its own."""
    return value if isinstance(value, str) and value.strip() else _names(value, folder)


def _budget(value: Any, folder: Path) -> Any:
    try:
        return privacy_budget(value)
    except InputError:
        raise _WrongType("a number above 0, from 10^-9 to 10^9") from None


def _paths(value: Any, folder: Path) -> dict[str, str]:
    if not isinstance(value, dict):
        raise _WrongType("a table of paths by name")
    return {name: _path(each, folder) for name, each in value.items()}


def _lookups(value: Any, folder: Path) -> dict[str, dict[str, Any]]:
    """Each a table of its own, or the path of its file alone."""
    if not isinstance(value, dict):
        raise _WrongType("tables by name, such as [datasets.NAME.lookups.people]")
    return {
        name: _lookup(each if isinstance(each, dict) else {"source": each}, folder)
        for name, each in value.items()
    }


def _lookup(table: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    checks = {"source": _path, "table": _text, "on": _names, "max_units": _whole}
    unknown = [key for key in table if key not in checks]
    if unknown:
        raise _WrongType(f"tables with {', '.join(checks)}, not with {unknown[0]}")
    return {key: checks[key](value, folder) for key, value in table.items()}


def _map(value: Any, folder: Path) -> dict[str, Any]:
    """Files are named from here; all else is checked where the map is read."""
    if not isinstance(value, dict):
        raise _WrongType("a table [datasets.NAME.map]")
    files = {key: _path(value[key], folder) for key in ("edges", "places") if key in value}
    return {**value, **files}


def _whole(value: Any, folder: Path) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _WrongType("tables whose max_units are whole numbers")
    return value


def _seconds(value: Any, folder: Path) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise _WrongType("a number of seconds above 0")
    return float(value)


def _domains(value: Any, folder: Path) -> dict[str, list[Any]]:
    if not isinstance(value, dict):
        raise _WrongType("a table of lists")
    return {key: _values(values, folder) for key, values in value.items()}


def _values(values: Any, folder: Path) -> list[Any]:
    if isinstance(values, list):
        return values
    file = folder / _text(values, folder)
    if not file.is_file():
        # A list of one value would be read from a misspelt name otherwise.
        raise _WrongType("lists of values, or names of files with one value per line")
    return read_domain(str(file))


def _csv(value: Any, folder: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _WrongType("a table of CSV options")
    CsvOptions.of(value)
    return value


def _zone(value: Any, folder: Path) -> Any:
    Zones.of(value)
    return value


_KEYS: Mapping[str, Callable[[Any, Path], Any]] = {
    "source": _path,
    "table": _text,
    "connection": _text,
    "unit": _record,
    "policy": _text,
    "budget": _budget,
    "ledger": _path,
    "name": _text,
    "version": _text,
    "partition_by": _names,
    "memory_limit": _text,
    "statement_timeout": _seconds,
    "domains": _domains,
    "public": _paths,
    "lookups": _lookups,
    "map": _map,
    "withhold": _names,
    "csv": _csv,
    "time_zone": _zone,
}


def _listed(described: Mapping[str, Description]) -> str:
    return ", ".join(described)
