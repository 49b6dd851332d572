"""A secret table beside the visits: people by their device, some missing, some of them unknown."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from support.visits import rows

OPTED = "people.opted_out OR room = 'clinic'"
#: The devices that the table of people knows begin below this share of all.
_KNOWN = 0.9


def people(devices: int = 400) -> pa.Table:
    """One row for most devices; of some of them it is not known whether they opted out."""
    known = range(round(devices * _KNOWN))
    return pa.table(
        {
            "id": pa.array(known, pa.int32()),
            "opted_out": pa.array([None if n % 17 == 3 else n % 7 == 0 for n in known], pa.bool_()),
            "floor": pa.array([n % 3 for n in known], pa.int64()),
            "team": [None if n % 11 == 5 else f"team {n % 4}" for n in known],
        }
    )


def joined(visits: pa.Table, beside: pa.Table) -> list[dict[str, Any]]:
    """Every visit with what the table of people says of its device, in Python."""
    known = {row["id"]: row for row in rows(beside)}
    nothing: dict[str, Any] = dict.fromkeys(beside.column_names)
    return [
        {
            **row,
            **{f"people.{name}": each for name, each in known.get(row["device"], nothing).items()},
        }
        for row in rows(visits)
    ]


def is_sensitive(row: dict[str, Any]) -> bool:
    """What `OPTED` says of a row of `joined`; nobody knows of a device that is not found."""
    return row["people.opted_out"] is not False or row["room"] == "clinic"
