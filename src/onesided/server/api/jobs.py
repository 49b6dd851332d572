"""Questions on their way. Nothing is seen of a run before its deadline."""

from __future__ import annotations

import math
from typing import Any

from onesided.data.release import Release
from onesided.ledger.desk import JobState, QuestionJob
from onesided.server.hosted import HostedDataset
from onesided.server.jobs.answers import (
    computed_answer,
    is_computed,
    job_json,
    release_json,
)
from onesided.server.jobs.runner import charges_of, is_open
from onesided.server.problems import Problem
from onesided.server.questions import Wanted
from onesided.server.routing import ANALYST, STEWARD, ApiCall, ApiRoute, Reply
from onesided.server.schemas import ANYTHING, JOB, listing
from onesided.server.tables import DATA_TYPES, data_reply

_NOT_THERE = "There is no such question, or it is not yours to see."
MOST_LISTED = 1_000


def list_jobs(call: ApiCall) -> Reply:
    found = call.served.desk.jobs(who=call.caller.name)[-MOST_LISTED:]
    return Reply({"jobs": [shown(call, each) for each in found if _hosted(call, each)]})


def show_job(call: ApiCall) -> Reply:
    job, hosted = _job(call)
    said = shown(call, job)
    if job.state is JobState.DONE:
        said["release"] = release_json(
            hosted,
            call.served.questions,
            Wanted.of(job.question),
            charges_of(hosted.data, job),
            f"{said['url']}/release",
        )
    waiting = is_open(job)
    headers = {"Retry-After": str(math.ceil(said["retry_after"]))} if waiting else {}
    return Reply(said, headers=headers)


def shown(call: ApiCall, job: QuestionJob) -> dict[str, Any]:
    """What is said of a job."""
    hosted = _hosted(call, job)
    name = hosted.name if hosted is not None else job.dataset
    return job_json(job, name)


def cancel_job(call: ApiCall) -> Reply:
    job, _ = _job(call)
    if job.who != call.caller.name:
        raise Problem(403, "Only whoever asked takes a question back.")
    return Reply(shown(call, call.served.desk.cancel(job.id, who=call.caller.name)))


def show_answer(call: ApiCall) -> Reply:
    return Reply(dict(job_answer(call).receipt.content))


def job_answer(call: ApiCall) -> Release:
    """An answer that is computed from several releases, as Python shows it."""
    job, hosted = _job(call)
    if job.state is not JobState.DONE or not is_computed(Wanted.of(job.question)):
        raise Problem(404, "The question has no such answer now.")
    return computed_answer(hosted, job.question, charges_of(hosted.data, job))


def show_answer_data(call: ApiCall) -> Reply:
    return data_reply(job_answer(call), call.accept)


def _job(call: ApiCall) -> tuple[QuestionJob, HostedDataset]:
    """A job that the caller may see: questions are public to all who may read the data set."""
    job = call.served.desk.job(call.path["job"])
    hosted = None if job is None else _hosted(call, job)
    if job is None or hosted is None:
        raise Problem(404, _NOT_THERE)
    return job, hosted


def _hosted(call: ApiCall, job: QuestionJob) -> HostedDataset | None:
    for each in call.served.datasets.values():
        if each.account_name == job.dataset:
            seen = call.caller.rights(call.served.desk, job.dataset) is not None
            return each if seen else None
    return None


_PATH = "/api/v1/jobs/{job}"
ROUTES = (
    ApiRoute(
        method="GET",
        path="/api/v1/jobs",
        handler=list_jobs,
        summary="One's own questions, oldest first.",
        answers={200: listing("jobs", JOB)},
    ),
    ApiRoute(
        method="GET",
        path=_PATH,
        handler=show_job,
        summary="A question: its state, its deadline, and where its answer is.",
        answers={200: JOB},
    ),
    ApiRoute(
        method="DELETE",
        path=_PATH,
        handler=cancel_job,
        summary="Take one's own question back while it awaits approval.",
        roles=(STEWARD, ANALYST),
        answers={200: JOB},
        refusals=(409,),
    ),
    ApiRoute(
        method="GET",
        path=f"{_PATH}/release",
        handler=show_answer,
        summary="The receipt of an answer that is computed from several releases.",
        roles=(STEWARD, ANALYST),
        answers={200: ANYTHING},
    ),
    ApiRoute(
        method="GET",
        path=f"{_PATH}/release/data",
        handler=show_answer_data,
        summary="An answer that is computed from several releases, in the form that Accept names.",
        roles=(STEWARD, ANALYST),
        answers={200: DATA_TYPES},
        refusals=(406,),
    ),
)
