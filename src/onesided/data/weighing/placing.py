"""In which groups of a margin each unit of a sample is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from onesided.data.release import SampleRelease
from onesided.data.units import Unit
from onesided.data.values import python_values
from onesided.data.weighing.counted import CountedMargin
from onesided.data.weighing.cutting import UnitTexts, nearest
from onesided.errors import PolicyError, RequestError
from onesided.language import BoundKey, Field, Key, Schema, Type
from onesided.language.tree import Column
from onesided.weights.margins import Margin, Places

_NO_VALUE = (OverflowError, TypeError, ValueError, pa.ArrowException)
_MOST_CODES = 1 << 40


@dataclass(frozen=True)
class SampledUnits:
    """The units of a sample by their rows."""

    sample: SampleRelease

    @cached_property
    def of_row(self) -> Places:
        """The number of the unit of each row."""
        if self.sample.unit.is_row:
            return np.arange(len(self.sample), dtype=np.int64)
        return _numbered(self._keys)[0]

    @cached_property
    def _keys(self) -> pa.Table:
        """The parts of the unit's key for each row."""
        names = self.sample.unit.columns
        check_unit(self.sample.unit, self.schema)
        columns = [
            self.sample.columns([name]).column(0)
            if name in self.schema.names
            else self._values(Key.parse(name), None)
            for name in names
        ]
        return pa.table(columns, names=list(names))

    @cached_property
    def number(self) -> int:
        """How many there are."""
        return int(self.of_row.max()) + 1 if len(self.of_row) else 0

    @property
    def schema(self) -> pa.Schema:
        """The columns of the sample."""
        return self.sample.head(0).schema

    def margin(self, counted: CountedMargin) -> Margin:
        """The margin with the groups of each unit."""
        rows = self._groups(counted)
        if self.sample.unit.is_row:
            return Margin.of_one_cell(counted.counted, counted.variance, rows)
        inside = rows >= 0
        pairs = np.unique(self.of_row[inside] * len(counted.counted) + rows[inside])
        units, groups = np.divmod(pairs, max(len(counted.counted), 1))
        if counted.most_groups is not None:
            units, groups = self._cut(counted, units, groups)
        if len(np.unique(units)) == len(units):
            cell = np.full(self.number, -1, dtype=np.int64)
            cell[units] = groups
            return Margin.of_one_cell(counted.counted, counted.variance, cell)
        held = np.zeros((self.number, len(counted.counted)), dtype=np.bool_)
        held[units, groups] = True
        packed, pattern = np.unique(np.packbits(held, axis=1), axis=0, return_inverse=True)
        cells = np.unpackbits(packed, axis=1, count=held.shape[1]).astype(np.bool_)
        return Margin(
            counted.counted, counted.variance, pattern.reshape(-1).astype(np.int64), cells
        )

    def _cut(self, counted: CountedMargin, units: Places, groups: Places) -> tuple[Places, Places]:
        """Of each unit the groups that were counted, by the same rule as when they were."""
        most = counted.most_groups or 1
        many = np.flatnonzero(np.bincount(units, minlength=self.number) > most)
        if not len(many):
            return units, groups
        chosen = np.isin(units, many)
        rows = np.zeros(self.number, dtype=np.int64)
        rows[self.of_row] = np.arange(len(self.of_row))
        keys = self._keys.take(pa.array(rows[many]))
        try:
            kept = nearest(
                dict(zip(many.tolist(), UnitTexts.of(keys), strict=True)),
                UnitTexts.of_groups(counted.labels),
                list(zip(units[chosen].tolist(), groups[chosen].tolist(), strict=True)),
                most,
            )
        except _NO_VALUE:
            raise RequestError(
                f"The count by {counted.name} left out some groups of each unit, and which they "
                "are cannot be told from the sample; count what each unit has one value of."
            ) from None
        found = np.array(kept, dtype=np.int64).reshape(-1, 2)
        return (
            np.concatenate([units[~chosen], found[:, 0]]),
            np.concatenate([groups[~chosen], found[:, 1]]),
        )

    def _groups(self, counted: CountedMargin) -> Places:
        """The group of each row, as a row of the count; -1 where it has none."""
        check_columns(counted, self.schema)
        if not counted.keys:
            return np.zeros(len(self.sample), dtype=np.int64)
        code = np.zeros(len(self.sample), dtype=np.int64)
        known = np.ones(len(self.sample), dtype=np.bool_)
        listed = np.zeros(len(counted.labels), dtype=np.int64)
        sizes = []
        for key, column in zip(counted.keys, counted.labels.columns, strict=True):
            labels = _plain(column)
            distinct = labels.unique()
            place = _placed(self._values(key, labels.type), distinct, key.name in counted.open)
            known &= place >= 0
            code = code * len(distinct) + place
            listed = listed * len(distinct) + _found(labels, distinct)
            sizes.append(len(distinct))
        if prod(sizes) > _MOST_CODES:
            raise RequestError(f"The count by {counted.name} has too many groups; use fewer keys.")
        order = np.argsort(listed)
        at = np.minimum(np.searchsorted(listed[order], code), max(len(order) - 1, 0))
        if not len(order):
            return np.full(len(code), -1, dtype=np.int64)
        row = order[at]
        return np.where(known & (listed[row] == code), row, -1)

    def _values(self, key: Key, kind: pa.DataType | None) -> pa.ChunkedArray:
        """The value of a key for each row, in the type that the count has it in."""
        table = self.sample.columns(key.columns)
        try:
            if isinstance(key.expression, Column):
                return _plain(table.column(0)).cast(kind, safe=False)
            bound = self._bound(key)
            code, first = _numbered(table)
            distinct = table.take(pa.array(first))
            rows = zip(*map(python_values, distinct.columns), strict=True)
            values = [bound.evaluate(dict(zip(key.columns, row, strict=True))) for row in rows]
            return pa.chunked_array([pa.array(values, kind).take(pa.array(code))])
        except (*_NO_VALUE, PolicyError):
            raise RequestError(
                f"{key.name} cannot be computed from the columns of the sample; release it as a "
                "column of the data."
            ) from None

    def _bound(self, key: Key) -> BoundKey:
        schema = Schema.of({each.name: _field(each.type) for each in self.schema})
        receipt = self.sample.receipt.content
        zones = receipt.get("time_zones", {})
        if zones:
            schema = Schema(
                tuple(
                    (name, Field(field.type, digits=field.digits, zone=zones.get(name)))
                    for name, field in schema.fields
                )
            )
        return key.bind(schema)


def check_columns(counted: CountedMargin, schema: pa.Schema) -> None:
    """Refuse a margin over columns that the sample does not have."""
    missing = [name for name in counted.columns if name not in schema.names]
    if missing:
        raise RequestError(
            f"The sample has no column {missing[0]}; weights need the columns of every count, so "
            "release it with the sample, or leave that count out."
        )


def check_unit(unit: Unit, schema: pa.Schema) -> None:
    """Refuse a sample in which units cannot be told."""
    for name in unit.columns:
        try:
            read = (name,) if name in schema.names or "(" not in name else Key.parse(name).columns
        except PolicyError:
            read = (name,)
        missing = [each for each in read if each not in schema.names]
        if missing:
            raise RequestError(
                f"The sample has no column {missing[0]}, so that its units cannot be told; "
                "publish it with the columns of the unit."
            )


def _numbered(table: pa.Table) -> tuple[Places, Places]:
    """For each row the number of its values, and for each number the first row that has it."""
    code = np.zeros(len(table), dtype=np.int64)
    kinds = 1
    for column in table.columns:
        own = column.combine_chunks().dictionary_encode(null_encoding="encode")
        if isinstance(own, pa.ChunkedArray):
            own = own.combine_chunks()
        code = code * len(own.dictionary) + own.indices.to_numpy().astype(np.int64)
        kinds *= max(len(own.dictionary), 1)
        if kinds > _MOST_CODES:
            _, code = np.unique(code, return_inverse=True)
            kinds = len(table)
    _, first, number = np.unique(code, return_index=True, return_inverse=True)
    return number.reshape(-1).astype(np.int64), first.astype(np.int64)


def _placed(values: pa.ChunkedArray, distinct: pa.Array, open_domain: bool) -> Places:
    """The place of each value among the `distinct` ones; -1 where it has none.

    Of declared values, NULL stands for all others.
    """
    place = _found(values, distinct)
    if not open_domain and distinct.null_count:
        others = int(np.flatnonzero(distinct.is_null().to_numpy(zero_copy_only=False))[0])
        place = np.where(place < 0, others, place)
    return place


def _found(values: pa.ChunkedArray, distinct: pa.Array) -> Places:
    found = pc.index_in(values, value_set=distinct, skip_nulls=False)
    return np.asarray(pc.fill_null(found, -1).to_numpy().astype(np.int64))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column


_KINDS: Sequence[tuple[Any, Type]] = (
    (pa.types.is_boolean, Type.BOOLEAN),
    (pa.types.is_floating, Type.FLOAT),
    (pa.types.is_date, Type.DATE),
    (pa.types.is_timestamp, Type.TIMESTAMP),
    (pa.types.is_string, Type.TEXT),
    (pa.types.is_large_string, Type.TEXT),
    (pa.types.is_dictionary, Type.TEXT),
)


def _field(kind: pa.DataType) -> Field:
    """What a released column is for the language of keys."""
    if pa.types.is_decimal(kind):
        return Field.decimal(kind.precision, kind.scale)
    if pa.types.is_integer(kind):
        return Field(Type.WIDE_INTEGER if kind == pa.uint64() else Type.INTEGER)
    return Field(next((found for is_kind, found in _KINDS if is_kind(kind)), Type.OTHER))
