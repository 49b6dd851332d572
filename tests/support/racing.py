"""Many processes and threads that want the same budget at the same moment."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.synchronize import Barrier
from typing import Any

from onesided.errors import BudgetError
from onesided.ledger import Account, Snapshot
from support.ledgers import pay

PATIENCE = 120
"""Seconds after which a race counts as stuck."""


def race(
    account: Account, snapshot: Snapshot, *, processes: int, threads: int, attempts: int
) -> list[int]:
    """How many charges each process was granted; all use the account their parent had open."""
    context = multiprocessing.get_context("fork")
    start = context.Barrier(processes)
    results = context.SimpleQueue()
    racers = [
        context.Process(
            target=_run, args=(account, snapshot, number, threads, attempts, start, results)
        )
        for number in range(processes)
    ]
    for racer in racers:
        racer.start()
    granted = [results.get() for _ in racers]
    for racer in racers:
        racer.join(PATIENCE)
    assert all(racer.exitcode == 0 for racer in racers)
    return granted


def _run(
    account: Account,
    snapshot: Snapshot,
    process: int,
    threads: int,
    attempts: int,
    start: Barrier,
    results: Any,
) -> None:
    account.balance()  # warm: the connection is open before the start
    start.wait(PATIENCE)

    def attempt(thread: int) -> int:
        return sum(_granted(account, snapshot, f"{process} {thread} {n}") for n in range(attempts))

    try:
        with ThreadPoolExecutor(threads) as pool:
            results.put(sum(pool.map(attempt, range(threads))))
    except BaseException:
        results.put(-1_000_000)  # a racer that broke spoils the sum
        raise


def _granted(account: Account, snapshot: Snapshot, request: str) -> bool:
    try:
        pay(account, snapshot, request)
    except BudgetError:
        return False
    return True
