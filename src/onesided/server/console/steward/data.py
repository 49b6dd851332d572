"""A data set as its steward sees it: columns and findings, units, the policy, and the budget."""

from __future__ import annotations

from onesided.server.api.accounts import raise_budget
from onesided.server.api.datasets import open_snapshot, show_dataset
from onesided.server.api.stewards import check_dataset, check_policy
from onesided.server.console.analyst.datasets import spending
from onesided.server.console.faults import fault_of
from onesided.server.console.page import (
    ConsolePage,
    MovedOn,
    PageCall,
    Seen,
    Shown,
    address,
    refusal,
)
from onesided.server.console.same import relaxes_ways
from onesided.server.console.steward.attackers import odds_of
from onesided.server.routing import STEWARD


def show_check(call: PageCall) -> Seen:
    facts = call.api(show_dataset)
    return Shown("check.html", {"data": facts, "checked": call.api(check_dataset), "refused": ""})


def open_anew(call: PageCall) -> Seen:
    """Serve the data as they are now."""
    source = call.text("source")
    try:
        call.api(open_snapshot, {"source": source} if source else {})
    except Exception as error:
        facts = call.api(show_dataset)
        known = {"data": facts, "checked": call.api(check_dataset)}
        refused = refusal(error, steward=True)
        return Shown("check.html", {**known, "refused": refused}, 400)
    return MovedOn(address("data", call.path["dataset"]))


def show_unit(call: PageCall) -> Seen:
    return Shown("unit.html", {"data": call.api(show_dataset), "checked": call.api(check_dataset)})


def show_policy(call: PageCall) -> Seen:
    return _policy(call)


def compare_policy(call: PageCall) -> Seen:
    return _policy(call)


def _policy(call: PageCall) -> Seen:
    facts = call.api(show_dataset)
    other = call.text("policy")
    found, said = None, ""
    if other:
        body = {"policy": other, "dataset": facts["name"], "than": facts["policy"]}
        try:
            found = call.api(check_policy, body)
        except Exception as error:
            said = refusal(error, steward=True)
    return Shown(
        "policy.html",
        {
            "data": facts,
            "other": other,
            "found": found,
            "said": said,
            "ways": relaxes_ways(other or "…", facts["policy"]),
            **odds_of(call, facts["name"]),
        },
    )


def show_budget(call: PageCall) -> Seen:
    return _budget(call, "")


def take_budget(call: PageCall) -> Seen:
    try:
        call.api(raise_budget, {"budget": call.text("budget"), "why": call.text("why")})
    except Exception as error:
        return _budget(call, refusal(error, steward=True))
    return MovedOn(address("data", call.path["dataset"], "budget"))


def _budget(call: PageCall, refused: str) -> Seen:
    facts = call.api(show_dataset)
    known = {
        "data": facts,
        "account": spending(call, facts["name"]),
        "refused": refused,
        "fault": fault_of(refused, {"budget": "", "why": ""}) if refused else "",
        "typed": {"budget": call.text("budget"), "why": call.text("why")},
    }
    return Shown("budget.html", known, 400 if refused else 200)


PAGES = (
    ConsolePage(path="/data/{dataset}/check", handler=show_check, roles=(STEWARD,)),
    ConsolePage(path="/data/{dataset}/check", handler=open_anew, method="POST", roles=(STEWARD,)),
    ConsolePage(path="/data/{dataset}/unit", handler=show_unit, roles=(STEWARD,)),
    ConsolePage(path="/data/{dataset}/policy", handler=show_policy, roles=(STEWARD,)),
    ConsolePage(
        path="/data/{dataset}/policy", handler=compare_policy, method="POST", roles=(STEWARD,)
    ),
    ConsolePage(path="/data/{dataset}/budget", handler=show_budget, roles=(STEWARD,)),
    ConsolePage(
        path="/data/{dataset}/budget", handler=take_budget, method="POST", roles=(STEWARD,)
    ),
)
