"""kill -9 anywhere in a session: the account is right, and what was asked is paid exactly once."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from onesided.errors import BudgetError
from onesided.ledger import Balance, ChargeState, open_ledger
from onesided.loss import show
from onesided.randomness import seeded
from support.crashing import Fuse
from support.session_crashing import EPSILON, STEPS, Analysts, Question, opened
from support.visits import write_visits

RUNS, RUNS_IN_SOAK = 20, 200
LONGEST_LIFE = 0.25
"""Seconds; about as long as a whole session takes."""


def _price(runs: int) -> Fraction:
    """What all questions cost: samples share their coins, so that all of them cost as one."""
    kinds = [Question(number).kind for number in range(runs)]
    counts = sum(kind != "sample" for kind in kinds)
    return Fraction(EPSILON) * (counts + ("sample" in kinds))


def _balance(where: Analysts) -> Balance | None:
    """The account as the next process finds it; every look verifies the whole ledger."""
    if not where.ledger.exists():
        return None
    ledger = open_ledger(where.ledger, create=False)
    try:
        verification = ledger.verify()
        assert verification.ok, verification.problem
        charged = {
            entry["number"] for entry in ledger.export()["entries"] if entry["kind"] == "charge"
        }
        assert {receipt["charge"] for receipt in ledger.export()["receipts"]} <= charged
        accounts = ledger.accounts()
        return accounts[0].balance() if accounts else None
    finally:
        ledger.close()


def _entries(balance: Balance | None) -> list[str]:
    """The charges by hash, in order."""
    return [] if balance is None else [each.charge.entry_hash for each in balance.charges]


def _spent(balance: Balance | None) -> Fraction:
    return Fraction(0) if balance is None else balance.spent


def _one_death(where: Analysts, run: int, seed: int) -> tuple[bool, bool]:
    """Whether the analyst had shown something, and whether it died between charge and release."""
    question = Question(run)
    draw = seeded(1000 * seed + run)
    before = _balance(where)
    if run % 4 == 3:
        shown = where.killed(question, seconds=LONGEST_LIFE * int(draw.below(1000, 1)[0]) / 1000)
    else:
        at, after = int(draw.below(STEPS, 1)[0]) + 1, bool(draw.below(2, 1)[0])
        shown = where.killed(question, fuse=Fuse(at, after))
    after_death = _balance(where)
    assert _entries(after_death)[: len(_entries(before))] == _entries(before), "no charge is lost"
    new = [] if after_death is None else after_death.charges[len(_entries(before)) :]
    if shown is not None:
        assert new
        assert all(each.state is ChargeState.STORED for each in new)

    with opened(where.source, where.ledger, where.budget) as dataset:
        answer = question.ask(dataset)
        assert shown in (None, answer), "what was shown stays the answer"
        spent = dataset.budget.spent
        assert question.ask(dataset) == answer
        assert dataset.budget.spent == spent
    settled = _balance(where)
    assert settled is not None
    assert settled.spent == _price(run + 1), "each question is paid exactly once"
    requests = [record.charge.request for record in settled.charges]
    assert len(set(requests)) == len(requests), "no request is charged twice"
    assert _spent(before) <= _spent(after_death) <= settled.spent
    stranded = any(each.state is ChargeState.OPEN for each in new)
    return shown is not None, stranded


def _kill_and_check(folder: Path, runs: int, seed: int) -> None:
    where = Analysts(write_visits(folder, devices=30), folder / "visits.ledger", show(_price(runs)))
    ends = [_one_death(where, run, seed) for run in range(runs)]
    survivors, stranded = (sum(column) for column in zip(*ends, strict=True))
    assert 0 < survivors < runs
    assert stranded > 0
    with opened(where.source, where.ledger, where.budget) as dataset:
        assert dataset.budget.left == 0
        with pytest.raises(BudgetError):
            dataset.count("room", epsilon=EPSILON, max_groups=1, mechanism="one-sided")
        answers = [Question(run).ask(dataset) for run in range(runs)]
        assert answers == [Question(run).ask(dataset) for run in range(runs)]
        assert dataset.budget.left == 0, "all answers stay free"


def test_killed_sessions(tmp_path: Path) -> None:
    _kill_and_check(tmp_path, RUNS, seed=1)


@pytest.mark.soak
def test_many_killed_sessions(tmp_path: Path) -> None:
    _kill_and_check(tmp_path, RUNS_IN_SOAK, seed=2)
