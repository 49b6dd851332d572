"""Spark in processes of their own: a right that is withdrawn, and Ctrl-C."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from onesided.cli import INTERRUPTED
from support.interrupting import LEDGER, balance, interrupted
from support.visits import POLICY, UNIT, write_visits

SECONDS = 300
pytestmark = pytest.mark.soak  # Java starts anew for each


def test_a_file_that_may_not_be_read_any_more() -> None:
    script = Path(__file__).parents[1] / "support" / "spark_unreadable.py"
    finished = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr[-2000:]
    told = json.loads(finished.stdout.splitlines()[-1])
    assert told["said"].startswith("Spark failed after the charge, which stands")
    assert "visits" not in told["said"]
    assert told["left"] == []
    assert told["spent"] == ["1", "1"]


def test_ctrl_c_ends_the_sample_and_says_what_was_charged(tmp_path: Path) -> None:
    path = write_visits(tmp_path, devices=2000)
    private, out = tmp_path / "private", tmp_path / "out"
    private.mkdir()
    out.mkdir()
    ask = ["sample", str(path), "--connection", "local[1]", "--unit", ",".join(UNIT)]
    environment = {**os.environ, "TMPDIR": str(private), "SPARK_LOCAL_IP": "127.0.0.1"}
    code, said = interrupted([*ask, "--policy", POLICY], out, environment)
    assert code == INTERRUPTED, said
    assert said.strip().startswith("onesided: Interrupted")
    assert "free" in said
    assert [each.name for each in out.iterdir() if LEDGER not in each.name] == []
    assert list(private.iterdir()) == []
    after = balance(out)
    assert after is not None
    assert after.spent == 1
