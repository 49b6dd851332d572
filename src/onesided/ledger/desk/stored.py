"""The desk on any store of a ledger; meets the protocol `Desk`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction

from onesided.errors import RequestError
from onesided.ledger.base import LONGEST_PURPOSE, LONGEST_WHO, Order, Snapshot
from onesided.ledger.chain import canonical
from onesided.ledger.charging import check_label, check_text
from onesided.ledger.desk import people
from onesided.ledger.desk.accepting import Accepting, not_awaiting
from onesided.ledger.desk.base import (
    Acceptance,
    Allowance,
    Decision,
    DeskConflict,
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
from onesided.ledger.desk.records import JobOutcome, JobRow, JobRows
from onesided.ledger.desk.shares import PersonalShares
from onesided.ledger.desk.times import to_text
from onesided.ledger.rows import LedgerRows
from onesided.ledger.store import Store

Clock = Callable[[], datetime]


@dataclass(frozen=True)
class _View:
    """A transaction at one moment."""

    rows: LedgerRows
    now: datetime

    @property
    def jobs(self) -> JobRows:
        return JobRows(self.rows)

    def seen(self, found: Sequence[JobRow]) -> tuple[QuestionJob, ...]:
        """These jobs as they may be seen, with the releases of those that are done."""
        done = [job for job in found if job.state(self.now) is JobState.DONE]
        charges = {charge for job in done for charge in job.charges or ()}
        releases = self.rows.releases_of(sorted(charges))
        return tuple(
            job.seen(self.now, [releases[each] for each in job.charges or () if each in releases])
            for job in found
        )


class StoredDesk:
    """The desk of the ledger in `store`.

    - `clock`: a clock of its own, for tests.
    """

    def __init__(self, store: Store, clock: Clock | None = None) -> None:
        self._store = store
        self._clock = clock

    def __repr__(self) -> str:
        return f"Desk({self._store!r})"

    @contextmanager
    def _writing(self) -> Iterator[_View]:
        """One transaction that excludes all other writers; what is overdue has failed in it."""
        with self._store.writing() as rows:
            view = _View(rows, self._time(rows))
            view.jobs.close_overdue(view.now)
            yield view

    @contextmanager
    def _reading(self) -> Iterator[_View]:
        with self._store.reading() as rows:
            yield _View(rows, self._time(rows))

    def _time(self, rows: LedgerRows) -> datetime:
        return self._store.time(rows) if self._clock is None else self._clock()

    def now(self) -> datetime:
        """The time, by the clock of the ledger's database, in UTC."""
        with self._reading() as view:
            return view.now

    def add_token(
        self,
        name: str,
        role: PersonRole,
        *,
        expires: datetime | None = None,
        purpose: TokenPurpose = TokenPurpose.ACCESS,
        parent: str | None = None,
    ) -> str:
        """A new token of 256 bits, which is returned this once; its SHA-256 is kept."""
        people.check_name(name)
        if expires is not None and expires.tzinfo is None:
            raise RequestError("The moment at which a token expires needs a time zone.")
        with self._writing() as view:
            return people.add_token(
                view.rows, view.now, name, role, expires=expires, purpose=purpose, parent=parent
            )

    def person(self, token: str, purpose: TokenPurpose = TokenPurpose.ACCESS) -> Person | None:
        """Who holds this token of that purpose; None where it is unknown, expired or revoked."""
        if purpose is TokenPurpose.LOGIN:
            raise ValueError("a token of one login is taken by use_once")
        with self._reading() as view:
            return people.find_token(view.rows, view.now, token, purpose)

    def use_once(self, token: str) -> Person | None:
        """Who holds this token of one login, which is revoked by it; of two callers one gets it."""
        with self._writing() as view:
            found = people.find_token(view.rows, view.now, token, TokenPurpose.LOGIN)
            if found is not None:
                people.revoke(view.rows, view.now, found.token)
            return found

    def revoke(self, name_or_id: str) -> tuple[TokenRecord, ...]:
        """End one token by its id, or all of a name; those that were ended now."""
        with self._writing() as view:
            return people.revoke(view.rows, view.now, name_or_id)

    def tokens(self) -> tuple[TokenRecord, ...]:
        """All tokens, oldest first; those of logins and sessions until they expire."""
        with self._reading() as view:
            return tuple(people.all_tokens(view.rows))

    def set_rights(self, dataset: str, name: str, rights: Rights | None) -> None:
        """What this person may do with a data set from now on; None takes the data set away."""
        with self._writing() as view:
            people.set_rights(view.rows, dataset, name, rights)

    def rights(self, dataset: str, name: str) -> Rights | None:
        """What this person may do with a data set; None: it is not theirs to see."""
        with self._reading() as view:
            return people.find_rights(view.rows, dataset, name)

    def all_rights(self) -> Mapping[tuple[str, str], Rights]:
        """All rights by data set and name."""
        with self._reading() as view:
            return people.all_rights(view.rows)

    def spent(self, dataset: str, name: str) -> Fraction:
        """The ε of the composition of all charges in this name; what a cap is compared with."""
        with self._reading() as view:
            opened = view.rows.account_named(dataset)
            return (
                Fraction(0)
                if opened is None
                else PersonalShares(view.rows, opened.number).spent(name)
            )

    def accept(
        self,
        orders: Sequence[Order],
        snapshot: Snapshot,
        posed: PosedQuestion,
        slot: Slot,
        allowance: Allowance | None = None,
    ) -> Acceptance:
        """Charge all orders, write the job and give it its slot, all or nothing."""
        _check_posed(posed)
        requests = tuple(order.request for order in orders)
        with self._writing() as view:
            job = JobRow(
                number=0,
                posed=posed,
                asked=view.now,
                snapshot=snapshot.number,
                requests=requests,
            )
            accepting = Accepting(
                rows=view.rows, now=view.now, job=job, slot=slot, allowance=allowance
            )
            return accepting.new(orders, snapshot)

    def propose(self, posed: PosedQuestion, proposed: ProposedQuestion) -> QuestionJob:
        """Write a job that awaits the decision of a steward; nothing is charged."""
        _check_posed(posed)
        with self._writing() as view:
            if proposed.expires <= view.now:
                raise RequestError("A question must await its decision for some time.")
            if view.jobs.one(posed.id) is not None:
                raise DeskConflict("There is a job of this id already; ask under a new one.")
            job = view.jobs.add(
                JobRow(
                    number=0,
                    posed=posed,
                    asked=view.now,
                    snapshot=proposed.snapshot,
                    requests=proposed.requests,
                    expires=proposed.expires,
                    greatest_cost=proposed.greatest_cost,
                )
            )
            return job.seen(view.now)

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
        """Accept an awaiting job; DeskConflict where anything is not as it was proposed."""
        _check_decision(steward, why)
        with self._writing() as view:
            accepting = Accepting(
                rows=view.rows,
                now=view.now,
                job=_found(view, job),
                slot=slot,
                allowance=allowance,
            )
            decision = Decision(who=steward, why=why, time=view.now)
            return accepting.approved(orders, snapshot, decision)

    def refuse(self, job: str, *, steward: str, why: str) -> QuestionJob:
        """Refuse an awaiting job; it costs nothing."""
        _check_decision(steward, why)
        with self._writing() as view:
            found = _awaiting(view, job)
            decision = Decision(who=steward, why=why, time=view.now)
            refused = replace(found, outcome=JobOutcome.REFUSED, decision=decision)
            view.jobs.put(refused)
            return refused.seen(view.now)

    def cancel(self, job: str, *, who: str) -> QuestionJob:
        """Take back one's own question while it awaits."""
        with self._writing() as view:
            found = _awaiting(view, job)
            if found.posed.who != who:
                raise DeskConflict("Only who asked a question takes it back.")
            cancelled = replace(found, outcome=JobOutcome.CANCELLED)
            view.jobs.put(cancelled)
            return cancelled.seen(view.now)

    def claim(self, dataset: str, worker: str, lease: timedelta) -> QuestionJob | None:
        """The job whose slot is now, for this worker alone until the lease ends."""
        with self._reading() as view:
            if _next(view, dataset) is None:  # most often; readers are in nobody's way
                return None
        with self._writing() as view:
            found = _next(view, dataset)
            if found is None:
                return None
            view.jobs.put(replace(found, worker=worker, lease=view.now + lease))
            return found.seen(view.now)

    def renew(self, job: str, worker: str, lease: timedelta) -> bool:
        """Extend a lease; False where the job is no longer this worker's, or its time is over."""
        with self._writing() as view:
            found = view.jobs.one(job)
            if found is None or found.worker != worker or found.outcome is not None:
                return False
            view.jobs.put(replace(found, lease=view.now + lease))
            return True

    def give_back(self, job: str, worker: str) -> None:
        """End a lease early, so that another worker can claim the job."""
        with self._writing() as view:
            found = view.jobs.one(job)
            if found is not None and found.worker == worker:
                view.jobs.put(replace(found, worker=None, lease=None))

    def finish(self, job: str, worker: str) -> bool:
        """Note that all answers are stored or kept as steps; False where the deadline passed."""
        with self._writing() as view:
            found = view.jobs.one(job)
            if found is None or found.charges is None:
                return False
            if found.outcome is None:
                view.jobs.put(replace(found, outcome=JobOutcome.DONE, worker=worker, lease=None))
            return found.outcome in (None, JobOutcome.DONE)

    def fail(self, job: str, worker: str) -> None:
        """Note that the run failed; nobody sees it before the deadline."""
        with self._writing() as view:
            found = view.jobs.one(job)
            if found is not None and found.worker == worker and found.outcome is None:
                view.jobs.put(replace(found, outcome=JobOutcome.FAILED, lease=None))

    def job(self, job: str) -> QuestionJob | None:
        """One job as it may be seen now."""
        found = self._seen(lambda view: view.jobs.where("id = ?", job))
        return found[0] if found else None

    def jobs(
        self,
        *,
        dataset: str | None = None,
        who: str | None = None,
        states: Sequence[JobState] | None = None,
    ) -> tuple[QuestionJob, ...]:
        """Jobs as they may be seen now, oldest first."""
        asked = {"dataset": dataset, "who": who}
        known = {name: value for name, value in asked.items() if value is not None}
        names = [f"{name} = ?" for name in known]
        if states is not None and set(states) <= {JobState.AWAITING, JobState.ACCEPTED}:
            names.append("(outcome IS NULL OR deadline > ?)")  # few of very many

        def find(view: _View) -> list[JobRow]:
            values = [*known.values(), to_text(view.now)]
            return view.jobs.where(" AND ".join(names) or "1 = 1", *values[: len(names)])

        found = self._seen(find)
        return tuple(job for job in found if states is None or job.state in states)

    def _seen(self, find: Callable[[_View], list[JobRow]]) -> tuple[QuestionJob, ...]:
        """As they may be seen: what is overdue is written to have failed, before anybody sees it.

        Otherwise a run that ends at the deadline could turn what was seen as failed into an answer.
        """
        with self._reading() as view:
            found = find(view)
            if not any(job.overdue(view.now) for job in found):
                return view.seen(found)
        with self._writing() as view:
            return view.seen(find(view))

    def next_event(self, dataset: str) -> datetime | None:
        """When the next slot of the data set starts or ends, or a lease does."""
        with self._reading() as view:
            moments = [
                moment
                for job in view.jobs.open(dataset, view.now)
                for moment in (job.starts, job.deadline, job.lease)
                if moment is not None and moment > view.now
            ]
            return min(moments, default=None)

    def queue_ends(self, dataset: str) -> datetime:
        """When a slot that is asked for now would start."""
        with self._reading() as view:
            return view.jobs.queue_end(dataset, view.now)

    def hidden(self, dataset: str) -> frozenset[int]:
        """The charges whose releases must not be seen now, stored or not."""
        with self._reading() as view:
            return view.jobs.hidden(dataset, view.now)

    def close(self) -> None:
        """Let go of the file or connection."""
        self._store.close()


def _next(view: _View, dataset: str) -> JobRow | None:
    """The first job whose slot is now and that no worker has."""
    now = to_text(view.now)
    found = view.jobs.where(
        "dataset = ? AND charges IS NOT NULL AND outcome IS NULL AND starts <= ?"
        " AND (deadline IS NULL OR deadline > ?) AND (lease IS NULL OR lease <= ?)",
        *(dataset, now, now, now),
    )
    return found[0] if found else None


def _found(view: _View, job: str) -> JobRow:
    found = view.jobs.one(job)
    if found is None:
        raise RequestError("There is no question of this id.")
    return found


def _awaiting(view: _View, job: str) -> JobRow:
    found = _found(view, job)
    if found.state(view.now) is not JobState.AWAITING:
        raise not_awaiting(found, view.now)
    return found


def _check_posed(posed: PosedQuestion) -> None:
    check_label(posed.id, "id of a job")
    check_label(posed.dataset, "name of the data set")
    check_text(posed.who, "id of who asks", LONGEST_WHO)
    check_text(posed.purpose, "purpose", LONGEST_PURPOSE)
    canonical(dict(posed.question))


def _check_decision(steward: str, why: str) -> None:
    people.check_name(steward)
    check_text(why, "reason", LONGEST_PURPOSE)
