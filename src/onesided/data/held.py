"""How much a sample holds: its rows, and its units where its columns tell."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from onesided.data.units import Unit


@dataclass(frozen=True)
class SampleSize:
    """Numbers of what was released; `units` is None where the columns of the sample do not tell."""

    rows: int
    units: int | None

    def __str__(self) -> str:
        if self.units is None:
            return f"{self.rows:,} rows"
        return f"{self.units:,} units in {self.rows:,} rows"


def held_in(file: Path, unit: Unit) -> SampleSize:
    """What a Parquet file holds in which the rows of each unit are together."""
    rows = pa.parquet.read_metadata(file).num_rows
    return SampleSize(rows, rows if unit.is_row else _units_in(file, unit))


def _units_in(file: Path, unit: Unit) -> int | None:
    """How often the key changes from row to row; None where it is not among the columns."""
    number, last = 0, None
    try:
        with pa.parquet.ParquetFile(file) as rows:
            if not set(unit.columns) <= set(rows.schema_arrow.names):
                return None
            for batch in rows.iter_batches(columns=list(unit.columns)):
                keys = pa.Table.from_batches([batch] if last is None else [last, batch])
                number += int(pc.sum(_changes(keys)).as_py() or 0) + (last is None)
                last = batch.slice(len(batch) - 1)
    except pa.ArrowException:  # what cannot be compared is not counted, after the charge too
        return None
    return number


def _changes(keys: pa.Table) -> pa.ChunkedArray:
    """Which rows differ from the one before."""
    changed = None
    for column in keys.columns:
        differs = pc.fill_null(
            pc.not_equal(column.slice(1), column.slice(0, len(column) - 1)), False
        )
        changed = differs if changed is None else pc.or_(changed, differs)
    return changed
