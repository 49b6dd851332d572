"""Questions that wait for a steward, who sees plan, cost and purpose, and nothing of the answer.

A decision is made without looking at the data. A refusal is public and outside the promise.
"""

from __future__ import annotations

from typing import Any

from onesided.errors import LedgerError, OnesidedError
from onesided.ledger.base import LONGEST_PURPOSE
from onesided.ledger.desk import DeskConflict, JobState, QuestionJob
from onesided.server.api.jobs import shown
from onesided.server.fields import BodyType, TextType, one_of
from onesided.server.hosted import HostedDataset
from onesided.server.jobs.accepting import allowance, refused_by_ledger, taken
from onesided.server.problems import Problem
from onesided.server.questions import Wanted
from onesided.server.routing import STEWARD, ApiCall, ApiRoute, Reply
from onesided.server.schemas import JOB, listing
from onesided.session.several import expected

APPROVE, REFUSE = "approve", "refuse"


def list_approvals(call: ApiCall) -> Reply:
    found = call.served.desk.jobs(states=[JobState.AWAITING])
    return Reply({"approvals": [awaiting(call, each) for each in found if _hosted(call, each)]})


def awaiting(call: ApiCall, job: QuestionJob) -> dict[str, Any]:
    """A job with what its answer would look like, which is computed from public facts."""
    said = shown(call, job)
    hosted = _hosted(call, job)
    assert hosted is not None
    try:
        wanted = Wanted.of(job.question)
        asked = wanted.checked(hosted.data)
        said["terms"] = [each.terms.figure for each in asked.questions]
        plans = (expected(hosted.data.plan, each) for each in asked.parts)
        said["plan"] = "; ".join(each for each in plans if each)
    except (OnesidedError, Problem) as error:
        said["terms"] = [str(error)]
    return said


def decide(call: ApiCall) -> Reply:
    job = call.served.desk.job(call.path["job"])
    hosted = None if job is None else _hosted(call, job)
    if job is None or hosted is None:
        raise Problem(404, "There is no such question.")
    why = call.body.get("why", "")
    if call.body["decision"] == REFUSE:
        found = call.served.desk.refuse(job.id, steward=call.caller.name, why=why)
        return Reply(shown(call, found), log={"job": job.id, "decision": REFUSE})
    return Reply(_approved(call, hosted, job, why), log={"job": job.id, "decision": APPROVE})


def _approved(call: ApiCall, hosted: HostedDataset, job: QuestionJob, why: str) -> dict[str, Any]:
    """Charge the question as it was proposed, in the name of who asked."""
    desk = call.served.desk
    wanted, data = Wanted.of(job.question), hosted.data
    rights = desk.rights(hosted.account_name, job.who)
    if rights is None:
        raise DeskConflict("Who asked may no longer see the data set; refuse the question.")
    asked = wanted.checked(data)
    orders = wanted.orders(data, asked, job.who)
    slot = call.served.slot(hosted, asked)
    try:
        with hosted.charging() as state:
            accepted = desk.approve(
                job.id,
                orders,
                state.kernel().snapshot,
                slot,
                allowance(job.who, rights),
                steward=call.caller.name,
                why=why,
            )
    except LedgerError:
        raise refused_by_ledger(data) from None
    found = taken(call.served, hosted, accepted)
    return shown(call, found.job or desk.job(job.id) or job)


def _hosted(call: ApiCall, job: QuestionJob) -> HostedDataset | None:
    found = (each for each in call.served.datasets.values() if each.account_name == job.dataset)
    return next(found, None)


ROUTES = (
    ApiRoute(
        method="GET",
        path="/api/v1/approvals",
        handler=list_approvals,
        summary="The questions that await a decision.",
        roles=(STEWARD,),
        answers={200: listing("approvals", JOB)},
    ),
    ApiRoute(
        method="POST",
        path="/api/v1/approvals/{job}",
        handler=decide,
        summary="Approve a question, which then runs, or refuse it, which costs nothing.",
        roles=(STEWARD,),
        body=BodyType(
            {"decision": one_of((APPROVE, REFUSE)), "why": TextType(LONGEST_PURPOSE)},
            ("decision",),
        ),
        answers={200: JOB},
        refusals=(402, 409),
    ),
)
