"""From a question to its job: who may ask it, what it costs, and its place in the queue."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from hashlib import sha256

from onesided.errors import LedgerError
from onesided.ledger import Charge, Order
from onesided.ledger.desk import (
    Acceptance,
    Allowance,
    PosedQuestion,
    ProposedQuestion,
    QuestionJob,
    Rights,
    new_job_id,
)
from onesided.server.hosted import HostedDataset
from onesided.server.people import Caller
from onesided.server.problems import Problem
from onesided.server.questions import Wanted
from onesided.server.served import Served
from onesided.session.frozen import FrozenDataset
from onesided.session.planning.pricing import Pricing
from onesided.session.several import AskedTogether

_ID_BYTES = 18
_CHANGED = "The data set has a new state since this was asked; ask again."


@dataclass(frozen=True)
class Taken:
    """What became of a question: a job, or the charges whose releases answer it already."""

    charges: tuple[Charge, ...]
    job: QuestionJob | None


def take(
    served: Served, hosted: HostedDataset, caller: Caller, wanted: Wanted, key: str = ""
) -> Taken:
    """Accept a question, or find its answer; on disk when this returns.

    - `key`: what the same person sends again leads to the same job, and is not paid again.
    """
    rights = caller.rights(served.desk, hosted.account_name)
    assert rights is not None
    data = hosted.data
    asked = wanted.checked(data, yes=wanted.yes)
    check_rights(rights, asked)
    orders = wanted.orders(data, asked, caller.name)
    posed = PosedQuestion(
        id=_job_id(hosted, caller, key),
        dataset=hosted.account_name,
        who=caller.name,
        kind=wanted.kind,
        question=wanted.said,
        purpose=wanted.purpose,
        rights=None if caller.is_steward else rights,
        repeats=caller.is_steward,
    )
    if rights.needs_approval:
        known = released(served, hosted, data, orders)
        if known is not None:
            return Taken(known, None)
        return Taken((), propose(served, data, asked, orders, posed))
    slot = served.slot(hosted, asked)
    try:
        with hosted.charging() as state:
            if state is not data:
                raise Problem(409, _CHANGED, "LedgerError")
            accepted = served.desk.accept(
                orders, data.kernel().snapshot, posed, slot, allowance(caller.name, rights)
            )
    except LedgerError:
        raise refused_by_ledger(data) from None
    if accepted.job is not None and accepted.job.id == posed.id:
        hosted.keep_checked(posed.id, asked)
    return taken(served, hosted, accepted)


def taken(served: Served, hosted: HostedDataset, accepted: Acceptance) -> Taken:
    """What was accepted; the queue is looked at."""
    served.wake(hosted)
    return Taken(accepted.charges, accepted.job)


def check_rights(rights: Rights, asked: AskedTogether) -> None:
    """Refuse what this person may not ask here, before anything is answered for free."""
    for part in asked.parts:
        refusal = rights.refusal(str(part.wish["ask"]), part.epsilon)
        if refusal is not None:
            raise Problem(403, refusal)


def _job_id(hosted: HostedDataset, caller: Caller, key: str) -> str:
    """The name of a question's job: by chance, or what its key leads to."""
    if not key:
        return new_job_id()
    text = json.dumps([hosted.account_name, caller.name, key])
    return urlsafe_b64encode(sha256(text.encode()).digest()[:_ID_BYTES]).decode()


def allowance(name: str, rights: Rights) -> Allowance | None:
    """The share of the account that all charges in a name may come to."""
    if rights.most_in_all is None:
        return None
    return Allowance(who=name, most_in_all=rights.most_in_all)


def refused_by_ledger(data: FrozenDataset) -> Exception:
    """Why the ledger refused: another state of the data was opened, or it cannot be used now."""
    if data.is_current:
        return LedgerError("The ledger cannot be used now.")
    return Problem(409, _CHANGED, "LedgerError")


def propose(
    served: Served,
    data: FrozenDataset,
    asked: AskedTogether,
    orders: Sequence[Order],
    posed: PosedQuestion,
) -> QuestionJob:
    """A job that awaits the decision of a steward; nothing is charged."""
    kernel = data.kernel(posed.who)
    cost = Pricing(kernel).together(asked.questions).plain
    proposed = ProposedQuestion.of(
        orders,
        kernel.snapshot,
        greatest_cost=cost or sum((each.epsilon for each in asked.questions), start=Fraction(0)),
        expires=served.desk.now() + timedelta(hours=served.config.approval_hours),
    )
    return served.desk.propose(posed, proposed)


def released(
    served: Served, hosted: HostedDataset, data: FrozenDataset, orders: Sequence[Order]
) -> tuple[Charge, ...] | None:
    """The charges whose stored releases answer a question, where all of them may be seen."""
    if not all(each.paid_once for each in orders):
        return None
    kernel = data.kernel()
    hidden = served.desk.hidden(hosted.account_name)
    found = []
    for order in orders:
        stored = kernel.account.stored(order.request, kernel.snapshot)
        charge = None if stored is None else kernel.account.charged(stored.charge)
        if charge is None or charge.number in hidden:
            return None
        found.append(charge)
    return tuple(found)
