"""Columns of Arrow as DataFusion is given them: what they are for us, and how they are read.

What a column becomes follows from its type alone. A cell that does not fit its type is NULL, all
NaN are the same one, and moments are microseconds in UTC.
"""

from __future__ import annotations

import math

import pyarrow as pa
import pyarrow.compute as pc

from onesided.engine.arrow_total import total_table
from onesided.language import Field, Type

_MOST = 2**63 - 1
# Moments without an end, in every unit.
_ENDLESS = pa.array([-_MOST, _MOST])
_NONE = pa.scalar(None, pa.int64())
_MOMENT = pa.timestamp("us")


def field_of(kind: pa.DataType) -> Field:
    """What a column of this type, as `total_table` gives it, is for predicates."""
    types = pa.types
    if types.is_decimal128(kind):
        return Field.decimal(kind.precision, kind.scale)
    if types.is_dictionary(kind) or types.is_string(kind) or types.is_large_string(kind):
        return Field(Type.TEXT)
    if types.is_integer(kind):
        return Field(Type.WIDE_INTEGER if kind == pa.uint64() else Type.INTEGER)
    if types.is_timestamp(kind):
        return Field(Type.TIMESTAMP, zoned=kind.tz is not None)
    if kind in (pa.float32(), pa.float64()):
        return Field(Type.FLOAT)
    if kind == pa.date32():
        return Field(Type.DATE)
    return Field(Type.BOOLEAN if types.is_boolean(kind) else Type.OTHER)


def fields_of(schema: pa.Schema) -> dict[str, Field]:
    """The columns of a source for predicates."""
    total = total_table(schema.empty_table())
    return {field.name: field_of(field.type) for field in total.schema}


def readable(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The rows in types that DataFusion and our types share; of others whether there is a value."""
    total = total_table(pa.Table.from_batches([batch]))
    columns = [_read(column.chunk(0)) for column in total.columns]
    return pa.record_batch(columns, names=total.column_names)


def _read(array: pa.Array) -> pa.Array:
    kind = array.type
    match field_of(kind).type:
        case Type.TEXT:
            return array.cast(pa.string())
        case Type.FLOAT:
            return pc.if_else(pc.is_nan(array), pa.scalar(math.nan, kind), array)
        case Type.TIMESTAMP:
            return _moments(array)
        case Type.OTHER:
            return pc.if_else(array.is_valid(), True, pa.scalar(None, pa.bool_()))
        case _:
            return array


def _moments(array: pa.Array) -> pa.Array:
    kind, whole = array.type, array.cast(pa.int64())
    endless = pc.is_in(whole, _ENDLESS)
    if kind.unit == "ns":
        whole = pc.if_else(endless, whole, _in_microseconds(whole))
    if kind.tz is not None:
        # A moment without an end is none in UTC.
        whole = pc.if_else(endless, _NONE, whole)
    return whole.cast(_MOMENT)


def _in_microseconds(nanoseconds: pa.Array) -> pa.Array:
    """Rounded, halves away from zero."""
    cut = pc.divide(nanoseconds, 1000)
    rest = pc.subtract(nanoseconds, pc.multiply(cut, 1000))
    return pc.add(cut, pc.divide(rest, 500))
