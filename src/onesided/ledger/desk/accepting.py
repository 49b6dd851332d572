"""Accepting a question: charge, job and slot in one transaction, or nothing of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction

from onesided.errors import LedgerError
from onesided.ledger.base import Charge, Order, Snapshot
from onesided.ledger.books import AccountBooks
from onesided.ledger.chain import canonical
from onesided.ledger.charging import charge_all, check_order
from onesided.ledger.desk.base import (
    Acceptance,
    Allowance,
    Decision,
    DeskConflict,
    JobState,
    PosedQuestion,
    QueueFull,
    Slot,
)
from onesided.ledger.desk.people import find_rights
from onesided.ledger.desk.records import JobOutcome, JobRow, JobRows
from onesided.ledger.desk.shares import PersonalShares
from onesided.ledger.rows import LedgerRows
from onesided.ledger.terms import agreed
from onesided.loss import show


@dataclass(frozen=True, kw_only=True)
class Accepting:
    """A question that is about to be accepted.

    - `job`: as it will be written, but for its charges and slot.
    - `number`: 0 for a new job; the one of an awaiting job that a steward approves.
    """

    rows: LedgerRows
    now: datetime
    job: JobRow
    slot: Slot
    allowance: Allowance | None

    def new(self, orders: Sequence[Order], snapshot: Snapshot) -> Acceptance:
        """Accept a question as it comes."""
        posed = self.job.posed
        known = self._jobs.one(posed.id)
        if known is not None:
            check_same(known.posed, posed)
            return Acceptance(charges=(), job=known.seen(self.now))
        if posed.rights is not None and posed.rights != find_rights(
            self.rows, posed.dataset, posed.who
        ):
            raise DeskConflict("Your rights were changed while you asked; ask again.")
        charges, cost = self._charged(orders, snapshot)
        open_jobs, unseen = self._unseen(charges)
        if not unseen:
            return Acceptance(charges=charges, job=None)
        if len(open_jobs) == 1 and not cost:
            (job,) = open_jobs.values()
            if set(unseen) <= set(job.charges or ()):
                return Acceptance(charges=charges, job=job.seen(self.now))
        return self._accepted(charges, cost, unseen)

    def approved(
        self, orders: Sequence[Order], snapshot: Snapshot, decision: Decision
    ) -> Acceptance:
        """Accept a job that a steward approves: what was proposed, and nothing else."""
        job = self.job
        if job.state(self.now) is not JobState.AWAITING:
            raise not_awaiting(job, self.now)
        if tuple(order.request for order in orders) != job.requests:
            raise DeskConflict("The approval was asked for another question; refuse it.")
        if snapshot.number != job.snapshot:
            raise DeskConflict(
                "The question was asked of an earlier state of the data; refuse it, and have it "
                "asked again."
            )
        charges, cost = self._charged(orders, snapshot)
        if job.greatest_cost is not None and cost > job.greatest_cost:
            raise DeskConflict(
                f"The question would cost ε = {show(cost)} by now, and was proposed at no more "
                f"than {show(job.greatest_cost)}; refuse it, and have it asked again."
            )
        decided = replace(self, job=replace(job, decision=decision))
        _, unseen = decided._unseen(charges)
        return decided._accepted(charges, cost, unseen)

    @property
    def _jobs(self) -> JobRows:
        return JobRows(self.rows)

    def _charged(
        self, orders: Sequence[Order], snapshot: Snapshot
    ) -> tuple[tuple[Charge, ...], Fraction]:
        """The charges, and what they added to the account."""
        posed = self.job.posed
        opened = self.rows.account_named(posed.dataset)
        if opened is None:
            raise LedgerError(f"The ledger has no account for {posed.dataset!r}; open it first.")
        terms = agreed(self.rows, opened)
        for order in orders:
            check_order(order, terms)
            if order.who != posed.who:
                raise ValueError("an order is charged in the name of who asks")
        books = AccountBooks(self.rows, opened.number)
        before = books.standing().spent
        if self.allowance is None:
            charges = charge_all(books, orders, snapshot)
        else:
            shares = PersonalShares(self.rows, opened.number)
            own = shares.spent(self.allowance.who)
            charges = charge_all(books, orders, snapshot)
            shares.check(self.allowance, own)
            shares.save()
        return charges, books.standing().spent - before

    def _unseen(self, charges: Sequence[Charge]) -> tuple[dict[int, JobRow], list[int]]:
        """The open jobs of these charges, and those of the charges that may not be seen yet."""
        jobs: dict[int, JobRow] = {}
        unseen = []
        for charge in charges:
            known = self._jobs.running(charge.number)
            states = {job.number: job.state(self.now) for job in known}
            if JobState.DONE in states.values() or not known:
                if charge.release is not None:
                    continue
            elif JobState.ACCEPTED in states.values():
                still = [job for job in known if states[job.number] is JobState.ACCEPTED]
                jobs[still[0].number] = still[0]
                unseen.append(charge.number)
                continue
            if charge.reused and not self.job.posed.repeats and self.job.decision is None:
                raise DeskConflict(
                    "This was charged before and was not answered in time; only a steward "
                    "repeats it."
                )
            unseen.append(charge.number)
        return jobs, unseen

    def _accepted(
        self, charges: Sequence[Charge], cost: Fraction, unseen: Sequence[int]
    ) -> Acceptance:
        """Write the job with its slot; one whose answers are all there is done at once."""
        self._check_queue()
        length = self.slot.length if unseen else None
        starts = self.now
        if length is not None:
            starts = self._jobs.queue_end(self.job.posed.dataset, self.now)
        job = replace(
            self.job,
            starts=starts,
            deadline=None if length is None else starts + length,
            cost=cost,
            charges=tuple(charge.number for charge in charges),
            outcome=None if unseen else JobOutcome.DONE,
        )
        if job.number:
            self._jobs.put(job)
        else:
            job = self._jobs.add(job)
        self._jobs.runs(job, list(dict.fromkeys(unseen)))
        releases = [charge.release.number for charge in charges if charge.release is not None]
        return Acceptance(charges=tuple(charges), job=job.seen(self.now, releases))

    def _check_queue(self) -> None:
        posed, slot = self.job.posed, self.slot
        waiting = self._jobs.open(posed.dataset, self.now)
        if slot.most_open is not None and len(waiting) >= slot.most_open:
            raise QueueFull(
                f"{len(waiting)} questions of this data set await their deadlines, as many as may; "
                f"ask again later."
            )
        own = sum(job.posed.who == posed.who for job in waiting)
        if slot.most_open_of_one is not None and own >= slot.most_open_of_one:
            raise QueueFull(
                f"{own} of your questions await their deadlines, as many as may; ask again later."
            )


def check_same(known: PosedQuestion, posed: PosedQuestion) -> None:
    """Refuse another question under the id of an earlier one; the same was sent again."""
    same = (known.dataset, known.who, known.purpose) == (posed.dataset, posed.who, posed.purpose)
    if not same or canonical(dict(known.question)) != canonical(dict(posed.question)):
        raise DeskConflict("Something else was asked under this key or id; ask under a new one.")


def not_awaiting(job: JobRow, now: datetime) -> DeskConflict:
    """What says that it is too late to decide."""
    return DeskConflict(f"This question no longer waits for a decision: it is {job.state(now)}.")
