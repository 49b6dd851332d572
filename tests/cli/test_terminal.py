"""The bar that a terminal sees."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.interrupting import SECONDS, command

ROWS = 2_000_000
POLICY = "age < 18"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows enough for a sample to take its time."""
    path = tmp_path_factory.mktemp("big") / "rows.parquet"
    number = np.arange(ROWS)
    columns = {"id": number, "age": number % 90, **{f"c{i}": number * i % 9973 for i in range(6)}}
    pq.write_table(pa.table(columns), path)
    return path


def test_a_terminal_sees_a_bar_with_the_remaining_time(source: Path, tmp_path: Path) -> None:
    shown = on_a_terminal(
        command(["sample", str(source), "--unit", "rows", "--policy", POLICY], tmp_path)
    )
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert "Opening" in text
    shares = [int(found) for found in re.findall(r"Drawing the sample.*?(\d+)%", text)]
    assert any(0 < share < 100 for share in shares), text
    assert re.search(r"Drawing the sample.*?\d+% 0:\d\d:\d\d", text), text


def on_a_terminal(program: list[str]) -> str:
    """Everything that a terminal sees on the standard error of a command."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        program,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "COLUMNS": "100", "TERM": "xterm"},
    )
    os.close(theirs)
    pieces = []
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the last writer is gone
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(ours)
    assert process.wait(SECONDS) == 0
    return b"".join(pieces).decode()
