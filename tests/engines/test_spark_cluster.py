"""Spark on a cluster that is one: a master and two workers, all of them processes of their own."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.cluster import Cluster
from support.spark import MASTER
from support.visits import write_visits

TESTS = Path(__file__).parents[1]
SECONDS = 420
FAILED = "Spark failed after the charge, which stands"
JOBS = (
    *("sample of units", "bounded histogram", "sample of rows", "streamed sample"),
    *("histogram", "sums", "units"),
)
VICTIMS = ("executor", "worker")
SHORT = (("sample of units", "executor"),)


def assert_nothing_changes(kills: list[tuple[str, str]], folder: Path) -> None:
    """Each job gives the bytes of DuckDB although something is killed in the midst of it."""
    path = write_visits(folder, devices=800)
    script = TESTS / "support" / "spark_cluster.py"
    finished = subprocess.run(
        [sys.executable, str(script), str(path), str(folder), json.dumps(kills)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr[-2000:]
    told = json.loads(finished.stdout.splitlines()[-1])
    assert told["told"] == [[job, victim, True] for job, victim in kills]
    assert told["after_the_driver_was_killed"].startswith(FAILED)
    assert [each.name for each in folder.iterdir() if each.name.startswith(".")] == []


def test_what_is_killed_changes_nothing(spark_can_run: None, tmp_path: Path) -> None:
    assert_nothing_changes(list(SHORT), tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("job", JOBS)
def test_no_job_minds_what_is_killed(spark_can_run: None, tmp_path: Path, job: str) -> None:
    assert_nothing_changes(list(itertools.product([job], VICTIMS)), tmp_path)


@pytest.mark.soak
def test_the_contract_holds_on_a_cluster(spark_can_run: None, tmp_path: Path) -> None:
    with Cluster(tmp_path) as cluster:
        finished = subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-o", "addopts=--import-mode=importlib"),
                *("-p", "no:cacheprovider", "-k", "spark", "engines/test_engine_contract.py"),
            ],
            cwd=TESTS,
            env={**os.environ, MASTER: cluster.address},
            capture_output=True,
            text=True,
            check=False,
        )
    assert finished.returncode == 0, finished.stdout[-2000:]
    assert " passed" in finished.stdout
    assert " skipped" not in finished.stdout
