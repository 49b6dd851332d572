"""The desk of a ledger: tokens, rights, jobs and approvals, in its database, outside its chain."""

from __future__ import annotations

from onesided.ledger.desk.base import (
    Acceptance,
    Allowance,
    Asking,
    Decision,
    DeskConflict,
    JobState,
    Person,
    PersonRole,
    ProposedQuestion,
    QuestionJob,
    QueueFull,
    Rights,
    Slot,
    TokenRecord,
    new_job_id,
)
from onesided.ledger.desk.protocols import Desk

__all__ = [
    "Acceptance",
    "Allowance",
    "Asking",
    "Decision",
    "Desk",
    "DeskConflict",
    "JobState",
    "Person",
    "PersonRole",
    "ProposedQuestion",
    "QuestionJob",
    "QueueFull",
    "Rights",
    "Slot",
    "TokenRecord",
    "new_job_id",
]
