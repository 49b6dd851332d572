"""What goes wrong on Spark after the charge."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.errors import OutputError, ReleaseFailed
from support.trouble import full_disk
from support.visits import POLICY, UNIT, write_visits

FAILED = "Spark failed after the charge, which stands"
AFTER_THE_CHARGE = 4
#: Write-only for everybody: the system lets not even root open it to read.
UNREADABLE = "/proc/sys/vm/compact_memory"


def test_a_file_that_vanishes_after_the_charge(spark: Any, tmp_path: Path) -> None:
    path = write_visits(tmp_path, devices=20)
    content = path.read_bytes()
    with osd.open(path, connection=spark, unit=UNIT, policy=POLICY, budget=1, version="1") as data:
        path.write_bytes(b"")
        with pytest.raises(ReleaseFailed, match="charge, which stands") as failure:
            data.sample(1, into=str(tmp_path / "sample"))
        assert "parquet" not in str(failure.value)
        assert not [each for each in tmp_path.iterdir() if "sample" in each.name or each.is_dir()]
        assert data.budget.spent == 1
        path.write_bytes(content)
        data.sample(1, into=str(tmp_path / "sample"))
        assert data.budget.spent == 1


@pytest.fixture
def charged(spark: Any, tmp_path: Path) -> Iterator[Any]:
    """A data set on Spark; if something fails, the charge stands once and a retry is free."""
    path = write_visits(tmp_path, devices=400)
    with osd.open(path, connection=spark, unit=UNIT, policy=POLICY, budget=1, version="1") as data:
        yield data
        assert data.budget.spent == 1
        data.sample(1, into=str(tmp_path / "again"))
        assert data.budget.spent == 1
    assert {each.name for each in tmp_path.iterdir()} == {path.name, "again"}


def test_a_full_disk(charged: Any, spark: Any, tmp_path: Path) -> None:
    machine = spark.sparkContext._gateway.proc.pid
    with full_disk(machine, 8 * 1024), pytest.raises(ReleaseFailed, match=FAILED):
        charged.sample(1, into=str(tmp_path / "sample"))


def test_a_column_that_changes_its_type(charged: Any, tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    content, table = path.read_bytes(), pq.read_table(path)
    place = table.schema.get_field_index("device")
    texts = pa.array([f"secret {each}" for each in table.column("device").to_pylist()])
    pq.write_table(table.set_column(place, "device", texts), path)
    with pytest.raises(ReleaseFailed, match=FAILED) as failure:
        charged.sample(1, into=str(tmp_path / "sample"))
    assert "secret" not in str(failure.value)
    path.write_bytes(content)


def test_a_missing_right_to_read(charged: Any, tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    content = path.read_bytes()
    path.unlink()
    path.symlink_to(UNREADABLE)
    with pytest.raises(ReleaseFailed, match=FAILED) as failure:
        charged.sample(1, into=str(tmp_path / "sample"))
    assert "denied" not in str(failure.value)
    assert failure.value.exit_code == AFTER_THE_CHARGE
    path.unlink()
    path.write_bytes(content)


def test_a_place_that_the_system_refuses(charged: Any) -> None:
    if os.geteuid() == 0:  # who is stopped by no mode, and so only finds out on the way
        with pytest.raises(ReleaseFailed, match=FAILED):
            charged.sample(1, into="/proc/sample")
    else:
        with pytest.raises(OutputError, match="writable"):
            charged.sample(1, into="/proc/sample")
        charged.sample(1)
