"""kill -9 anywhere in a session: the account is right, and what was asked is paid exactly once."""

from __future__ import annotations

from dataclasses import dataclass
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


def _balance(where: Analysts) -> Balance:
    """The account as the next process finds it; every look verifies the whole ledger."""
    ledger = open_ledger(where.ledger, create=False)
    try:
        verification = ledger.verify()
        assert verification.ok, verification.problem
        told = ledger.export()
        charged = {entry["number"] for entry in told["entries"] if entry["kind"] == "charge"}
        assert {receipt["charge"] for receipt in told["receipts"]} <= charged
        (account,) = ledger.accounts()
        return account.balance()
    finally:
        ledger.close()


def _entries(balance: Balance) -> list[str]:
    """The charges by hash, in order."""
    return [each.charge.entry_hash for each in balance.charges]


@dataclass(frozen=True)
class _End:
    """How a run ended: the answer that stands, and what the analyst had done by then."""

    answer: str
    shown: bool
    stranded: bool
    balance: Balance


def _one_death(where: Analysts, run: int, seed: int, before: Balance) -> _End:
    question = Question(run)
    draw = seeded(1000 * seed + run)
    if run % 4 == 3:
        shown = where.killed(question, seconds=LONGEST_LIFE * int(draw.below(1000, 1)[0]) / 1000)
    else:
        at, after = int(draw.below(STEPS, 1)[0]) + 1, bool(draw.below(2, 1)[0])
        shown = where.killed(question, fuse=Fuse(at, after))
    dead = _balance(where)
    assert _entries(dead)[: len(before.charges)] == _entries(before), "no charge is lost"
    new = dead.charges[len(before.charges) :]
    if shown is not None:
        assert new
        assert all(each.state is ChargeState.STORED for each in new)

    with opened(where.source, where.ledger, where.budget) as dataset:
        answer = question.ask(dataset)
    assert shown in (None, answer), "what was shown stays the answer"
    settled = _balance(where)
    assert settled.spent == _price(run + 1), "each question is paid exactly once"
    requests = [record.charge.request for record in settled.charges]
    assert len(set(requests)) == len(requests), "no request is charged twice"
    stranded = any(each.state is ChargeState.OPEN for each in new)
    return _End(answer, shown is not None, stranded, settled)


def _kill_and_check(folder: Path, runs: int, seed: int) -> None:
    where = Analysts(write_visits(folder, devices=30), folder / "visits.ledger", show(_price(runs)))
    with opened(where.source, where.ledger, where.budget) as dataset:
        ends = [_End("", False, False, dataset.budget)]
    for run in range(runs):
        ends.append(_one_death(where, run, seed, ends[-1].balance))
    assert 0 < sum(end.shown for end in ends) < runs
    assert sum(end.stranded for end in ends) > 0, "some died between charge and release"
    with opened(where.source, where.ledger, where.budget) as dataset:
        assert dataset.budget.left == 0
        with pytest.raises(BudgetError):
            dataset.count("room", epsilon=EPSILON, max_groups=1, mechanism="one-sided", yes=True)
        answers = [Question(run).ask(dataset) for run in range(runs)]
        assert answers == [end.answer for end in ends[1:]], "all answers stay, and stay free"
        assert dataset.budget.left == 0


def test_killed_sessions(tmp_path: Path) -> None:
    _kill_and_check(tmp_path, RUNS, seed=1)


@pytest.mark.soak
def test_many_killed_sessions(tmp_path: Path) -> None:
    _kill_and_check(tmp_path, RUNS_IN_SOAK, seed=2)
