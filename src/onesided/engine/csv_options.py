"""What a steward says about CSV files, where finding it out would be guessing.

All of it becomes part of the frozen format: said again later, it must say the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from onesided.errors import RequestError
from onesided.spelling import meant

ENCODINGS = ("utf-8", "cp1252", "latin-1", "utf-16")
#: Our words for the types of columns, and DuckDB's.
TYPE_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "text": "VARCHAR",
        "integer": "BIGINT",
        "number": "DOUBLE",
        "boolean": "BOOLEAN",
        "date": "DATE",
        "time": "TIME",
        "timestamp": "TIMESTAMP",
        "timestamp with time zone": "TIMESTAMP WITH TIME ZONE",
    }
)
_SPELT = {
    "utf8": "utf-8",
    "windows-1252": "cp1252",
    "latin1": "latin-1",
    "iso-8859-1": "latin-1",
    "utf16": "utf-16",
}
_THOUSANDS = (".", ",", "'", " ", "’", "\u00a0", "\u202f")


@dataclass(frozen=True)
class CsvOptions:
    """What is said; what is left out is found in the files at the first opening.

    - `delimiter`, `header`, `encoding`: how the files are cut, and into what letters.
    - `decimal`, `thousands`: the marks within numbers.
    - `types`: of some columns by name, in the words of `TYPE_WORDS`. A cell that does not fit is
      NULL.
    - `date_format`, `timestamp_format`: such as "%d.%m.%Y" and "%d.%m.%Y %H:%M".
    """

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    header: bool | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    date_format: str | None = None
    timestamp_format: str | None = None

    @classmethod
    def of(cls, said: Mapping[str, Any] | CsvOptions | None) -> CsvOptions:
        """Checked, from a dictionary; texts as they come from a command are understood too."""
        if said is None or isinstance(said, CsvOptions):
            return said or cls()
        if not isinstance(said, Mapping):
            raise RequestError('CSV options are a dictionary, such as {"delimiter": ";"}.')
        known = [each.name for each in fields(cls)]
        for name in said:
            if name not in known:
                raise RequestError(
                    f"There is no CSV option {name!r}{meant(str(name), known)}; "
                    f"there are {', '.join(known)}."
                )
        return cls(**{name: _CHECKS[name](value) for name, value in said.items()})


def _delimiter(value: Any) -> str:
    mark = {"\\t": "\t", "tab": "\t"}.get(value, value) if isinstance(value, str) else None
    if not isinstance(mark, str) or len(mark) != 1 or mark in '"\r\n' or mark.isalnum():
        raise RequestError('A CSV delimiter is one sign, such as ";", or "tab".')
    return mark


def _encoding(value: Any) -> str:
    name = str(value).lower().replace("_", "-")
    name = _SPELT.get(name, name)
    if name not in ENCODINGS:
        raise RequestError(f"CSV files are read in {', '.join(ENCODINGS)}; convert others first.")
    return name


def _decimal(value: Any) -> str:
    if value not in (".", ","):
        raise RequestError('The decimal mark of CSV files is "." or ",".')
    return str(value)


def _thousands(value: Any) -> str:
    if value not in _THOUSANDS:
        raise RequestError("The mark of thousands is a point, a comma, an apostrophe or a blank.")
    return str(value)


def _header(value: Any) -> bool:
    said = {"true": True, "yes": True, "false": False, "no": False}.get(str(value).lower())
    if said is None:
        raise RequestError("Whether CSV files have a header is true or false.")
    return said


def _types(value: Any) -> dict[str, str]:
    if isinstance(value, str):
        pairs = [each.rpartition(":") for each in value.split(",")]
        value = {name.strip(): kind.strip() for name, _, kind in pairs}
    if not isinstance(value, Mapping):
        raise RequestError('Types of CSV columns are given by name, such as {"day": "date"}.')
    for name, kind in value.items():
        if not isinstance(name, str) or not name or kind not in TYPE_WORDS:
            raise RequestError(
                f"The type of a CSV column is one of {', '.join(TYPE_WORDS)}, and not {kind!r}."
            )
    return dict(value)


def _pattern(value: Any) -> str:
    if not isinstance(value, str) or "%" not in value or "'" in value:
        raise RequestError('A format of dates looks like "%d.%m.%Y", of moments "%d.%m.%Y %H:%M".')
    return value


_CHECKS: Mapping[str, Any] = {
    "delimiter": _delimiter,
    "encoding": _encoding,
    "decimal": _decimal,
    "thousands": _thousands,
    "header": _header,
    "types": _types,
    "date_format": _pattern,
    "timestamp_format": _pattern,
}
