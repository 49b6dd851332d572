"""From a measurement to the table that is released, whose columns are known beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onesided.data import Covers, Histogram, Interval, Measured, Measurement, MeasurementTerms
from onesided.engine.base import key_type
from onesided.language import BoundKey
from onesided.session.domains import dense_keys

_PREFIX = {
    Measured.NONSENSITIVE: "nonsensitive_",
    Measured.ALL: "",
    Measured.BUCKETS: "bucket_",
}


@dataclass(frozen=True)
class Layout:
    """The columns of an answer: its keys, the figure, and the bounds that the run announces.

    - `beside`: further figures that stand behind the first one, with their types.
    - `words`: what the bounds cover, where these are not what the mechanism supposes.
    - `cut`: each unit counts in some of its groups only. A lower bound then holds for all units as
      well, and an upper bound does not: it has a name of its own.
    """

    keys: tuple[BoundKey, ...]
    figure: str
    said: MeasurementTerms
    beside: tuple[tuple[str, pa.DataType], ...] = ()
    words: Mapping[Measured, str] | None = None
    cut: bool = False

    @property
    def schema(self) -> pa.Schema:
        """The columns with their types; a function of the request."""
        value = _number(self.said)
        fields = [(key.name, key_type(key)) for key in self.keys]
        fields += [(self.figure, value), *self.beside]
        if self.said.buckets:
            fields.append(("bucket", pa.int64()))
        fields += [(name, _number(each)) for each in self.said.covers for name in self._names(each)]
        return pa.schema(fields)

    def table(
        self,
        keys: pa.Table,
        data: Histogram,
        measurement: Measurement,
        beside: tuple[NDArray[Any], ...] = (),
    ) -> pa.Table:
        """The answer: of an open domain the keys that were listed, of a declared one all bins."""
        columns = [*_key_columns(self.keys, keys, data, measurement), _flat(measurement.value)]
        columns += map(_flat, beside)
        if measurement.buckets is not None:
            columns.append(_flat(measurement.buckets))
        for interval in measurement.intervals:
            columns += _bounds(interval, measurement.buckets)
        schema = self.schema
        typed = [column.cast(kind) for column, kind in zip(columns, schema.types, strict=True)]
        return pa.table(typed, schema=schema)

    @property
    def covered(self) -> dict[str, Any]:
        """What the bounds in the table cover, for the receipt."""
        covers = [
            {
                "columns": list(self._names(each)),
                "bound": (self.words or {}).get(each.of, each.of.value),
                "confidence": "certain" if each.confidence == 1 else f"{each.confidence:g}",
            }
            for each in self.said.covers
        ]
        return {"intervals": covers}

    def _names(self, covers: Covers) -> tuple[str, ...]:
        prefix = _PREFIX[covers.of]
        most = (f"{prefix}{'counted_' if self.cut else ''}at_most",) if covers.upper else ()
        return (f"{prefix}at_least", *most)


def _number(of: MeasurementTerms | Covers) -> pa.DataType:
    return pa.int64() if of.whole else pa.float64()


def _key_columns(
    keys: tuple[BoundKey, ...], found: pa.Table, data: Histogram, measurement: Measurement
) -> list[pa.Array]:
    if measurement.keys is not None:
        return list(found.take(pa.array(measurement.keys)).columns)
    return dense_keys(data.axes or (), [key_type(key) for key in keys])


def _bounds(interval: Interval, buckets: NDArray[np.int64] | None) -> Iterator[pa.Array]:
    for side in (interval.lower, interval.upper):
        if side is not None:
            spread = interval.of is Measured.BUCKETS and buckets is not None
            yield _flat(side[buckets.reshape(-1)] if spread and buckets is not None else side)


def _flat(values: NDArray[Any]) -> pa.Array:
    # Where nothing was counted a mean is NaN, which a table shows as NULL.
    return pa.array(np.ascontiguousarray(values).reshape(-1), from_pandas=True)
