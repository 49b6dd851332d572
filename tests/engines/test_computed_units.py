"""A unit whose key is computed is the unit whose key is stored, on every engine."""

from __future__ import annotations

import pyarrow as pa
import pytest

from support.engines import Opener, comparable, count_query, counted, sample_query, sampled
from support.visits import POLICY, UNIT, all_units, visits

COMPUTED = ("device", "date(ts)")
GROUPS = ((["room"], None), (["room"], 1), (["date(ts)"], None))


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """The day of a visit is a column and can be computed from the moment as well."""
    return visits(devices=60)


def test_the_same_units_are_kept_and_counted(opened: Opener, table: pa.Table) -> None:
    found = []
    for unit in (UNIT, COMPUTED):
        engine = opened(table, unit)
        assert engine.inspect().units == len(all_units(table))
        rows = sampled(engine, sample_query(engine, POLICY, where="room <> 'lab'"))
        queries = [count_query(engine, POLICY, by, max_groups=most) for by, most in GROUPS]
        found.append(
            (sorted(comparable(rows)), [counted(engine.count(query)) for query in queries])
        )
        engine.close()
    assert found[0] == found[1]
    assert all(found[0][1])


def test_rows_without_a_time_belong_to_no_unit(opened: Opener, table: pa.Table) -> None:
    moments = table.column("ts").to_pylist()
    holes = table.set_column(2, "ts", pa.array([None, *moments[1:]], pa.timestamp("us")))
    engine = opened(holes, COMPUTED)
    assert engine.inspect().rows_without_key == 1
    engine.close()
