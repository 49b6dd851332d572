"""The desk of a ledger: tokens, rights, jobs and approvals, in its database, outside its chain."""

from __future__ import annotations

from onesided.ledger.desk.base import (
    QUESTION_KINDS,
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
    QueueFull,
    Rights,
    Slot,
    TokenPurpose,
    TokenRecord,
    new_job_id,
)
from onesided.ledger.desk.opening import open_desk
from onesided.ledger.desk.protocols import Desk

__all__ = [
    "QUESTION_KINDS",
    "Acceptance",
    "Allowance",
    "Decision",
    "Desk",
    "DeskConflict",
    "JobState",
    "Person",
    "PersonRole",
    "PosedQuestion",
    "ProposedQuestion",
    "QuestionJob",
    "QueueFull",
    "Rights",
    "Slot",
    "TokenPurpose",
    "TokenRecord",
    "new_job_id",
    "open_desk",
]
