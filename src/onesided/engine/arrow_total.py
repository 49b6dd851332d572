"""Arrow columns in a form that DuckDB reads without an error, with anything in their cells.

What a column becomes follows from its type alone. A cell that does not fit its type (text that is
not UTF-8, a moment beyond 64 bits of microseconds, a time beyond a day) becomes NULL.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from onesided.errors import SourceError

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_MOST = 2**63 - 1
_COARSE = ("s", "ms")
_WIDEST_DECIMAL = 38
# DuckDB keeps microseconds of an interval and hands out nanoseconds.
_MOST_INTERVAL = _MOST // 1000


@cache
def _endless() -> pa.Array:
    """DuckDB's infinite moments, in every unit; an array of Python's values loads pandas."""
    return pa.array([-_MOST, _MOST])


def total_table(table: pa.Table) -> pa.Table:
    """The table with every column as `total_array` gives it."""
    columns = []
    for field, column in zip(table.schema, table.columns, strict=True):
        try:
            pieces = [total_array(piece) for piece in column.chunks]
            kind = total_array(pa.array([], field.type)).type
        except (pa.ArrowException, NotImplementedError):
            raise SourceError(
                f"The column {field.name} is of the type {field.type}, which cannot be read; "
                "leave it out or write it as text."
            ) from None
        columns.append(pa.chunked_array(pieces, kind))
    return pa.table(columns, names=table.column_names)


def total_array(array: pa.Array) -> pa.Array:
    """The array in a type that DuckDB knows, with NULL where a cell does not fit."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _extension(array)
    if pa.types.is_dictionary(kind):
        return _dictionary(array)
    if pa.types.is_run_end_encoded(kind):
        return total_array(pc.run_end_decode(array))
    if pa.types.is_nested(kind):
        return _nested(array)
    return _flat(array)


def fitted(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """The array as a column of this type; NULL where a cell does not fit."""
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    array = total_array(array)
    if pa.types.is_timestamp(array.type) and array.type.tz is not None:
        # In DuckDB a moment without an end is none in UTC.
        whole = array.cast(pa.int64())
        endless = pc.is_in(whole, _endless())
        return pc.if_else(endless, pa.scalar(None, pa.int64()), whole).cast(kind)
    return array.cast(kind)


def masked(array: pa.Array) -> pa.Array:
    """A flat array with NULL in the cells that are no values of its type."""
    if pa.types.is_date64(array.type) or _is_valid(array):
        return array
    wrong = np.zeros(len(array), dtype=np.bool_)
    _mark_invalid(array, 0, wrong)
    # The cells may not be touched as texts: taking rows leaves them out by position.
    places = pa.array(np.arange(len(array)), mask=wrong)
    return array.take(places)


def _in_microseconds(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Moments or durations in seconds or milliseconds, as `kind`; NULL where these overflow."""
    factor = 10**6 // _PER_SECOND[array.type.unit]
    whole = array.cast(pa.int64())
    most = _MOST // factor
    fits = pc.and_(pc.greater_equal(whole, -most), pc.less_equal(whole, most))
    scaled = pc.multiply(pc.if_else(fits, whole, pa.scalar(None, pa.int64())), factor)
    return pc.if_else(pc.is_in(whole, _endless()), whole, scaled).cast(kind)


def _flat(array: pa.Array) -> pa.Array:
    kind = array.type
    if pa.types.is_string_view(kind):
        return masked(array.view(pa.binary_view()).cast(pa.large_binary()).view(pa.large_string()))
    if pa.types.is_binary_view(kind):
        return array.cast(pa.large_binary())
    if pa.types.is_float16(kind):
        return array.cast(pa.float32())
    if pa.types.is_decimal(kind):
        return _decimal(array)
    if pa.types.is_timestamp(kind) and kind.unit in _COARSE:
        return _in_microseconds(array, pa.timestamp("us", kind.tz))
    if pa.types.is_duration(kind):
        return _duration(array)
    return masked(array)


def _decimal(array: pa.Array) -> pa.Array:
    """Within the digits of its type; Arrow's own check lets the least number of all through."""
    kind = array.type
    if not 0 <= kind.scale <= kind.precision:
        return masked(array).cast(pa.string())
    ends = (Decimal((sign, (9,) * kind.precision, -kind.scale)) for sign in (1, 0))
    least, most = (pa.scalar(end, kind) for end in ends)
    fits = pc.and_(pc.less_equal(array, most), pc.greater_equal(array, least))
    array = pc.if_else(fits, array, pa.scalar(None, kind))
    if kind.precision > _WIDEST_DECIMAL:
        return array.cast(pa.string())
    return array.cast(pa.decimal128(kind.precision, kind.scale))


def _duration(array: pa.Array) -> pa.Array:
    if array.type.unit in _COARSE:
        array = _in_microseconds(array, pa.duration("us"))
    if array.type.unit == "ns":
        return array
    whole = array.cast(pa.int64())
    fits = pc.and_(pc.greater_equal(whole, -_MOST_INTERVAL), pc.less_equal(whole, _MOST_INTERVAL))
    return pc.if_else(fits, whole, pa.scalar(None, pa.int64())).cast(array.type)


def _extension(array: Any) -> pa.Array:
    """DuckDB knows UUID; every other one is read as what it is stored as."""
    if array.type.extension_name == "arrow.uuid":
        return array
    stored = array.storage
    if array.type.extension_name == "arrow.bool8":
        return pc.not_equal(stored, 0)
    return total_array(stored)


def _dictionary(array: Any) -> pa.Array:
    """Still a dictionary where DuckDB reads its values as they are; NULL is NULL by its index."""
    kind, values = array.type, array.dictionary
    plain = pa.types.is_string(kind.value_type) or pa.types.is_large_string(kind.value_type)
    if plain and not values.null_count and _is_valid(array):
        return array
    values = total_array(values)
    indices = _within(array.indices, len(values))
    if not plain:
        return values.take(indices)
    present = values.is_valid().take(indices)
    kept = pc.if_else(present, indices, pa.scalar(None, indices.type))
    return pa.DictionaryArray.from_arrays(kept, values, ordered=kind.ordered)


def _within(indices: pa.Array, size: int) -> pa.Array:
    """Indices into `size` values; NULL where they point elsewhere."""
    inside = pc.and_(pc.greater_equal(indices, 0), pc.less(indices, size))
    return pc.if_else(inside, indices, pa.scalar(None, indices.type))


def _nested(array: Any) -> pa.Array:
    kind = array.type
    if pa.types.is_struct(kind):
        fields = [_inner(child) for child in array.flatten()]
        names = [kind.field(place).name for place in range(kind.num_fields)]
        if not names:
            return array
        return pa.StructArray.from_arrays(fields, names, mask=array.is_null())
    if pa.types.is_map(kind):
        # DuckDB stops at a map that has a key twice; a list of its entries holds everything.
        entries = pa.StructArray.from_arrays([array.keys, array.items], ["key", "value"])
        return _listed(pa.ListArray, array, array.offsets, entries)
    if pa.types.is_list(kind):
        return _listed(pa.ListArray, array, array.offsets, array.values)
    if pa.types.is_large_list(kind):
        return _listed(pa.LargeListArray, array, array.offsets, array.values)
    if pa.types.is_fixed_size_list(kind) or pa.types.is_list_view(kind):
        return total_array(array.cast(pa.list_(kind.value_field)))
    if pa.types.is_large_list_view(kind):
        return total_array(array.cast(pa.large_list(kind.value_field)))
    raise pa.ArrowNotImplementedError(f"{kind} is not read")


def _listed(made: Any, array: Any, offsets: pa.Array, values: pa.Array) -> pa.Array:
    fresh = pa.array(offsets.to_numpy(), offsets.type)
    return made.from_arrays(fresh, _inner(values), mask=array.is_null())


def _inner(array: pa.Array) -> pa.Array:
    """As `total_array`; DuckDB does not read every dictionary below the top."""
    total = total_array(array)
    return total.dictionary_decode() if pa.types.is_dictionary(total.type) else total


def _is_valid(array: pa.Array) -> bool:
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _mark_invalid(array: pa.Array, start: int, wrong: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
    """Halves what is invalid until single cells are left."""
    if _is_valid(array):
        return
    if len(array) == 1:
        wrong[start] = True
        return
    half = len(array) // 2
    _mark_invalid(array.slice(0, half), start, wrong)
    _mark_invalid(array.slice(half), start + half, wrong)
