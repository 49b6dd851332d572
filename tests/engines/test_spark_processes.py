"""Ctrl-C in a real process that works on Spark."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onesided.cli import INTERRUPTED
from support.interrupting import LEDGER, balance, interrupted
from support.visits import POLICY, UNIT, write_visits


@pytest.mark.soak  # starts Java anew
def test_ctrl_c_ends_the_sample_and_says_what_was_charged(
    spark_can_run: None, tmp_path: Path
) -> None:
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
