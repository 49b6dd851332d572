"""Nobody can overspend: processes and threads race for a budget that does not suffice for all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onesided.errors import LedgerError
from onesided.ledger import ChargeState
from support.ledgers import Place, in_file, in_memory, pay
from support.racing import race, reserve_and_settle

RACERS = 64
BUDGET = 100
RACES, RACES_IN_SOAK = 2, 20
RESERVED_BUDGET = 20

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def _race_and_check(place: Place, number: int) -> None:
    ledger, account, snapshot = place.opened(budget=BUDGET)
    threads = 1 if number % 2 == 0 else 4
    processes = RACERS // threads
    granted = race(account, snapshot, processes=processes, threads=threads, attempts=3)
    assert sum(granted) == BUDGET
    balance = account.balance()
    assert (balance.spent, balance.left, balance.plain_sum) == (BUDGET, 0, BUDGET)
    assert len(balance.charges) == BUDGET
    assert ledger.verify().ok
    ledger.close()


@pytest.mark.parametrize("number", range(RACES), ids=["processes", "processes and threads"])
def test_exactly_the_budget_is_granted(shared_place: Place, number: int) -> None:
    _race_and_check(shared_place, number)


@pytest.mark.soak
@pytest.mark.parametrize("number", range(RACES_IN_SOAK))
def test_exactly_the_budget_is_granted_again_and_again(shared_place: Place, number: int) -> None:
    _race_and_check(shared_place, number)


@pytest.mark.parametrize("threads", [1, 4], ids=["processes", "processes and threads"])
def test_racing_reservations_never_overspend_and_none_is_left_half(
    shared_place: Place, threads: int
) -> None:
    ledger, account, snapshot = shared_place.opened(budget=RESERVED_BUDGET)
    granted = race(
        account,
        snapshot,
        processes=RACERS // 4 // threads,
        threads=threads,
        attempts=3,
        spend=reserve_and_settle,
    )
    assert sum(granted) == RESERVED_BUDGET
    balance = account.balance()
    assert (balance.spent, balance.left) == (RESERVED_BUDGET, 0)
    states = [record.state for record in balance.charges]
    assert states.count(ChargeState.SETTLED) == RESERVED_BUDGET
    assert states.count(ChargeState.RESERVED) == RESERVED_BUDGET
    assert len(states) == 2 * RESERVED_BUDGET, "of two orders in one none is charged alone"
    assert max(moment.spent for moment in balance.history) == RESERVED_BUDGET
    verification = ledger.verify()
    assert verification.ok, verification.problem
    ledger.close()


def test_a_ledger_in_memory_cannot_be_spent_twice_by_forking() -> None:
    _, account, snapshot = in_memory().opened(budget=1)
    child = os.fork()
    if child == 0:
        try:
            pay(account, snapshot)
        except LedgerError as error:
            os._exit(0 if "belongs to the process" in str(error) else 1)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    pay(account, snapshot)


def test_racing_creators_agree_on_one_ledger(tmp_path: Path) -> None:
    children = []
    for _ in range(8):
        child = os.fork()
        if child == 0:
            try:
                _, account, snapshot = in_file(tmp_path / "new.ledger").opened(budget=8)
                pay(account, snapshot, str(os.getpid()))
            except BaseException:
                os._exit(1)
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
    ledger, account, _ = in_file(tmp_path / "new.ledger").opened(budget=8)
    assert account.balance().left == 0
    assert ledger.verify().ok
    ledger.close()
    assert [path.name for path in tmp_path.iterdir()] == ["new.ledger"]
