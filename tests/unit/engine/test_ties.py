"""Finishing a sort of which only the texts are missing."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from onesided.engine.ties import sorted_ties

cells = st.tuples(
    st.one_of(st.none(), st.integers(0, 2)),
    st.one_of(st.none(), st.sampled_from([0.5, 1.5, float("nan")])),
    st.one_of(st.none(), st.sampled_from(["", "a", "ab", "é", "😀"])),
    st.one_of(st.none(), st.sampled_from(["x", "y"])),
)


def rank(value: object) -> tuple[int, object]:
    """NULL first, NaN last among numbers, texts by code point."""
    if value is None:
        return (0, 0)
    return (2, 0) if value != value else (1, value)


@given(st.lists(cells, max_size=30), st.integers(1, 7), st.randoms(use_true_random=False))
def test_any_cut_into_batches_gives_the_whole_order(
    rows: list[tuple[object, ...]], size: int, shuffler: object
) -> None:
    shuffler.shuffle(rows)  # type: ignore[attr-defined]
    half_sorted = sorted(rows, key=lambda row: (rank(row[0]), rank(row[1])))
    names = ["number", "float", "text", "other"]
    types = [pa.int64(), pa.float64(), pa.string(), pa.string()]
    schema = pa.schema(list(zip(names, types, strict=True)))
    table = pa.table(
        [pa.array([row[i] for row in half_sorted], types[i]) for i in range(4)], schema=schema
    )
    batches = table.to_batches(max_chunksize=size)
    answer = pa.Table.from_batches(sorted_ties(batches, names[:2], names[2:]), schema)
    wanted = sorted(half_sorted, key=lambda row: tuple(map(rank, row)))
    assert [str(tuple(row.values())) for row in answer.to_pylist()] == list(map(str, wanted))
