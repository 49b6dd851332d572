"""Many processes and threads that want the same budget at the same moment."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from multiprocessing.synchronize import Barrier
from typing import Any, TypeAlias

from onesided.errors import BudgetError
from onesided.ledger import Account, Snapshot
from onesided.loss import Loss
from support.ledgers import pay, reservation

PATIENCE = 120
"""Seconds after which a race counts as stuck."""


Attempt: TypeAlias = Callable[[Account, Snapshot, str], Any]
"""How a racer spends 1; BudgetError where it may not."""


def race(
    account: Account,
    snapshot: Snapshot,
    *,
    processes: int,
    threads: int,
    attempts: int,
    spend: Attempt = pay,
) -> list[int]:
    """How many charges each process was granted; all use the account their parent had open."""
    context = multiprocessing.get_context("fork")
    start = context.Barrier(processes)
    results = context.SimpleQueue()
    racers = [
        context.Process(
            target=_run, args=(account, snapshot, number, threads, attempts, start, results, spend)
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
    spend: Attempt,
) -> None:
    account.balance()  # warm: the connection is open before the start
    start.wait(PATIENCE)

    def attempt(thread: int) -> int:
        names = (f"{process} {thread} {n}" for n in range(attempts))
        return sum(_granted(account, snapshot, name, spend) for name in names)

    try:
        with ThreadPoolExecutor(threads) as pool:
            results.put(sum(pool.map(attempt, range(threads))))
    except BaseException:
        results.put(-1_000_000)  # a racer that broke spoils the sum
        raise


def _granted(account: Account, snapshot: Snapshot, request: str, spend: Attempt) -> bool:
    try:
        spend(account, snapshot, request)
    except BudgetError:
        return False
    return True


def reserve_and_settle(account: Account, snapshot: Snapshot, request: str) -> None:
    """Two reservations at once; one is settled for less than it held, the other is left open."""
    half = Fraction(1, 2)
    orders = [reservation(f"{request} {name}", half) for name in ("settled", "left open")]
    first, _ = account.charge(orders, snapshot)
    account.keep_step(first, "probe", b"seen")
    account.settle(first, Loss("1/8", "3/8"), {})
