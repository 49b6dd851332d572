"""Finishing a sort: rows that are equal in all sorted columns are put in order by their texts.

Sorting by texts costs an engine a third more, and hardly ever decides anything: two rows of one
unit mostly differ in a number or a time. So the engine sorts by everything else, and the few rows
that tie are sorted here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


def sorted_ties(
    batches: Iterable[pa.RecordBatch], by: Sequence[str], texts: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """`batches` sorted by the columns `by`, with ties in order of `texts`, NULL first.

    Rows that tie with the last row of a batch may go on in the next one, so they wait for it.
    """
    waiting: pa.Table | None = None
    for batch in batches:
        table = pa.Table.from_batches([batch])
        if waiting is not None:
            table = pa.concat_tables([waiting, table])
        starts = _run_starts(table, by)
        last = int(starts[-1])
        if last:
            yield from _ordered(table.slice(0, last), starts[:-1], texts).to_batches()
        waiting = table.slice(last)
    if waiting is not None and len(waiting):
        yield from _ordered(waiting, np.zeros(1, dtype=np.int64), texts).to_batches()


def _run_starts(table: pa.Table, by: Sequence[str]) -> NDArray[np.int64]:
    """Where each run of rows with equal values in `by` begins."""
    same = np.ones(max(len(table) - 1, 0), dtype=np.bool_)
    for name in reversed(by):  # the last sorted columns tell most rows apart
        if not same.any():
            break
        if not _is_comparable(table.schema.field(name).type):
            continue
        same &= _equal_neighbours(table.column(name).combine_chunks())
    return np.concatenate([[0], np.flatnonzero(~same) + 1])


def _is_comparable(kind: pa.DataType) -> bool:
    """Whether Arrow can compare values of this type; lists and intervals are left out."""
    try:
        pc.equal(pa.array([], kind), pa.array([], kind))
    except pa.ArrowNotImplementedError:
        return False
    return True


def _equal_neighbours(column: pa.Array) -> NDArray[np.bool_]:
    """Whether each value equals the next; NULL equals NULL here, and NaN equals NaN."""
    first, second = column.slice(0, len(column) - 1), column.slice(1)
    equal = pc.fill_null(pc.equal(first, second), False)
    no_number = pc.and_(pc.is_null(first, nan_is_null=True), pc.is_null(second, nan_is_null=True))
    alike = pc.and_(no_number, pc.equal(first.is_valid(), second.is_valid()))
    return np.asarray(pc.or_(equal, alike).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _ordered(table: pa.Table, starts: NDArray[np.int64], texts: Sequence[str]) -> pa.Table:
    lengths = np.diff(np.append(starts, len(table)))
    if not np.any(lengths > 1):
        return table
    run = np.repeat(np.arange(len(starts)), lengths)
    tied = np.flatnonzero(np.repeat(lengths, lengths) > 1)
    few = [pa.array(run[tied])]
    for name in texts:
        column = table.column(name).take(pa.array(tied))
        # Whether there is a text at all sorts first, which puts NULL before every text.
        few += [column.is_valid().cast(pa.int8()), column]
    named = pa.table(few, names=[str(index) for index in range(len(few))])
    keys = [(name, "ascending") for name in named.column_names]
    order = np.arange(len(table))
    order[tied] = tied[pc.sort_indices(named, sort_keys=keys).to_numpy()]
    return table.take(pa.array(order))
