"""How long a charge takes, and how many a second the ledgers sustain.

    PYTHONPATH=src:tests python benchmarks/ledger.py [--folder DIR] [--entries 10000]

Both stores write to DIR, so that both wait for the same disk; PostgreSQL is started there by the
helper of the tests. A plain write and fsync is measured beside them: no durable charge is faster.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from multiprocessing.synchronize import Barrier
from pathlib import Path

from onesided.ledger import Account, Snapshot, Spending, Terms, open_ledger
from onesided.loss import Loss

WRITERS = 8
CHARGES = 400
"""Charges for each figure of latency; a writer makes a quarter as many."""

SPENDING = Spending(loss=Loss(0, "1/10"), policy_id="base", policy_sql="NOT consent")


@dataclass(frozen=True)
class Latency:
    """Milliseconds."""

    median: float
    p99: float

    def __str__(self) -> str:
        return f"{self.median:6.2f} {self.p99:7.2f}"


def measured(step: Callable[[int], object], repetitions: int = CHARGES) -> Latency:
    """The latency of `step`."""
    spent = []
    for number in range(repetitions):
        begin = time.perf_counter()
        step(number)
        spent.append(1000 * (time.perf_counter() - begin))
    return Latency(statistics.median(spent), statistics.quantiles(spent, n=100)[98])


def plain_fsync(folder: Path) -> Latency:
    """Appending 4 KiB to a file and waiting for the disk."""
    with (folder / "plain").open("wb", buffering=0) as file:

        def append(_: int) -> None:
            file.write(bytes(4096))
            os.fdatasync(file.fileno())

        return measured(append)


def opened(where: str | Path) -> tuple[Account, Snapshot]:
    """An account that never runs out."""
    terms = Terms(
        dataset="benchmark",
        unit=("id",),
        policy_id=SPENDING.policy_id,
        policy_sql=SPENDING.policy_sql,
        budget=Fraction(10**9),
    )
    account = open_ledger(where).account(terms)
    return account, account.snapshot("data")


def charge(account: Account, snapshot: Snapshot, request: str) -> None:
    """One paid request."""
    account.charge(request, SPENDING, snapshot, description={"by": ["room"], "mechanism": "rr"})


def charges_a_second(where: str | Path) -> float:
    """What `WRITERS` processes achieve together."""
    context = multiprocessing.get_context("fork")
    start = context.Barrier(WRITERS + 1)
    each = CHARGES // 4
    writers = [
        context.Process(target=_write, args=(where, number, each, start))
        for number in range(WRITERS)
    ]
    for writer in writers:
        writer.start()
    start.wait()
    begin = time.perf_counter()
    for writer in writers:
        writer.join()
    return WRITERS * each / (time.perf_counter() - begin)


def _write(where: str | Path, number: int, charges: int, start: Barrier) -> None:
    account, snapshot = opened(where)
    start.wait()
    for index in range(charges):
        charge(account, snapshot, f"writer {number} {index}")


def report(name: str, where: str | Path, entries: int) -> None:
    """A line of the table."""
    account, snapshot = opened(where)
    young = measured(lambda number: charge(account, snapshot, f"young {number}"))
    together = charges_a_second(where)
    charged = len(account.balance().charges)
    for number in range(charged, entries):
        charge(account, snapshot, f"filling {number}")
    old = measured(lambda number: charge(account, snapshot, f"old {number}"))
    print(f"{name:<12} {young}    {old}    {together:8.0f}", flush=True)


def main() -> None:
    """Measure both stores on the same disk."""
    parser = argparse.ArgumentParser(description="Latency and throughput of the ledgers.")
    parser.add_argument("--folder", type=Path, default=None, help="a folder on the disk to measure")
    parser.add_argument("--entries", type=int, default=10_000, help="size of the grown ledger")
    options = parser.parse_args()
    from support.postgres import RunningServer

    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        grown = f"{options.entries:,} charges"
        print(f"{'':<12} {'new ledger':>14}    {grown:>14}    {WRITERS} writers")
        print(f"{'':<12} {'median     p99':>14}    {'median     p99':>14}    charges a second")
        print(f"{'plain fsync':<12} {plain_fsync(Path(folder))}", flush=True)
        report("SQLite", Path(folder) / "benchmark.ledger", options.entries)
        with RunningServer(options.folder) as server:
            report("PostgreSQL", server.new_database(), options.entries)


if __name__ == "__main__":
    main()
