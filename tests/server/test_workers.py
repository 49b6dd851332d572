"""Several processes behind one address."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import httpx
import psutil
import pytest

from onesided.ledger.desk import PersonRole, Rights, open_desk
from support.server_processes import PATIENCE, ServerProcess
from support.serving import describe

COUNT = {"by": "room", "max_groups": 4, "mechanism": "laplace", "epsilon": "0.1"}


@pytest.mark.soak
def test_workers_serve_as_one_and_are_replaced(tmp_path: Path) -> None:
    file = describe(tmp_path, seconds=None, server="workers = 2")
    desk = open_desk(str(tmp_path / "visits.ledger"))
    desk.set_rights("visits", "ann", Rights())
    headers = {"Authorization": f"Bearer {desk.add_token('ann', PersonRole.ANALYST)}"}
    desk.close()
    server = ServerProcess(file, "several")
    server.start()
    assert server.process is not None
    parent = psutil.Process(server.process.pid)
    try:
        first = {each.pid for each in parent.children()}
        assert len(first) == 2
        with httpx.Client(base_url=server.address, headers=headers, timeout=PATIENCE) as ann:
            job = ann.post("/api/v1/datasets/visits/count", json=COUNT).json()["job"]
        os.kill(min(first), signal.SIGKILL)
        end = time.monotonic() + PATIENCE
        while len({each.pid for each in parent.children()} - first) < 1:
            assert time.monotonic() < end
            time.sleep(0.05)
        state = "accepted"
        while state == "accepted":
            assert time.monotonic() < end
            # A connection of its own each time: any of the processes may answer.
            try:
                state = httpx.get(server.address + job["url"], headers=headers).json()["state"]
            except httpx.TransportError:
                time.sleep(0.05)
        assert state == "done"
    finally:
        server.process.terminate()
        server.process.communicate(timeout=PATIENCE)
    assert not [each for each in first if psutil.pid_exists(each)]
    assert len(list((tmp_path / "served").glob("*/*/data"))) == 1


@pytest.mark.soak
def test_workers_end_with_the_process_that_began_them(tmp_path: Path) -> None:
    server = ServerProcess(describe(tmp_path, seconds=None, server="workers = 2"), "killed")
    server.start()
    assert server.process is not None
    workers = psutil.Process(server.process.pid).children()
    server.kill()
    gone, left = psutil.wait_procs(workers, timeout=PATIENCE)
    assert (len(gone), left) == (2, [])
