"""A ledger that was really written in format 1, put back row by row into a file or a database.

Rows and not a file, because both stores need the same ones and a text can be read in a review.
"""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from support.ledgers import Place

ROWS = Path(__file__).parents[1] / "data" / "ledger-format-1.json"

DATASET = "visits"
STORED = 8
"""Releases in it, and the numbers of some charges by what became of them."""
OPEN_CHARGE, FAILED_CHARGE = 21, 22
SNAPSHOTS = (3, 8)
"""Its entries with plain fingerprints."""


@cache
def written() -> dict[str, Any]:
    """What was written, by table, with the statements that made the tables."""
    content: dict[str, Any] = json.loads(ROWS.read_text(encoding="utf-8"))
    return content


def table() -> pa.Table:
    """The data on which it was written, in their second state."""
    rooms, days = ("cafe", "clinic", "hall", "lab"), ("mon", "tue", "wed")
    return pa.Table.from_pylist(
        [
            {
                "device": f"d{number % 20}",
                "day": days[number // 20],
                "room": rooms[7 * number % 4],
                "consent": number % 5 != 0,
            }
            for number in range(60)
        ]
    )


def payloads() -> dict[int, bytes]:
    """The stored bytes by entry."""
    rows = written()["tables"]["payloads"]
    return {number: base64.b64decode(content) for number, content in rows}


def bodies() -> list[dict[str, Any]]:
    """All entries in order."""
    return [json.loads(row[6]) for row in written()["tables"]["entries"]]


def put_back(place: Place) -> Place:
    """Write it to `place`, as it was."""
    in_file = isinstance(place.where, Path)
    schema = written()["schema"]["sqlite" if in_file else "postgres"]
    first = ["PRAGMA journal_mode = WAL"] if in_file else []
    inserts = [
        (f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", _values(table, row))
        for table, rows in written()["tables"].items()
        for row in rows
    ]
    place.raw(*first, *schema, *inserts)
    if isinstance(place.where, Path):
        place.where.chmod(0o600)
    return place


def _values(table: str, row: list[Any]) -> tuple[Any, ...]:
    if table == "payloads":
        return row[0], base64.b64decode(row[1])
    return tuple(row)
