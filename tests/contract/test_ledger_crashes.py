"""kill -9 at any point: no charge is lost, no release is unpaid, and a retry never pays twice."""

from __future__ import annotations

import pytest

from onesided.ledger import ChargeState
from onesided.loss import Loss
from onesided.randomness import seeded
from support.crashing import CHOSEN, STATEMENTS, STATEMENTS_IN_STEPS, Fuse, Told, killed_customer
from support.ledgers import Place, pay, reservation, terms

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


def _killed(place: Place, request: str, run: int, seed: int, *, in_steps: bool) -> Told:
    """Every other one at a moment, the others at a statement."""
    draw = seeded(1000 * seed + run)
    if run % 2:
        seconds = LONGEST_LIFE * int(draw.below(1000, 1)[0]) / 1000
        return killed_customer(place, request, seconds=seconds, in_steps=in_steps)
    statements = STATEMENTS_IN_STEPS if in_steps else STATEMENTS
    at, after = int(draw.below(statements, 1)[0]) + 1, bool(draw.below(2, 1)[0])
    return killed_customer(place, request, fuse=Fuse(at, after), in_steps=in_steps)


def _one_death(place: Place, request: str, run: int, seed: int) -> tuple[bool, bool, bool]:
    told = _killed(place, request, run, seed, in_steps=False)
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


def _kill_in_steps_and_check(place: Place, runs: int, seed: int) -> None:
    ledger, _, _ = place.opened(budget=runs)
    ledger.close()
    ends: set[str] = set()
    for run in range(runs):
        request = f"request {run}"
        told = _killed(place, request, run, seed, in_steps=True)
        ends.add(_after_death_in_steps(place, request, run, told))
    assert {"nothing", "reserved", "stored"} <= ends, "deaths came too early or too late"
    if runs == RUNS_IN_SOAK:
        assert ends == {"nothing", "reserved", "settled", "stored"}


def _after_death_in_steps(place: Place, request: str, run: int, told: Told) -> str:
    """Check what is there, continue, and say how far the dead had come."""
    ledger = place.open(create=False)
    verification = ledger.verify()
    assert verification.ok, verification.problem
    account = ledger.account(terms(None))
    before = account.balance()
    records = [each for each in before.charges if each.charge.request == request]
    assert before.spent == run + len(records), "a reservation counts in full from the start"
    if told.charged is not None:
        assert [each.charge.number for each in records] == [told.charged]

    snapshot = account.snapshot("data-1")
    (retry,) = account.charge([reservation(request)], snapshot)
    assert retry.reused == bool(records)
    if told.settled:
        assert not retry.reserved
    seen = account.keep_step(retry, "probe", b"seen by the retry")
    assert told.seen in (None, seen), "what was looked at once is not looked at again"
    settled = account.settle(retry, Loss("1/2", "1/2"), {"noise": "of the retry"})
    assert settled.spending.loss == (Loss("1/2", "1/2") if retry.reserved else CHOSEN)
    release = retry.release or account.store(settled, b"retried", {})
    assert told.shown in (None, release.payload[:64])
    assert account.balance().spent == run + 1
    verification = ledger.verify()
    assert verification.ok, verification.problem
    ledger.close()
    return records[0].state.value if records else "nothing"


def test_customers_killed_between_their_steps(shared_place: Place) -> None:
    _kill_in_steps_and_check(shared_place, RUNS, seed=3)


@pytest.mark.soak
def test_many_customers_killed_between_their_steps(shared_place: Place) -> None:
    _kill_in_steps_and_check(shared_place, RUNS_IN_SOAK, seed=4)
