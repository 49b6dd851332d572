"""A filter keeps the embedded engine from reading what cannot match."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onesided.data.units import Unit
from onesided.engine.duckdb.engine import DuckDBEngine
from support.engines import sample_query

ROWS, IN_A_GROUP = 40_000, 10_000


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("pruning") / "sorted.parquet"
    table = pa.table({"id": range(ROWS), "name": [f"{number:06}" for number in range(ROWS)]})
    pq.write_table(table, file, row_group_size=IN_A_GROUP)
    return file


@pytest.mark.parametrize("where", ["id < 100", "name < '000100'", "id BETWEEN 20 AND 30"])
def test_row_groups_are_left_out(path: Path, where: str) -> None:
    engine = DuckDBEngine(path, Unit())
    query = sample_query(engine, "FALSE", where=where)
    assert "Filters:" in engine.plan(query)
    assert sum(batch.num_rows for batch in engine.sample(query)) > 0
    engine.close()
