"""Spark on a cluster that is one: a master and two workers, all of them processes of their own."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from support.cluster import Cluster, end_with_parent
from support.spark import MASTER
from support.visits import write_visits

TESTS = Path(__file__).parents[1]
SECONDS = 3000
FAILED = "Spark failed after the charge, which stands"
JOBS = (
    *("sample of units", "bounded histogram", "sample of rows", "streamed sample"),
    *("histogram", "sums", "units"),
)
VICTIMS = ("executor", "worker")


@pytest.mark.soak
def test_what_is_killed_in_the_midst_of_a_job_changes_nothing(
    spark_can_run: None, tmp_path: Path
) -> None:
    path = write_visits(tmp_path, devices=800)
    kills = list(itertools.product(JOBS, VICTIMS))
    script = TESTS / "support" / "spark_cluster.py"
    finished = ended([str(script), str(path), str(tmp_path), json.dumps(kills)])
    assert finished.returncode == 0, finished.stderr[-8000:]
    told = json.loads(finished.stdout.splitlines()[-1])
    assert told["told"] == [[job, victim, True] for job, victim in kills]
    assert told["after_the_driver_was_killed"].startswith(FAILED)
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


@pytest.mark.soak
def test_the_contract_holds_on_a_cluster(spark_can_run: None, tmp_path: Path) -> None:
    with Cluster(tmp_path) as cluster:
        finished = ended(
            [
                *("-m", "pytest", "-o", "addopts=--import-mode=importlib", "-p"),
                *("no:cacheprovider", "-k", "spark", "engines/test_engine_contract.py"),
            ],
            {MASTER: cluster.address},
        )
    assert finished.returncode == 0, finished.stdout[-8000:]
    assert " passed" in finished.stdout
    assert " skipped" not in finished.stdout


def ended(
    arguments: list[str], more: Mapping[str, str] = MappingProxyType({})
) -> subprocess.CompletedProcess[str]:
    """A process of Python that ends with this one at the latest."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=TESTS,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        preexec_fn=end_with_parent,
    )
