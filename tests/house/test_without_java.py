"""Where there is no Java, the tests of Spark say so; where all tests are needed, they fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.spark import ALL_NEEDED

TESTS = Path(__file__).parents[1]
ONE = "engines/test_spark_engine.py::test_what_is_refused"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("needed", [True, False], ids=["failed", "skipped"])
def test_a_test_of_spark_without_java(needed: bool, tmp_path: Path) -> None:
    known = {
        name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", ALL_NEEDED)
    }
    more = {ALL_NEEDED: "1"} if needed else {}
    options = ["-o", "addopts=--import-mode=importlib", "-p", "no:cacheprovider", "-rsE"]
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", *options, ONE],
        cwd=TESTS,
        env={**known, **more, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Spark needs Java 17" in finished.stdout
    assert finished.returncode == (1 if needed else 0), finished.stdout
    assert ("1 error" if needed else "1 skipped") in finished.stdout
