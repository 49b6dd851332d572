"""For whoever runs the server: is it up, public figures, and what the API takes."""

from __future__ import annotations

from collections import Counter

from onesided.errors import OnesidedError
from onesided.ledger.desk import JobState
from onesided.server.describe import openapi
from onesided.server.operate.metrics import METRICS_TYPE, Labels, gauge
from onesided.server.page import PAGE_STYLE, documentation
from onesided.server.problems import Problem
from onesided.server.routing import AUDITOR, STEWARD, ApiCall, ApiRoute, Reply
from onesided.server.schemas import ANYTHING

_HTML, _CSS = "text/html; charset=utf-8", "text/css; charset=utf-8"


def healthz(call: ApiCall) -> Reply:
    return Reply({"status": "ok"})


def readyz(call: ApiCall) -> Reply:
    call.served.ledger.head()
    if not call.served.ready:
        raise Problem(503, "The server is starting or ending.", headers={"Retry-After": "1"})
    return Reply({"status": "ok"})


def metrics(call: ApiCall) -> Reply:
    """What the account and the queue say to everybody; it changes when answers are handed over."""
    budgets: dict[Labels, float] = {}
    spent: dict[Labels, float] = {}
    charged: dict[Labels, float] = {}
    queued: dict[Labels, float] = {}
    for name, hosted in call.served.datasets.items():
        states = Counter(
            each.state.value for each in call.served.desk.jobs(dataset=hosted.account_name)
        )
        for state in JobState:
            queued[name, state.value] = float(states[state.value])
        try:
            balance = hosted.data.kernel().account.balance()
        except (Problem, OnesidedError):
            continue
        budgets[name,] = float(balance.budget)
        spent[name,] = float(balance.spent)
        charged[name,] = float(len(balance.charges))
    text = "".join(
        (
            gauge("onesided_budget_epsilon", "What all releases may cost.", ("dataset",), budgets),
            gauge("onesided_spent_epsilon", "What they have cost.", ("dataset",), spent),
            gauge("onesided_charges", "How many questions were charged.", ("dataset",), charged),
            gauge("onesided_jobs", "Questions by state.", ("dataset", "state"), queued),
        )
    )
    return Reply(text.encode(), media_type=METRICS_TYPE)


def describe(call: ApiCall) -> Reply:
    from onesided.server.api import ROUTES as every  # of which this is a part

    return Reply(openapi(every))


def docs(call: ApiCall) -> Reply:
    from onesided.server.api import ROUTES as every  # of which this is a part

    return Reply(documentation(openapi(every)).encode(), media_type=_HTML)


def docs_style(call: ApiCall) -> Reply:
    return Reply(PAGE_STYLE.encode(), media_type=_CSS)


ROUTES = (
    ApiRoute(
        method="GET",
        path="/healthz",
        handler=healthz,
        summary="Whether the process answers.",
        roles=(),
        answers={200: ANYTHING},
    ),
    ApiRoute(
        method="GET",
        path="/readyz",
        handler=readyz,
        summary="Whether it can be asked.",
        roles=(),
        answers={200: ANYTHING},
    ),
    ApiRoute(
        method="GET",
        path="/metrics",
        handler=metrics,
        summary="Public figures for Prometheus.",
        roles=(STEWARD, AUDITOR),
        answers={200: (METRICS_TYPE,)},
    ),
    ApiRoute(
        method="GET",
        path="/api/v1/openapi.json",
        handler=describe,
        summary="This description.",
        roles=(),
        answers={200: ANYTHING},
    ),
    ApiRoute(
        method="GET",
        path="/api/v1/docs",
        handler=docs,
        summary="This description as a page.",
        roles=(),
        answers={200: (_HTML,)},
    ),
    ApiRoute(
        method="GET",
        path="/api/v1/docs.css",
        handler=docs_style,
        summary="How the page looks.",
        roles=(),
        answers={200: (_CSS,)},
    ),
)
