"""What the tests of desks share: a clock that is set by hand, a desk, and questions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from onesided.ledger import Account, Ledger, Order, Snapshot
from onesided.ledger.desk import (
    Acceptance,
    Allowance,
    Desk,
    PosedQuestion,
    QuestionJob,
    Slot,
    new_job_id,
    open_desk,
)
from onesided.loss import Number
from support.ledgers import Place, order, terms

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
LENGTH = 10 * SECOND
LEASE = 3 * SECOND


class HandSetClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.time = NOON

    def __call__(self) -> datetime:
        return self.time

    def move(self, seconds: float) -> None:
        """Let time pass."""
        self.time += seconds * SECOND


@dataclass
class Office:
    """A ledger with the account `visits`, its desk and the clock of the desk."""

    place: Place
    ledger: Ledger
    account: Account
    snapshot: Snapshot
    desk: Desk
    clock: HandSetClock

    @classmethod
    def at(cls, place: Place, budget: Number | None = 100) -> Office:
        """One at an empty place."""
        ledger, account, snapshot = place.opened(budget)
        clock = HandSetClock()
        return cls(place, ledger, account, snapshot, open_desk(place.where, clock=clock), clock)

    def ask(
        self,
        who: str = "ann",
        request: str = "request",
        *,
        allowance: Allowance | None = None,
        slot: Slot | None = None,
        orders: list[Order] | None = None,
        **changes: Any,
    ) -> Acceptance:
        """Ask one question in a name."""
        wanted = orders or [order(request, who=who)]
        return self.desk.accept(
            wanted, self.snapshot, posed(who, **changes), slot or Slot(length=LENGTH), allowance
        )

    def asked(self, who: str = "ann", request: str = "request", **changes: Any) -> QuestionJob:
        """The same, of which a job must come."""
        job = self.ask(who, request, **changes).job
        assert job is not None
        return job

    def answer(self, job: QuestionJob, worker: str = "worker") -> bool:
        """Claim a job, store its releases and say so."""
        claimed = self.desk.claim(job.dataset, worker, LEASE)
        assert claimed is not None
        assert claimed.id == job.id
        self.store(job)
        return self.desk.finish(job.id, worker)

    def store(self, job: QuestionJob) -> None:
        """Store a release for each charge of a job."""
        for number in job.charges:
            charge = self.account.charged(number)
            assert charge is not None
            if charge.release is None:
                self.account.store(charge, f"answer {number}".encode(), {})

    def again(self) -> Office:
        """As another process opens it later, by the same clock."""
        ledger = self.place.open(create=False)
        account = ledger.account(terms(None))
        desk = open_desk(self.place.where, create=False, clock=self.clock)
        return Office(self.place, ledger, account, account.snapshot("data-1"), desk, self.clock)

    def close(self) -> None:
        """Let go of both connections."""
        self.desk.close()
        self.ledger.close()


def posed(who: str = "ann", **changes: Any) -> PosedQuestion:
    """A question of no interest."""
    agreed: dict[str, Any] = {
        "id": new_job_id(),
        "dataset": "visits",
        "who": who,
        "kind": "count",
        "question": {"by": ["room"]},
    }
    return PosedQuestion(**(agreed | changes))
