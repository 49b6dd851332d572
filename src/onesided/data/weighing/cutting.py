"""Which groups count for a unit where there is a bound on them: the rule of the engines, again.

A unit keeps the groups whose digests have the least exclusive or with its own digest. It follows
from the unit alone, so that it can be told for a sampled unit, of which all rows are there.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

import pyarrow as pa

from onesided.data.values import python_rows
from onesided.language.floats import named

_DIGITS = 7
_EPOCH = datetime(1970, 1, 1)


class UnitTexts:
    """The texts that engines name units and groups by."""

    @staticmethod
    def of(keys: pa.Table) -> list[str]:
        """Those of the keys of units."""
        return [_unit_text(row) for row in python_rows(keys)]

    @staticmethod
    def of_groups(labels: pa.Table) -> list[tuple[str, tuple[Any, ...]]]:
        """Those of groups, with their values for the order of equal digests."""
        return [
            ("|".join("~" if each is None else _piece(each) for each in row), _order(row))
            for row in python_rows(labels)
        ]


def nearest(
    units: Mapping[int, str],
    groups: Sequence[tuple[str, tuple[Any, ...]]],
    pairs: Sequence[tuple[int, int]],
    most: int,
) -> list[tuple[int, int]]:
    """Of `pairs` of a unit and a group those that count: at most so many of each unit."""
    of_unit = {unit: _digest(text) for unit, text in units.items()}
    of_group = [_digest(text) for text, _ in groups]
    found: dict[int, list[int]] = defaultdict(list)
    for unit, group in pairs:
        found[unit].append(group)
    return [
        (unit, group)
        for unit, own in found.items()
        for group in sorted(
            own, key=lambda each: (of_unit[unit] ^ of_group[each], groups[each][1])
        )[:most]
    ]


def _digest(text: str) -> int:
    return int(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:_DIGITS], 16)


def _unit_text(row: Sequence[Any]) -> str:
    *first, last = row
    return "".join([*map(_delimited, first), _piece(last)])


def _delimited(value: Any) -> str:
    piece = _piece(value)
    return f"{len(piece.encode())}:{piece}" if isinstance(value, str) else f"{piece}|"


def _piece(value: Any) -> str:
    match value:
        case float():
            return named(value)
        case bool():
            return "t" if value else "f"
        case int():
            return str(value)
        case str():
            return value
        case datetime():
            moment = value.replace(tzinfo=None) - (value.utcoffset() or _EPOCH - _EPOCH)
            ticks = moment - _EPOCH
            return str((ticks.days * 86_400 + ticks.seconds) * 1_000_000 + ticks.microseconds)
        case date():
            return str((value - _EPOCH.date()).days)
        case _:
            raise TypeError("A unit is named by whole numbers, texts, truth values and days.")


def _order(row: Sequence[Any]) -> tuple[Any, ...]:
    """The order of SQL, NULL first and NaN last."""
    return tuple(
        (each is not None, each != each, 0 if each is None or each != each else each)
        for each in row
    )
