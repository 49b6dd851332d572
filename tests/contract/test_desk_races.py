"""Racing for a share, for a job or for a login changes nothing: each goes to whom it may."""

from __future__ import annotations

from fractions import Fraction

import pytest

from onesided.errors import BudgetError
from onesided.ledger import Account, Snapshot
from onesided.ledger.desk import Allowance, JobState, PersonRole, Slot, TokenPurpose
from support.desks import LEASE, Office, posed
from support.ledgers import Place, order
from support.racing import race

BUDGET, SHARE = 20, 6
PEOPLE = ("ann", "bob", "eve", "joe")
PROCESSES, THREADS, ATTEMPTS = 4, 4, 4
RACES_IN_SOAK = 10

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def _race_for_shares(place: Place) -> None:
    office = Office.at(place, budget=BUDGET)

    def ask(account: Account, snapshot: Snapshot, request: str) -> None:
        who = PEOPLE[sum(map(int, request.split())) % len(PEOPLE)]
        allowance = Allowance(who=who, most_in_all=Fraction(SHARE))
        wanted = [order(request, who=who)]
        office.desk.accept(wanted, snapshot, posed(who), Slot(length=LEASE), allowance)

    granted = race(
        office.account,
        office.snapshot,
        processes=PROCESSES,
        threads=THREADS,
        attempts=ATTEMPTS,
        spend=ask,
    )
    assert sum(granted) == BUDGET
    shares = [office.desk.spent("visits", who) for who in PEOPLE]
    assert max(shares) <= SHARE
    assert sum(shares) == BUDGET
    balance = office.account.balance()
    assert (balance.spent, len(balance.charges)) == (BUDGET, BUDGET)
    jobs = office.desk.jobs()
    charged = sorted(charge for job in jobs for charge in job.charges)
    assert charged == [record.charge.number for record in balance.charges]
    slots = [(job.starts, job.deadline) for job in jobs]
    ends = [slots[0][0], *(end for _, end in slots)]
    assert [start for start, _ in slots] == ends[:-1], "one slot follows the other"
    assert office.ledger.verify().ok
    office.close()


def test_racing_changes_no_share(shared_place: Place) -> None:
    _race_for_shares(shared_place)


@pytest.mark.soak
@pytest.mark.parametrize("number", range(RACES_IN_SOAK))
def test_racing_changes_no_share_again_and_again(shared_place: Place, number: int) -> None:
    _race_for_shares(shared_place)


def test_a_job_is_claimed_by_one_of_many(office: Office) -> None:
    for number in range(BUDGET):
        office.asked("ann", str(number), slot=Slot(length=None))

    def claim(account: Account, snapshot: Snapshot, worker: str) -> None:
        if office.desk.claim("visits", worker, LEASE) is None:
            raise BudgetError("there is none left")

    assert sum(_raced(office, claim)) == BUDGET


def test_an_equal_question_is_charged_once_by_many(office: Office) -> None:
    def ask(account: Account, snapshot: Snapshot, request: str) -> None:
        question = posed()
        job = office.desk.accept(
            [order("the same", who="ann")], snapshot, question, Slot(length=LEASE)
        ).job
        assert job is not None
        assert job.state is JobState.ACCEPTED
        if job.id != question.id:
            raise BudgetError("somebody was faster")

    assert sum(_raced(office, ask)) == 1
    assert office.account.balance().spent == 1


def test_a_login_is_taken_by_one_of_many(office: Office) -> None:
    once = office.desk.add_token("ann", PersonRole.ANALYST, purpose=TokenPurpose.LOGIN)

    def login(account: Account, snapshot: Snapshot, request: str) -> None:
        if office.desk.use_once(once) is None:
            raise BudgetError("it was used before")

    assert sum(_raced(office, login)) == 1


def _raced(office: Office, attempt: object) -> list[int]:
    assert callable(attempt)
    return race(office.account, office.snapshot, processes=2, threads=3, attempts=4, spend=attempt)
