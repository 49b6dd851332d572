"""Plans a minute at a server of two processes, while it counts five million rows without a pause.

    PYTHONPATH=src:tests python benchmarks/plans_beside_a_count.py [--rows 5000000] [--seconds 60]

The server is a process of its own on the loopback. Eight analysts plan, each waiting for an answer
before it sends the next plan. A ninth one asks one large count after the other.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from onesided.ledger.desk import PersonRole, Rights, open_desk
from support.server_processes import server_processes

PLANNERS, GOAL = 8, 1000.0
DATA = "/api/v1/datasets/large"
DESCRIBED = """
[server]
workers = 2
stop_seconds = 1
deadlines = "off"

[server.limits]
requests_per_minute = 1000000

[datasets.large]
source = "large.parquet"
unit = "rows"
policy = "s"
budget = 1000
ledger = "large.ledger"
"""


def made(folder: Path, rows: int) -> Path:
    """A table of so many rows in a thousand groups, and how it is served."""
    places = np.arange(rows)
    content = {"place": places % 1000, "x": places % 9973, "s": places % 3 == 0}
    pq.write_table(pa.table(content), folder / "large.parquet")
    file = folder / "onesided.toml"
    file.write_text(DESCRIBED)
    return file


def counts(client: httpx.Client, ended: threading.Event) -> int:
    """Large counts, one after the other; how many were answered."""
    number = 0
    while not ended.is_set():
        asked = {"by": "place", "where": f"x > {number}", "epsilon": "0.1", "mechanism": "residual"}
        job = client.post(f"{DATA}/count", json=asked).raise_for_status().json()["job"]
        while client.get(job["url"]).raise_for_status().json()["state"] == "accepted":
            if ended.wait(0.2):
                return number
        number += 1
    return number


def plans(client: httpx.Client, end: float) -> list[float]:
    """Plans until the end: what each took."""
    found = []
    while time.monotonic() < end:
        asked = {"kind": "count", "by": "place", "epsilon": "0.1", "where": f"x > {len(found)}"}
        begun = time.monotonic()
        client.post(f"{DATA}/plan", json=asked).raise_for_status()
        found.append(time.monotonic() - begun)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    asked = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as name,
        server_processes(made(Path(name), asked.rows)) as (server,),
    ):
        desk = open_desk(Path(name) / "large.ledger")
        desk.set_rights("large", "ann", Rights())
        headers = {"Authorization": f"Bearer {desk.add_token('ann', PersonRole.ANALYST)}"}
        clients = [
            httpx.Client(base_url=server.address, headers=headers, timeout=120)
            for _ in range(PLANNERS + 1)
        ]
        ended = threading.Event()
        with ThreadPoolExecutor(PLANNERS + 1) as pool:
            counted = pool.submit(counts, clients[0], ended)
            end = time.monotonic() + asked.seconds
            work = [pool.submit(plans, each, end) for each in clients[1:]]
            times = np.array([took for each in work for took in each.result()])
            ended.set()
            large = counted.result()
        desk.close()
    a_minute = len(times) * 60 / asked.seconds
    print(f"large counts answered      {large:8}")
    print(f"plans a minute             {a_minute:8.0f}   goal: at least {GOAL:.0f}")
    print(f"seconds of a plan, median  {np.median(times):8.3f}")
    print(f"seconds of a plan, p95     {np.quantile(times, 0.95):8.3f}")
    return 0 if a_minute >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
