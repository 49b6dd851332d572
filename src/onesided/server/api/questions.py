"""Questions: charged and on disk before they are accepted, and answered at their deadline."""

from __future__ import annotations

import math
from typing import Any

from onesided.server.fields import BodyType
from onesided.server.jobs.accepting import take
from onesided.server.jobs.answers import job_json, release_json
from onesided.server.questions import QUESTION, QUESTION_BODIES, RUN, Wanted
from onesided.server.routing import ANALYST, STEWARD, ApiCall, ApiRoute, Reply
from onesided.server.schemas import ANYTHING, JOB, answer

_ALIASES = {
    **{kind: f"The same, of a {kind}." for kind in ("count", "sum", "mean", "sample", "sql")},
    RUN: "Several questions at once, charged all or none.",
}


def ask(call: ApiCall) -> Reply:
    return asked(call, call.said)


def asked(call: ApiCall, body: dict[str, Any]) -> Reply:
    """The answer to a question: its job, or its release where it was released before."""
    hosted = call.dataset
    wanted = Wanted.of(body)
    found = take(call.served, hosted, call.caller, wanted, call.key)
    log = {"kind": wanted.kind, "epsilon": str(wanted.epsilon), "purpose": wanted.purpose}
    if found.job is None:
        release = release_json(hosted, call.served.questions, wanted, found.charges)
        return Reply({"job": None, "release": release}, log=log)
    said = job_json(found.job, hosted.name)
    return Reply(
        {"job": said},
        202,
        {"Location": said["url"], "Retry-After": str(math.ceil(said["retry_after"]))},
        log={**log, "job": found.job.id},
    )


def _alias(kind: str, summary: str) -> ApiRoute:
    body: BodyType = QUESTION_BODIES[kind]

    def asking(call: ApiCall) -> Reply:
        return asked(call, {"kind": kind, **call.said})

    asking.__name__ = f"ask_{kind}"
    return _route(f"/api/v1/datasets/{{dataset}}/{kind}", asking, body, summary)


def _route(path: str, handler: Any, body: Any, summary: str) -> ApiRoute:
    return ApiRoute(
        method="POST",
        path=path,
        handler=handler,
        summary=summary,
        roles=(STEWARD, ANALYST),
        body=body,
        answers={200: answer("release", release=ANYTHING), 202: answer("job", job=JOB)},
        refusals=(402, 409),
        keyed=True,
    )


ROUTES = (
    _route(
        "/api/v1/datasets/{dataset}/questions",
        ask,
        QUESTION,
        "Ask: charged and on disk with the answer 202; 200 where it was answered before.",
    ),
    *(_alias(kind, summary) for kind, summary in _ALIASES.items()),
)
