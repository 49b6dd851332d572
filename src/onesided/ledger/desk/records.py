"""Jobs in the tables of a desk: rows, and what may be seen of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeVar

from onesided.ledger.chain import canonical
from onesided.ledger.desk.base import Decision, JobState, PosedQuestion, QuestionJob
from onesided.ledger.desk.times import from_text, to_text
from onesided.ledger.rows import LedgerRows

Converted = TypeVar("Converted")

_NAMES = (
    *("number", "id", "dataset", "who", "kind", "question", "purpose", "asked", "snapshot"),
    *("requests", "expires", "greatest_cost", "decision", "outcome", "starts", "deadline"),
    *("cost", "charges", "worker", "lease"),
)
_COLUMNS = ", ".join(_NAMES)


class JobOutcome(StrEnum):
    """What became of a job; before its deadline nobody is told."""

    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    CANCELLED = "cancelled"


@dataclass(frozen=True, kw_only=True)
class JobRow:
    """A job as it is kept. `number` orders jobs; `lease` is until when `worker` has it."""

    number: int
    posed: PosedQuestion
    asked: datetime
    snapshot: int
    requests: tuple[str, ...]
    expires: datetime | None = None
    greatest_cost: Fraction | None = None
    decision: Decision | None = None
    outcome: JobOutcome | None = None
    starts: datetime | None = None
    deadline: datetime | None = None
    cost: Fraction | None = None
    charges: tuple[int, ...] | None = None
    worker: str | None = None
    lease: datetime | None = None

    def state(self, now: datetime) -> JobState:
        """What may be seen of it at `now`."""
        if self.charges is None:
            if self.outcome is not None:
                return JobState(self.outcome.value)
            over = self.expires is not None and self.expires <= now
            return JobState.EXPIRED if over else JobState.AWAITING
        if self.deadline is not None and now < self.deadline:
            return JobState.ACCEPTED
        if self.outcome is not None:
            return JobState(self.outcome.value)
        return JobState.ACCEPTED if self.deadline is None else JobState.FAILED

    def overdue(self, now: datetime) -> bool:
        """Whether its deadline has passed, and nobody has written what became of it."""
        passed = self.deadline is not None and self.deadline <= now
        return self.charges is not None and self.outcome is None and passed

    def seen(self, now: datetime, releases: Sequence[int] = ()) -> QuestionJob:
        """The job as it may be seen at `now`; `releases` are those of one that is done."""
        posed, state = self.posed, self.state(now)
        return QuestionJob(
            id=posed.id,
            dataset=posed.dataset,
            who=posed.who,
            kind=posed.kind,
            question=posed.question,
            purpose=posed.purpose,
            state=state,
            seen=now,
            asked=self.asked,
            snapshot=self.snapshot,
            requests=self.requests,
            starts=self.starts,
            deadline=self.deadline,
            expires=self.expires,
            greatest_cost=self.greatest_cost,
            cost=self.cost,
            charges=self.charges or (),
            releases=tuple(releases) if state is JobState.DONE else (),
            decision=self.decision,
        )


class JobRows:
    """The jobs of a desk within one transaction."""

    def __init__(self, rows: LedgerRows) -> None:
        self._run = rows.run

    def add(self, job: JobRow) -> JobRow:
        """Write a new job, behind all others."""
        (last,) = self._run("SELECT COALESCE(MAX(number), 0) FROM desk_jobs").fetchone()
        numbered = replace(job, number=int(last) + 1)
        marks = ", ".join("?" * len(_NAMES))
        self._run(f"INSERT INTO desk_jobs ({_COLUMNS}) VALUES ({marks})", _values(numbered))
        return numbered

    def put(self, job: JobRow) -> None:
        """Write a job that is there already."""
        marks = ", ".join(f"{name} = ?" for name in _NAMES[1:])
        number, *values = _values(job)
        self._run(f"UPDATE desk_jobs SET {marks} WHERE number = ?", (*values, number))

    def one(self, job_id: str) -> JobRow | None:
        """The job of this id."""
        found = self.where("id = ?", job_id)
        return found[0] if found else None

    def where(self, condition: str, *values: object) -> list[JobRow]:
        """The jobs for which a condition holds, oldest first."""
        found = self._run(
            f"SELECT {_COLUMNS} FROM desk_jobs WHERE {condition} ORDER BY number", values
        )
        return [_row(row) for row in found.fetchall()]

    def open(self, dataset: str, now: datetime) -> list[JobRow]:
        """The jobs of a data set of which nobody may see yet what became of them."""
        return self.where(
            "dataset = ? AND charges IS NOT NULL"
            " AND (deadline > ? OR (deadline IS NULL AND outcome IS NULL))",
            dataset,
            to_text(now),
        )

    def close_overdue(self, now: datetime) -> None:
        """Jobs whose deadline has passed unanswered have failed from now on."""
        self._run(
            "UPDATE desk_jobs SET outcome = ? WHERE charges IS NOT NULL AND outcome IS NULL"
            " AND deadline <= ?",
            (JobOutcome.FAILED.value, to_text(now)),
        )

    def queue_end(self, dataset: str, now: datetime) -> datetime:
        """When the next slot starts: behind the last one, and not before now."""
        (last,) = self._run(
            "SELECT MAX(deadline) FROM desk_jobs WHERE dataset = ?", (dataset,)
        ).fetchone()
        return now if last is None else max(now, from_text(last))

    def runs(self, job: JobRow, charges: Sequence[int]) -> None:
        """Note the charges of which this job decides when they are seen."""
        for charge in charges:
            self._run("INSERT INTO desk_runs VALUES (?, ?)", (charge, job.posed.id))

    def running(self, charge: int) -> list[JobRow]:
        """The jobs that decide when this charge is seen."""
        return self.where("id IN (SELECT job FROM desk_runs WHERE charge = ?)", charge)

    def hidden(self, dataset: str, now: datetime) -> frozenset[int]:
        """The charges for which no job is done that may be seen."""
        found = self._run(
            "SELECT desk_runs.charge, MAX(CASE WHEN desk_jobs.outcome = ? AND"
            " (deadline IS NULL OR deadline <= ?) THEN 1 ELSE 0 END)"
            " FROM desk_runs JOIN desk_jobs ON desk_jobs.id = desk_runs.job"
            " WHERE dataset = ? GROUP BY desk_runs.charge",
            (JobOutcome.DONE.value, to_text(now), dataset),
        )
        return frozenset(charge for charge, seen in found.fetchall() if not seen)


def _values(job: JobRow) -> tuple[object, ...]:
    posed = job.posed
    return (
        job.number,
        *(posed.id, posed.dataset, posed.who, posed.kind),
        canonical(dict(posed.question)),
        posed.purpose,
        to_text(job.asked),
        job.snapshot,
        canonical(list(job.requests)),
        _known(to_text, job.expires),
        _known(str, job.greatest_cost),
        _known(_decision_text, job.decision),
        _known(str, job.outcome),
        _known(to_text, job.starts),
        _known(to_text, job.deadline),
        _known(str, job.cost),
        _known(lambda charges: canonical(list(charges)), job.charges),
        job.worker,
        _known(to_text, job.lease),
    )


def _row(values: Sequence[Any]) -> JobRow:
    kept = dict(zip(_NAMES, values, strict=True))
    posed = PosedQuestion(
        question=json.loads(kept["question"]),
        **{name: kept[name] for name in ("id", "dataset", "who", "kind", "purpose")},
    )
    return JobRow(
        number=kept["number"],
        posed=posed,
        asked=from_text(kept["asked"]),
        snapshot=kept["snapshot"],
        requests=tuple(json.loads(kept["requests"])),
        expires=_known(from_text, kept["expires"]),
        greatest_cost=_known(Fraction, kept["greatest_cost"]),
        decision=_known(_decision, kept["decision"]),
        outcome=_known(JobOutcome, kept["outcome"]),
        starts=_known(from_text, kept["starts"]),
        deadline=_known(from_text, kept["deadline"]),
        cost=_known(Fraction, kept["cost"]),
        charges=_known(lambda text: tuple(json.loads(text)), kept["charges"]),
        worker=kept["worker"],
        lease=_known(from_text, kept["lease"]),
    )


def _decision(text: str) -> Decision:
    value = json.loads(text)
    return Decision(who=value["who"], why=value["why"], time=from_text(value["time"]))


def _decision_text(decision: Decision) -> str:
    return canonical({"who": decision.who, "why": decision.why, "time": to_text(decision.time)})


def _known(convert: Callable[[Any], Converted], value: Any) -> Converted | None:
    return None if value is None else convert(value)
