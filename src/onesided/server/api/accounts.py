"""The account of a data set, which all share; the ledger's export; and budgets that are raised."""

from __future__ import annotations

from typing import Any

from onesided.ledger import ChargeState
from onesided.ledger.base import LONGEST_PURPOSE
from onesided.loss import privacy_budget, show
from onesided.server.fields import AMOUNT, BodyType, TextType
from onesided.server.routing import AUDITOR, STEWARD, ApiCall, ApiRoute, Reply
from onesided.server.schemas import ANYTHING, TEXT_SCHEMA, answer
from onesided.session.statement import statement_of


def show_account(call: ApiCall) -> Reply:
    hosted = call.dataset
    desk, name = call.served.desk, call.caller.name
    rights = call.caller.rights(desk, hosted.account_name)
    most = None if rights is None else rights.most_in_all
    said: dict[str, Any] = statement_of(hosted.data.kernel().account).to_json()
    hidden = desk.hidden(hosted.account_name)
    for charge in said["charges"]:
        if charge["entry"] in hidden:
            charge["state"] = ChargeState.OPEN.value
    said["own"] = {
        "spent": show(desk.spent(hosted.account_name, name)),
        "most_in_all": None if most is None else show(most),
    }
    return Reply(said)


def raise_budget(call: ApiCall) -> Reply:
    budget = privacy_budget(call.body["budget"])
    account = call.dataset.data.kernel().account
    raised = account.raise_budget(budget, who=call.caller.name, why=call.body["why"])
    return Reply({"budget": show(raised.budget)}, log={"budget": show(raised.budget)})


def show_ledger(call: ApiCall) -> Reply:
    return Reply(call.served.ledger.export())


def verify_ledger(call: ApiCall) -> Reply:
    found = call.served.ledger.verify()
    return Reply(
        {
            "ok": found.ok,
            "problem": found.problem,
            "first_bad": found.first_bad,
            "head": {"entries": found.head.entries, "hash": found.head.hash},
        }
    )


_BUDGET = {"budget": TEXT_SCHEMA, "spent": TEXT_SCHEMA, "left": TEXT_SCHEMA}
ROUTES = (
    ApiRoute(
        method="GET",
        path="/api/v1/datasets/{dataset}/account",
        handler=show_account,
        summary="What all releases together have cost, what is left, and one's own share.",
        answers={200: answer(*_BUDGET, "own", "charges", **_BUDGET, own=ANYTHING)},
    ),
    ApiRoute(
        method="POST",
        path="/api/v1/datasets/{dataset}/budget",
        handler=raise_budget,
        summary="Raise the budget; the ledger keeps who did it and why.",
        roles=(STEWARD,),
        body=BodyType({"budget": AMOUNT, "why": TextType(LONGEST_PURPOSE, 1)}, ("budget", "why")),
        answers={200: answer("budget", budget=TEXT_SCHEMA)},
    ),
    ApiRoute(
        method="GET",
        path="/api/v1/ledger",
        handler=show_ledger,
        summary="The ledger's export for an audit.",
        roles=(STEWARD, AUDITOR),
        answers={200: ANYTHING},
    ),
    ApiRoute(
        method="GET",
        path="/api/v1/ledger/verification",
        handler=verify_ledger,
        summary="Whether the ledger is whole, and its head.",
        roles=(STEWARD, AUDITOR),
        answers={200: answer("ok", "head", ok={"type": "boolean"}, head=ANYTHING)},
    ),
)
