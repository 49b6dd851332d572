"""The words of the desk: people and their tokens, rights, jobs and approvals.

What can be done with them says the protocol in protocols.py.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from fractions import Fraction

from onesided.errors import RequestError
from onesided.ledger.base import Charge, Json, Order, Snapshot
from onesided.loss import show
from onesided.spelling import meant


class DeskConflict(RequestError):
    """What was asked no longer fits: rights changed, a job was decided, an answer was late."""


class QueueFull(RequestError):
    """There are as many open jobs as there may be."""


def new_job_id() -> str:
    """A name of 128 random bits for a job, fit for an address; nobody guesses another's."""
    return secrets.token_urlsafe(16)


_KINDS = "count sum mean sample sql quantile histogram distinct describe ngrams touches"
QUESTION_KINDS = tuple(_KINDS.split())
"""What can be asked, by the names under which rights allow it."""


class PersonRole(StrEnum):
    """What somebody is to the data sets of a ledger.

    Stewards hold the data and may do everything. Analysts ask as their rights say. Auditors read
    the ledger and reports, and ask nothing.
    """

    STEWARD = "steward"
    ANALYST = "analyst"
    AUDITOR = "auditor"


class TokenPurpose(StrEnum):
    """What a token opens: everything until it expires, one login, or one browser's session."""

    ACCESS = "access"
    LOGIN = "login"
    SESSION = "session"


@dataclass(frozen=True, kw_only=True)
class Person:
    """Who asks. `name` is what goes into the ledger; it is public and never changes there.

    `token` is the id of the token that was shown.
    """

    name: str
    role: PersonRole
    token: str = field(compare=False)


@dataclass(frozen=True, kw_only=True)
class TokenRecord:
    """What is known of a token but itself; `id` is short, public, and names it for revocation.

    `parent` is the token that it came from, without which it opens nothing.
    """

    id: str
    name: str
    role: PersonRole
    purpose: TokenPurpose
    parent: str | None
    created: datetime
    expires: datetime | None
    revoked: datetime | None

    def valid(self, now: datetime) -> bool:
        """Whether it opens anything at `now`."""
        return self.revoked is None and (self.expires is None or now < self.expires)


@dataclass(frozen=True, kw_only=True)
class Rights:
    """What an analyst may do with one data set; None is no limit.

    - `kinds`: the kinds of question, such as "count" and "sample".
    - `most_per_release`, `least`: the largest and smallest ε of one question.
    - `most_in_all`: the largest ε of the composition of all that was charged in the person's name.
      It is a share of the one account, and no budget of its own.
    - `needs_approval`: whether each question waits for a steward.
    """

    kinds: frozenset[str] | None = None
    most_per_release: Fraction | None = None
    most_in_all: Fraction | None = None
    least: Fraction | None = None
    needs_approval: bool = False

    def __post_init__(self) -> None:
        for kind in sorted((self.kinds or frozenset()) - set(QUESTION_KINDS)):
            raise RequestError(
                f"There is no kind of question {kind!r}{meant(kind, QUESTION_KINDS)}; "
                f"there are {', '.join(QUESTION_KINDS)}."
            )
        for amount in (self.most_per_release, self.most_in_all, self.least):
            if amount is not None and amount < 0:
                raise RequestError("An epsilon in somebody's rights must not be below 0.")

    def refusal(self, kind: str, epsilon: Fraction) -> str | None:
        """Why a question of this kind at this ε may not be asked; None where it may."""
        if self.kinds is not None and kind not in self.kinds:
            return (
                f"You may not ask questions of the kind {kind} here; ask a steward for the right."
            )
        if self.most_per_release is not None and epsilon > self.most_per_release:
            return (
                f"You may spend at most ε = {show(self.most_per_release)} on one release here; "
                f"ask for a smaller epsilon."
            )
        if self.least is not None and epsilon < self.least:
            return f"A question here has at least ε = {show(self.least)}; ask for a larger epsilon."
        return None


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """The most that all charges in the name `who` may compose to, in this account."""

    who: str
    most_in_all: Fraction


class JobState(StrEnum):
    """What may be seen of a job. Before its deadline nobody sees more than that it was accepted.

    - AWAITING: for the decision of a steward; nothing is charged.
    - ACCEPTED: charged, and on disk.
    - DONE: its deadline has passed, and its releases were stored before.
    - FAILED: its deadline has passed without them. What failed and what was late look alike.
    - REFUSED, CANCELLED, EXPIRED: it was never charged.
    """

    AWAITING = "awaiting"
    ACCEPTED = "accepted"
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


@dataclass(frozen=True, kw_only=True)
class PosedQuestion:
    """A question as somebody asks it of a data set.

    - `id`: from `new_job_id`, drawn by whoever asks, so that the job is found after a crash.
    - `question`: its fields as JSON; public. `kind` is one of them.
    - `rights`: those that were checked. Where they are others by now, nothing is charged; None for
      a steward, for whom none are checked.
    - `repeats`: whether what failed earlier is run again; for stewards alone.
    """

    id: str
    dataset: str
    who: str
    kind: str
    question: Json = field(repr=False)
    purpose: str = ""
    rights: Rights | None = None
    repeats: bool = False


@dataclass(frozen=True, kw_only=True)
class Slot:
    """The place in the queue of a data set that a job asks for.

    - `length`: from its start to its deadline. None is no deadline at all: the job starts at once,
      keeps no place, and is seen as soon as it is done, so that its time is seen as well.
    - `most_open`, `most_open_of_one`: how many jobs of the data set, or of one person in it, may
      await their deadline. QueueFull beyond it.
    """

    length: timedelta | None
    most_open: int | None = None
    most_open_of_one: int | None = None


@dataclass(frozen=True, kw_only=True)
class ProposedQuestion:
    """What an approval binds: the orders by their fingerprints, the state of the data, the cost."""

    requests: tuple[str, ...]
    snapshot: int
    greatest_cost: Fraction
    expires: datetime

    @classmethod
    def of(
        cls,
        orders: Sequence[Order],
        snapshot: Snapshot,
        *,
        greatest_cost: Fraction,
        expires: datetime,
    ) -> ProposedQuestion:
        """That of these orders."""
        requests = tuple(order.request for order in orders)
        return cls(
            requests=requests,
            snapshot=snapshot.number,
            greatest_cost=greatest_cost,
            expires=expires,
        )


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Who approved or refused a job, when and why; public."""

    who: str
    why: str
    time: datetime


@dataclass(frozen=True, kw_only=True)
class QuestionJob:
    """A question on its way, as it may be seen at the time of the call.

    - `seen`: the time of the call, by the clock of the desk.
    - `asked`: when it came. `starts`, `deadline`: its slot; None before it was accepted.
    - `expires`: until when it can be approved, and `greatest_cost` at what price at most.
    - `cost`: what it added to the account's ε when it was accepted; public.
    - `charges`: the entries of its charges in the chain, one an order.
    - `releases`: the entries of its releases, in the same order, once it is done and they are
      stored. What a question looked at may be kept as a step of its charge until the deadline.
    """

    id: str
    dataset: str
    who: str
    kind: str
    question: Json = field(repr=False)
    purpose: str
    state: JobState
    seen: datetime = field(compare=False)
    asked: datetime
    snapshot: int
    requests: tuple[str, ...]
    starts: datetime | None = None
    deadline: datetime | None = None
    expires: datetime | None = None
    greatest_cost: Fraction | None = None
    cost: Fraction | None = None
    charges: tuple[int, ...] = ()
    releases: tuple[int, ...] = ()
    decision: Decision | None = None

    @property
    def left(self) -> timedelta:
        """What was left until its deadline when it was seen; nothing where it has none."""
        if self.deadline is None:
            return timedelta(0)
        return max(self.deadline - self.seen, timedelta(0))


@dataclass(frozen=True, kw_only=True)
class Acceptance:
    """What became of a question that needs no approval, or was approved.

    - `job`: that of this question. Where it was posed before under the same id, there are no
      `charges` here. With another id it is the open job of an equal question, which answers this
      one as well and costs nothing more. None where all of it was released before and
      may be seen: then every charge has its `release`, and nothing was charged or written.
    """

    charges: tuple[Charge, ...]
    job: QuestionJob | None
