"""What a desk can do.

The desk of a ledger keeps who may ask, and what was asked and is on its way. It lives in the
ledger's database, outside the chain: verification and export know nothing of it.

    desk = open_desk("visits.ledger")             # makes its tables in a ledger without them
    token = desk.add_token("ann", PersonRole.ANALYST)           # shown once
    desk.set_rights("visits", "ann", Rights(most_in_all=Fraction(1)))
    person = desk.person(token)                   # None for any token that is not valid

    posed = PosedQuestion(id=new_job_id(), dataset="visits", who=person.name, kind="count", …)
    accepted = desk.accept(orders, snapshot, posed, Slot(length=timedelta(seconds=5)), allowance)
    accepted.job                                  # charged and on disk, with a deadline
                                                  # None: the releases are in accepted.charges
    job = desk.claim("visits", worker, lease)     # within its slot; for one worker at a time
    ...                                           # ask as usual: the same requests are paid for
    desk.finish(job.id, worker)                   # its answers are stored, or kept as steps
    desk.job(job.id).state                        # DONE from its deadline on

All times are those of `now()`: one clock for all processes of a ledger. A job that is seen as
failed once stays failed, however late its run comes in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Protocol

from onesided.ledger.base import Order, Snapshot
from onesided.ledger.desk.base import (
    Acceptance,
    Allowance,
    JobState,
    Person,
    PersonRole,
    PosedQuestion,
    ProposedQuestion,
    QuestionJob,
    Rights,
    Slot,
    TokenPurpose,
    TokenRecord,
)


class Desk(Protocol):
    """The desk of a ledger. Every method may be called from any thread and several processes."""

    def now(self) -> datetime:
        """The time, by the clock of the ledger's database, in UTC."""
        ...

    def add_token(
        self,
        name: str,
        role: PersonRole,
        *,
        expires: datetime | None = None,
        purpose: TokenPurpose = TokenPurpose.ACCESS,
        parent: str | None = None,
    ) -> str:
        """A new token of 256 bits, which is returned this once; its SHA-256 is kept.

        A name has one role: DeskConflict while it has a valid token of another. With the id of a
        `parent` the token is valid as long as that one is; of a login, the one that it came from.
        """
        ...

    def person(self, token: str, purpose: TokenPurpose = TokenPurpose.ACCESS) -> Person | None:
        """Who holds this token of that purpose; None where it is unknown, expired or revoked.

        A token of one login is never taken here.
        """
        ...

    def use_once(self, token: str) -> Person | None:
        """Who holds this token of one login, which is revoked by it; of two callers one gets it."""
        ...

    def revoke(self, name_or_id: str) -> tuple[TokenRecord, ...]:
        """End one token by its id, or all of a name; those that were ended now."""
        ...

    def tokens(self) -> tuple[TokenRecord, ...]:
        """All tokens ever given, oldest first, as far as they may be known."""
        ...

    def set_rights(self, dataset: str, name: str, rights: Rights | None) -> None:
        """What this person may do with a data set from now on; None takes the data set away."""
        ...

    def rights(self, dataset: str, name: str) -> Rights | None:
        """What this person may do with a data set; None: it is not theirs to see."""
        ...

    def all_rights(self) -> Mapping[tuple[str, str], Rights]:
        """All rights by data set and name."""
        ...

    def spent(self, dataset: str, name: str) -> Fraction:
        """The ε of the composition of all charges in this name; what a cap is compared with."""
        ...

    def accept(
        self,
        orders: Sequence[Order],
        snapshot: Snapshot,
        posed: PosedQuestion,
        slot: Slot,
        allowance: Allowance | None = None,
    ) -> Acceptance:
        """Charge all orders, write the job and give it its slot, all or nothing, durable on return.

        - BudgetError: the account does not suffice. CapError: the allowance does not.
        - DeskConflict: the rights were changed, or a part of the question was charged before and
          failed, was late or was never answered; then only a steward repeats it.
        - QueueFull: too many open jobs.
        - An equal question whose job is open costs nothing; the answer is that job.
        - The same question under the id of an earlier one is that one, sent again, and costs
          nothing. DeskConflict where it is another question.
        """
        ...

    def propose(self, posed: PosedQuestion, proposed: ProposedQuestion) -> QuestionJob:
        """Write a job that awaits the decision of a steward; nothing is charged."""
        ...

    def approve(
        self,
        job: str,
        orders: Sequence[Order],
        snapshot: Snapshot,
        slot: Slot,
        allowance: Allowance | None = None,
        *,
        steward: str,
        why: str,
    ) -> Acceptance:
        """Accept an awaiting job, as `accept` does; the job is always its own.

        DeskConflict unless the job still awaits, and requests, snapshot and cost are as proposed.
        After any refusal it awaits as before.
        """
        ...

    def refuse(self, job: str, *, steward: str, why: str) -> QuestionJob:
        """Refuse an awaiting job; it costs nothing. DeskConflict where it does not await."""
        ...

    def cancel(self, job: str, *, who: str) -> QuestionJob:
        """Take back one's own question while it awaits; DeskConflict afterwards."""
        ...

    def claim(self, dataset: str, worker: str, lease: timedelta) -> QuestionJob | None:
        """The job whose slot is now, for this worker alone until the lease ends.

        None where there is none to run. A job of which the lease ended is claimed again, since its
        worker was killed; one whose deadline has passed never is.
        """
        ...

    def renew(self, job: str, worker: str, lease: timedelta) -> bool:
        """Extend a lease; False where the job is no longer this worker's, or its time is over."""
        ...

    def give_back(self, job: str, worker: str) -> None:
        """End a lease early, so that another worker can claim the job."""
        ...

    def finish(self, job: str, worker: str) -> bool:
        """Note that all answers are stored or kept as steps; False where the deadline has passed.

        Any worker that stored them may say so, its lease or not.
        """
        ...

    def fail(self, job: str, worker: str) -> None:
        """Note that the run failed; nobody sees it before the deadline."""
        ...

    def job(self, job: str) -> QuestionJob | None:
        """One job as it may be seen now."""
        ...

    def jobs(
        self,
        *,
        dataset: str | None = None,
        who: str | None = None,
        states: Sequence[JobState] | None = None,
    ) -> tuple[QuestionJob, ...]:
        """Jobs as they may be seen now, oldest first."""
        ...

    def next_event(self, dataset: str) -> datetime | None:
        """When the next slot of the data set starts or ends; a worker sleeps until then."""
        ...

    def queue_ends(self, dataset: str) -> datetime:
        """When a slot that is asked for now would start."""
        ...

    def hidden(self, dataset: str) -> frozenset[int]:
        """The charges whose releases must not be seen now, stored or not.

        They belong to jobs before their deadline, or to jobs that failed.
        """
        ...

    def close(self) -> None:
        """Let go of the file or connection."""
        ...
