"""Servers that share a file, a storage and a ledger behave as one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from onesided.ledger.desk import PersonRole
from onesided.server.limiting import RequestRate
from onesided.server.problems import Problem
from support.serving import describe, serving

FILE = "visits.parquet"


def test_what_one_adds_the_other_serves(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    file = describe(tmp_path, seconds=None, server='sources = ["more"]')
    shutil.copy(tmp_path / FILE, tmp_path / "more")
    added = {"name": "more", "source": FILE, "unit": "rows", "policy": "NOT consent", "budget": 1}
    asked = {"mechanism": "laplace", "epsilon": "0.1"}
    with serving(file) as first, serving(file) as second:
        sue = first.token("sue", PersonRole.STEWARD)
        with first.client(sue) as here, second.client(sue) as there:
            assert there.get("/api/v1/datasets/more").status_code == 404
            assert here.post("/api/v1/datasets", json=added).status_code == 201
            listed = there.get("/api/v1/datasets").raise_for_status().json()["datasets"]
            assert [each["name"] for each in listed] == ["visits", "more"]
            job = there.post("/api/v1/datasets/more/count", json=asked).raise_for_status().json()
            assert first.answered(here, job["job"])["state"] == "done"
            assert there.post("/api/v1/datasets", json=added).status_code == 409


def test_requests_are_counted_together(tmp_path: Path) -> None:
    rates = [RequestRate(3, tmp_path / "storage") for _ in range(2)]
    for place in range(3):
        rates[place % 2].take("ann")
    for rate in rates:
        with pytest.raises(Problem, match="too many"):
            rate.take("ann")
        rate.take("bob")


def test_requests_are_counted_without_a_folder_to_share(tmp_path: Path) -> None:
    (tmp_path / "storage").touch()
    rate = RequestRate(1, tmp_path / "storage")
    rate.take("ann")
    with pytest.raises(Problem):
        rate.take("ann")
