"""kill -9 at any statement of a job: charge, job and slot are all there or none of them is.

What was charged is run by the next worker, is answered before its deadline, and is paid once.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress

import pytest

from onesided.ledger.desk import JobState
from onesided.randomness import seeded
from support.crashing import Fuse, lay
from support.desks import LEASE, LENGTH, Office
from support.ledgers import Place

RUNS, RUNS_IN_SOAK = 10, 300
STATEMENTS = 75
"""More than one job runs from the question to its end, so that some survive."""

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def _killed(office: Office, request: str, fuse: Fuse) -> bool:
    """Ask and answer in a child that dies by its fuse; whether it survived."""
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            own = office.again()
            lay(fuse)
            own.answer(own.asked("ann", request))
            os._exit(0)
        os._exit(1)
    status = os.waitpid(child, 0)[1]
    assert not os.WIFEXITED(status) or os.WEXITSTATUS(status) == 0, "nothing but the fuse fails"
    return os.WIFEXITED(status)


def _one_death(office: Office, request: str, run: int, seed: int) -> str:
    """How far it came: nothing, accepted, claimed, stored, or finished."""
    draw = seeded(1000 * seed + run)
    fuse = Fuse(int(draw.below(STATEMENTS, 1)[0]) + 1, bool(draw.below(2, 1)[0]))
    survived = _killed(office, request, fuse)
    verification = office.ledger.verify()
    assert verification.ok, verification.problem
    found = [
        record for record in office.account.balance().charges if record.charge.request == request
    ]
    jobs = [job for job in office.desk.jobs() if job.requests == (request,)]
    assert len(found) == len(jobs), "both or neither"
    assert office.desk.queue_ends("visits") == (jobs[0].deadline if jobs else office.clock())
    if not jobs:
        return "nothing"
    (job,), (record,) = jobs, found
    assert job.charges == (record.charge.number,)
    assert office.asked("bob", request) == job, "an equal question finds it, and is free"
    reached = f"{record.state.value}{'' if survived else ' killed'}"
    office.clock.move(LEASE.total_seconds())
    if office.desk.claim("visits", "next", LEASE) is not None:
        office.store(job)
        assert office.desk.finish(job.id, "next")
    office.clock.move((LENGTH - LEASE).total_seconds())
    done = office.desk.job(job.id)
    assert done is not None
    assert done.state is JobState.DONE
    assert len(done.releases) == 1
    return reached


def _kill_and_check(place: Place, runs: int, seed: int) -> None:
    office = Office.at(place, budget=runs)
    reached: Counter[str] = Counter()
    for run in range(runs):
        reached[_one_death(office, f"request {run}", run, seed)] += 1
    assert office.account.balance().spent == runs - reached["nothing"]
    assert {"nothing", "open killed", "stored killed"} <= set(reached), reached
    assert office.ledger.verify().ok
    office.close()


def test_killed_between_question_and_answer(shared_place: Place) -> None:
    _kill_and_check(shared_place, RUNS, seed=1)


@pytest.mark.soak
def test_killed_between_many_questions_and_answers(shared_place: Place) -> None:
    _kill_and_check(shared_place, RUNS_IN_SOAK, seed=2)
