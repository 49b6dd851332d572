"""From a measurement to the table that is released."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onesided.data import Histogram, Interval, Measured, Measurement
from onesided.engine.base import GroupCounts
from onesided.session.domains import dense_keys

_PREFIX = {
    Measured.NONSENSITIVE: "nonsensitive_",
    Measured.ALL: "",
    Measured.BUCKETS: "bucket_",
}


def answer_table(
    counts: GroupCounts, data: Histogram, measurement: Measurement, figure: str
) -> pa.Table:
    """The keys, the released `figure`, and the bounds of every interval that was measured.

    Only released values and public facts go in: of an open domain just the keys that the mechanism
    listed, of a declared one all bins.
    """
    if measurement.keys is not None:
        keys = counts.keys.take(pa.array(measurement.keys))
        columns = dict(zip(keys.column_names, keys.columns, strict=True))
    else:
        types = [field.type for field in counts.keys.schema]
        columns = dict(
            zip(counts.keys.column_names, dense_keys(data.axes or (), types), strict=True)
        )
    columns[figure] = _flat(measurement.value)
    if measurement.buckets is not None:
        columns["bucket"] = _flat(measurement.buckets)
    for interval in measurement.intervals:
        columns.update(_bounds(interval, measurement.buckets))
    return pa.table(columns)


def error_statement(
    measurement: Measurement,
    expected: float | None,
    assumes: str = "",
    words: Mapping[Measured, str] | None = None,
) -> dict[str, Any]:
    """What the bounds in the table cover, for the receipt; `words` where they are no counts.

    `assumes` says what the `expected` error takes for granted about the data.
    """
    covers = [
        {
            "columns": list(_names(interval)),
            "bound": (words or {}).get(interval.of, interval.of.value),
            "confidence": "certain" if interval.confidence == 1 else f"{interval.confidence:g}",
        }
        for interval in measurement.intervals
    ]
    statement: dict[str, Any] = {"intervals": covers}
    if expected is not None:
        statement["expected_absolute_error_per_group"] = f"{expected:.4g}"
        if assumes:
            statement["expected_error_assumes"] = assumes
    return statement


def _bounds(interval: Interval, buckets: NDArray[np.int64] | None) -> Mapping[str, pa.Array]:
    names = _names(interval)
    sides = (interval.lower, interval.upper)
    present = [side for side in sides if side is not None]
    if interval.of is Measured.BUCKETS and buckets is not None:
        present = [side[buckets.reshape(-1)] for side in present]
    return {name: _flat(side) for name, side in zip(names, present, strict=True)}


def _names(interval: Interval) -> tuple[str, ...]:
    prefix = _PREFIX[interval.of]
    if interval.upper is None:
        return (f"{prefix}at_least",)
    return (f"{prefix}at_least", f"{prefix}at_most")


def _flat(values: NDArray[Any]) -> pa.Array:
    # Where nothing was counted a mean is NaN, which a table shows as NULL.
    return pa.array(np.ascontiguousarray(values).reshape(-1), from_pandas=True)
