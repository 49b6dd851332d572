"""kill -9 at any point: no charge is lost, no release is unpaid, and a retry never pays twice."""

from __future__ import annotations

import pytest

from onesided.ledger import ChargeState
from onesided.randomness import seeded
from support.crashing import STATEMENTS, Fuse, killed_customer
from support.ledgers import Place, pay, terms

RUNS, RUNS_IN_SOAK = 20, 200
LONGEST_LIFE = 0.03
"""Seconds; about as long as a whole request takes."""

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def _kill_and_check(place: Place, runs: int, seed: int) -> None:
    ledger, _, _ = place.opened(budget=runs)
    ledger.close()
    survivors = deaths_before_charge = deaths_before_store = 0
    for run in range(runs):
        told = _one_death(place, f"request {run}", run, seed)
        survivors += told[0]
        deaths_before_charge += told[1]
        deaths_before_store += told[2]
    assert deaths_before_charge > 0
    assert deaths_before_store > 0
    assert survivors < runs


def _one_death(place: Place, request: str, run: int, seed: int) -> tuple[bool, bool, bool]:
    draw = seeded(1000 * seed + run)
    if run % 2:
        seconds = LONGEST_LIFE * int(draw.below(1000, 1)[0]) / 1000
        told = killed_customer(place, request, seconds=seconds)
    else:
        at, after = int(draw.below(STATEMENTS, 1)[0]) + 1, bool(draw.below(2, 1)[0])
        told = killed_customer(place, request, fuse=Fuse(at, after))

    ledger = place.open(create=False)
    verification = ledger.verify()
    assert verification.ok, verification.problem
    account = ledger.account(terms(None))
    before = account.balance()
    records = [each for each in before.charges if each.charge.request == request]
    assert before.spent == run + len(records), "every earlier request was charged exactly once"
    if told.charged is not None:
        assert [each.charge.number for each in records] == [told.charged]
    if told.shown is not None:
        assert records[0].state is ChargeState.STORED

    snapshot = account.snapshot("data-1")
    retry = pay(account, snapshot, request)
    assert retry.reused == bool(records), "the retry is free exactly when the charge stands"
    release = retry.release or account.store(retry, b"retried", {})
    assert told.shown in (None, release.payload[:64]), "what was shown stays the answer"
    assert account.balance().spent == run + 1
    ledger.close()
    stored = bool(records) and records[0].state is ChargeState.STORED
    return told.survived, not records, bool(records) and not stored


def test_killed_customers(shared_place: Place) -> None:
    _kill_and_check(shared_place, RUNS, seed=1)


@pytest.mark.soak
def test_many_killed_customers(shared_place: Place) -> None:
    _kill_and_check(shared_place, RUNS_IN_SOAK, seed=2)
