"""Asking: the price and the expected error stand beside a question while it is typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from onesided.server.api.datasets import me, show_dataset
from onesided.server.api.questions import ask
from onesided.server.console.analyst.planning import (
    best_mechanism,
    in_form,
    plan_for,
    planned,
)
from onesided.server.console.faults import fault_of, plainly
from onesided.server.console.forms import (
    BEST_ONE,
    MOST_KEYS,
    columns_of,
    keys_of,
    question,
    typed,
)
from onesided.server.console.kinds import KINDS, KindOfQuestion
from onesided.server.console.page import (
    ASKING,
    ConsolePage,
    MovedOn,
    PageCall,
    Seen,
    Shown,
    address,
    refusal,
)
from onesided.server.problems import Problem


def choose_kind(call: PageCall) -> Seen:
    facts = call.api(show_dataset)
    return Shown("ask.html", {"data": facts, "kinds": _allowed(call, facts["name"])})


def show_form(call: PageCall) -> Seen:
    """The form, empty or with what the address says, such as a SELECT to go on with."""
    return _form(replace(call, form={name: [text] for name, text in call.query.items()}), "")


def _allowed(call: PageCall, dataset: str) -> list[KindOfQuestion]:
    kinds = call.api(me)["rights"][dataset]["kinds"]
    return [each for name, each in KINDS.items() if kinds is None or name in kinds]


def live_plan(call: PageCall) -> Seen:
    facts = call.api(show_dataset)
    kind = _kind(call)
    return Shown("plan_live.html", planned(call, facts, kind))


def take_question(call: PageCall) -> Seen:
    if call.text("do") != "ask":
        return _form(call, "")
    facts = call.api(show_dataset)
    kind = _kind(call)
    try:
        body = question(call, facts, kind)
        if kind.has_mechanisms and call.text("mechanism", BEST_ONE) == BEST_ONE:
            body |= best_mechanism(plan_for(call, body))
        found = call.api(ask, body)
    except Exception as error:
        return _form(call, refusal(error, steward=call.who.is_steward))
    if found["job"] is not None:
        return MovedOn(address("questions", found["job"]["id"]))
    return MovedOn(page_of_release(facts["name"], found["release"]) + "?free=1")


def page_of_release(dataset: str, release: Mapping[str, Any]) -> str:
    """The page of what the API calls a release: stored, or computed from several."""
    url: str = release["url"]
    if "/answers/" in url:
        return address("data", dataset, "answers", url.rpartition("/")[2])
    return address("data", dataset, "releases", release["number"])


def _kind(call: PageCall) -> KindOfQuestion:
    found = KINDS.get(call.path["kind"])
    if found is None:
        raise Problem(404, "There is no such kind of question here.")
    return found


def _form(call: PageCall, refused: str) -> Seen:
    facts = call.api(show_dataset)
    kind = _kind(call)
    known = {
        "data": facts,
        "kind": kind,
        "typed": typed(call),
        "keys": keys_of(facts),
        "kinds": _allowed(call, facts["name"]),
        "columns": columns_of(facts),
        "places": range(MOST_KEYS),
        "refused": plainly(refused),
        "needs_approval": call.api(me)["rights"][facts["name"]]["needs_approval"],
        **planned(call, facts, kind),
    }
    if refused:
        known["fault"] = fault_of(refused, in_form(call, kind))
    return Shown("ask_kind.html", known, 400 if refused else 200)


PAGES = (
    ConsolePage(path="/data/{dataset}/ask", handler=choose_kind, roles=ASKING),
    ConsolePage(path="/data/{dataset}/ask/{kind}", handler=show_form, roles=ASKING),
    ConsolePage(
        path="/data/{dataset}/ask/{kind}", handler=take_question, method="POST", roles=ASKING
    ),
    ConsolePage(
        path="/data/{dataset}/ask/{kind}/plan", handler=live_plan, method="POST", roles=ASKING
    ),
)
