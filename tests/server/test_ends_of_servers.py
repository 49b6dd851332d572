"""Servers that are ended or killed: nothing is lost that was charged, and none charged twice."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from onesided.ledger import ChargeState, open_ledger
from onesided.ledger.desk import PersonRole, Rights, open_desk
from support.serving import describe

COUNT = {"by": "room", "max_groups": 4, "mechanism": "laplace"}
URL = "/api/v1/datasets/visits/count"


@contextmanager
def process(file: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server in a process of its own, and its address."""
    started = subprocess.Popen(
        [sys.executable, "-c", "from onesided.cli import main; main()", "serve", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert started.stdout is not None
        address = started.stdout.readline().split()[-1]
        while True:
            try:
                httpx.get(f"{address}/readyz").raise_for_status()
                break
            except httpx.HTTPError:
                assert started.poll() is None
                time.sleep(0.05)
        yield started, address
    finally:
        if started.poll() is None:
            started.kill()
        started.communicate()


def asker(file: Path) -> str:
    desk = open_desk(str(file.parent / "visits.ledger"))
    desk.set_rights("visits", "ann", Rights())
    token = desk.add_token("ann", PersonRole.ANALYST)
    desk.close()
    return token


def test_sigterm_finishes_what_runs_and_says_what_is_left(tmp_path: Path) -> None:
    file = describe(tmp_path, seconds=4)
    token = asker(file)
    with process(file) as (server, address):
        with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}) as ann:
            for epsilon in ("0.1", "0.2"):
                found = ann.post(URL, json={**COUNT, "epsilon": epsilon})
                assert found.status_code == 202
        time.sleep(1)
        server.send_signal(signal.SIGTERM)
        _, told = server.communicate(timeout=30)
        assert server.returncode == 128 + signal.SIGTERM
        assert "1 question was charged and not yet answered" in told
    assert states(file) == [ChargeState.STORED, ChargeState.OPEN]


@pytest.mark.soak
def test_after_a_kill_charged_questions_are_answered_or_fail(tmp_path: Path) -> None:
    file = describe(tmp_path, seconds=20)
    token = asker(file)
    headers = {"Authorization": f"Bearer {token}"}
    jobs = []
    with process(file) as (server, address):
        with httpx.Client(base_url=address, headers=headers) as ann:
            for epsilon in ("0.1", "0.2"):
                found = ann.post(URL, json={**COUNT, "epsilon": epsilon})
                jobs.append(found.json()["job"])
        server.kill()
        server.wait()
    deadlines = [time.time() + each["retry_after"] for each in jobs]
    with (
        process(file) as (_, address),
        httpx.Client(base_url=address, headers=headers) as ann,
    ):
        # The first is asked for again while its run is on its way: free, and the same job.
        again = ann.post(URL, json={**COUNT, "epsilon": "0.2"}).json()["job"]
        assert again["id"] == jobs[1]["id"]
        time.sleep(max(deadlines[0] - time.time(), 0) + 0.2)
        assert ann.get(jobs[0]["url"]).json()["state"] == "done"
        assert ann.get(jobs[1]["url"]).json()["state"] == "accepted"
        account = ann.get("/api/v1/datasets/visits/account").json()
        assert account["spent"] == "0.3"
    assert len(states(file)) == 2


def states(file: Path) -> list[ChargeState]:
    ledger = open_ledger(file.parent / "visits.ledger")
    try:
        assert ledger.verify().ok
        (account,) = ledger.accounts()
        return [each.state for each in account.balance().charges]
    finally:
        ledger.close()
