"""Rows of one table among those of another, by the values of their columns.

Columns are compared by Arrow as they are: keys of any value find themselves, NaN and NULL too.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Places = NDArray[np.int64]


def codes(*tables: pa.Table) -> list[Places]:
    """A number for each row of each table: the same for rows that are equal, and no other."""
    sizes = [len(table) for table in tables]
    found = np.zeros(sum(sizes), dtype=np.int64)
    for columns in zip(*(table.columns for table in tables), strict=True):
        chunks = [chunk for column in columns for chunk in column.chunks]
        column = pa.chunked_array(chunks, columns[-1].type)
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        both = np.stack([found, encoded.indices.to_numpy().astype(np.int64)])
        found = np.unique(both, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return np.split(found, np.cumsum(sizes)[:-1])


def places_of(sought: pa.Table, known: pa.Table) -> Places:
    """Where each row of `sought` stands in `known`, whose rows differ; −1 where it does not."""
    wanted, there = codes(sought, known)
    places = np.full(max([*wanted, *there], default=-1) + 1, -1, dtype=np.int64)
    places[there] = np.arange(len(known))
    return places[wanted]


def first_places(table: pa.Table) -> tuple[Places, Places]:
    """Where each different row comes first, in order; and to which of these each row belongs."""
    (found,) = codes(table)
    _, first, inverse = np.unique(found, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order].astype(np.int64), rank[inverse.reshape(-1)].astype(np.int64)
