"""What goes wrong with files after the charge: one sentence, nothing left behind, retry free."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.errors import ReleaseFailed
from support.trouble import full_disk, without_right
from support.visits import POLICY, UNIT, visits, write_visits

SMALL = 16 * 1024


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_visits(tmp_path, devices=400)


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    with osd.open(path, unit=UNIT, policy=POLICY, budget=1, version="1") as data:
        yield data


@contextmanager
def failing(data: Any, word: str) -> Iterator[None]:
    """What happens within fails after the charge, which is paid once."""
    with pytest.raises(ReleaseFailed, match=word) as failure:
        yield
    assert "stands" in str(failure.value)
    assert data.budget.spent == 1
    assert len(data.sample(1).table) > 0
    assert data.budget.spent == 1


def test_a_full_disk_while_drawing(path: Path, tmp_path: Path, monkeypatch: Any) -> None:
    private = tmp_path / "private"
    private.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(private))
    with opened(path) as data, failing(data, "disk"), full_disk(os.getpid(), SMALL):
        data.sample(1)
    assert list(private.iterdir()) == []


def test_a_full_disk_while_writing(path: Path, tmp_path: Path) -> None:
    with opened(path) as data:
        release = data.sample(1)
        for name in ("sample.parquet", "sample.csv", "sample.arrow"):
            with failing(data, "check the disk"), full_disk(os.getpid(), SMALL):
                release.write(tmp_path / name, receipt=True)
        assert list(tmp_path.iterdir()) == [path]
        assert release.write(tmp_path / "sample.csv") == (tmp_path / "sample.csv",)


def test_a_right_that_is_withdrawn(path: Path) -> None:
    with opened(path) as data, failing(data, "check disk"), without_right(path):
        data.sample(1)


def test_a_column_that_changes_its_type(path: Path) -> None:
    table = visits(devices=400)
    flags = table.column("consent").cast(pa.string())
    changed = table.set_column(table.schema.get_field_index("consent"), "consent", flags)
    content = path.read_bytes()
    with opened(path) as data:
        pq.write_table(changed, path)
        with pytest.raises(ReleaseFailed, match="columns of the table changed"):
            data.sample(1)
        path.write_bytes(content)
        assert len(data.sample(1).table) > 0
        assert data.budget.spent == 1
