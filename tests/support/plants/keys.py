"""Keys of groups: what their values used to decide."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from onesided.engine.duckdb import types as duckdb_types
from onesided.session import domains, values
from onesided.session.questions import adaptive
from support.plants.planting import replaced

_EXPRESSION = duckdb_types.total_expression


@contextmanager
def keys_become_python_objects() -> Iterator[None]:
    """The listed keys of `auto` were looked up among all that occur, as objects of Python."""

    def positions(listed: pa.Table, known: pa.Table) -> NDArray[np.int64]:
        where = {row: place for place, row in enumerate(_rows(known))}
        return np.array([where[row] for row in _rows(listed)], dtype=np.int64)

    with replaced((adaptive, "positions", positions)):
        yield


def _rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@contextmanager
def the_bits_of_nan_are_published() -> Iterator[None]:
    """A NaN became the key of a group with the bits that it had."""

    def expression(column: str, kind: str) -> str:
        if kind in ("FLOAT", "DOUBLE"):
            return f"CASE WHEN nextafter({column}, {column}) IS NULL THEN NULL ELSE {column} END"
        return _EXPRESSION(column, kind)

    with replaced((duckdb_types, "total_expression", expression)):
        yield


@contextmanager
def an_offset_is_lost_on_the_way() -> Iterator[None]:
    """The statement left out the offset of a declared moment, and the histogram did not."""

    def in_utc(moment: datetime) -> datetime:
        return moment

    def index(column: pa.ChunkedArray, labels: tuple[Any, ...]) -> Any:
        found = pc.index_in(column, value_set=pa.array(labels, column.type), skip_nulls=False)
        if found.null_count:
            raise IndexError("there is no such bin")
        return found.to_numpy().astype(np.int64)

    with replaced((values, "in_utc", in_utc), (domains, "_index", index)):
        yield
