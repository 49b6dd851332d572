"""What a ledger keeps of a sample: its bytes up to a size, beyond it a digest of them.

A repeat is served from the bytes. Where there are none, the sample is drawn again by its coins and
held against the digest: what is shown is always what was released.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from onesided.data.held import SampleSize, held_in
from onesided.data.private import PrivateDirectory
from onesided.data.release import SAMPLE_FILE
from onesided.data.units import Unit
from onesided.engine.base import Placed

LARGEST_KEPT = 64 * 1024 * 1024
"""Bytes of a sample that are kept whole: a ledger of a hundred samples still fits on any disk."""

_PARQUET = b"PAR1"
_COMPARED = ("rows", "sha256", "digest")


@dataclass(frozen=True)
class StoredSample:
    """What is known of a stored sample at `epsilon`.

    - `units`: how many units it holds; None where its columns do not tell.
    - `content`: the rows themselves where they are stored.
    """

    epsilon: Fraction
    rows: int
    units: int | None
    content: pa.Table | None


def stored_sample(payload: bytes, epsilon: Fraction, unit: Unit) -> StoredSample:
    """What `kept` or `kept_elsewhere` has stored."""
    if not is_whole(payload):
        facts = _facts(payload)
        return StoredSample(epsilon, int(facts["rows"]), facts.get("units"), None)
    content = pa.parquet.read_table(pa.BufferReader(payload))
    units = None
    if unit.is_row:
        units = len(content)
    elif set(unit.columns) <= set(content.column_names):
        keys = list(unit.columns)
        units = len(content.select(keys).group_by(keys).aggregate([]))
    return StoredSample(epsilon, len(content), units, content)


def kept(file: Path, rows: int, unit: Unit) -> bytes:
    """What is stored of a sample that was written to `file`, the rows of each unit together."""
    size = file.stat().st_size
    if size <= LARGEST_KEPT:
        return file.read_bytes()
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    units = held_in(file, unit).units
    return _written({"rows": rows, "sha256": digest, "bytes": size, "units": units})


def kept_elsewhere(placed: Placed) -> bytes:
    """What is stored of a sample that the engine wrote itself."""
    return _written({"rows": placed.rows, "digest": placed.digest})


def held_elsewhere(payload: bytes) -> SampleSize:
    """How much a sample holds that the engine wrote itself."""
    return SampleSize(int(_facts(payload)["rows"]), None)


def is_whole(payload: bytes) -> bool:
    """Whether the rows themselves are stored."""
    return payload.startswith(_PARQUET)


def unpacked(payload: bytes) -> PrivateDirectory:
    """The stored rows as a private file."""
    directory = PrivateDirectory()
    (directory.path / SAMPLE_FILE).write_bytes(payload)
    return directory


def agree(stored: bytes, drawn: bytes) -> bool:
    """Whether both are of the same sample, as far as they say the same things."""
    first, second = _facts(stored), _facts(drawn)
    return all(first[name] == second[name] for name in _COMPARED if name in first.keys() & second)


def _facts(payload: bytes) -> dict[str, Any]:
    if not is_whole(payload):
        facts: dict[str, Any] = json.loads(payload)
        return facts
    rows = pa.parquet.read_metadata(pa.BufferReader(payload)).num_rows
    return {"rows": rows, "sha256": hashlib.sha256(payload).hexdigest()}


def _written(facts: dict[str, Any]) -> bytes:
    return json.dumps(facts, sort_keys=True).encode()
