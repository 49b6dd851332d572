"""Asking: the price and the expected error stand beside a question while it is typed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from onesided.errors import InputError
from onesided.loss import privacy_loss, show
from onesided.server.api.accounts import show_account
from onesided.server.api.datasets import me, plan, show_dataset
from onesided.server.api.questions import ask
from onesided.server.console.forms import (
    BEST_ONE,
    KINDS,
    MOST_KEYS,
    Body,
    KindOfQuestion,
    columns_of,
    keys_of,
    plan_of,
    question,
    typed,
)
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
from onesided.server.console.same import question_ways
from onesided.server.problems import Problem

BEST = 3
_SCALES = (("half the price", Fraction(1, 2)), ("twice the price", Fraction(2)))


def choose_kind(call: PageCall) -> Seen:
    facts = call.api(show_dataset)
    kinds = call.api(me)["rights"][facts["name"]]["kinds"]
    allowed = [each for name, each in KINDS.items() if kinds is None or name in kinds]
    return Shown("ask.html", {"data": facts, "kinds": allowed})


def show_form(call: PageCall) -> Seen:
    return _form(call, "")


def live_plan(call: PageCall) -> Seen:
    facts = call.api(show_dataset)
    kind = _kind(call)
    return Shown("plan.html", _planned(call, facts, kind))


def take_question(call: PageCall) -> Seen:
    if call.text("do") != "ask":
        return _form(call, "")
    facts = call.api(show_dataset)
    try:
        body = question(call, facts, _kind(call))
        if call.text("mechanism", BEST_ONE) == BEST_ONE:
            body |= _mechanism(_plan(call, body)) if body["kind"] == "count" else {}
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
        "columns": columns_of(facts),
        "places": range(MOST_KEYS),
        "refused": refused,
        "needs_approval": call.api(me)["rights"][facts["name"]]["needs_approval"],
        **_planned(call, facts, kind),
    }
    return Shown("ask_kind.html", known, 400 if refused else 200)


def _planned(call: PageCall, facts: Mapping[str, Any], kind: KindOfQuestion) -> dict[str, Any]:
    """What is shown beside a question before it is paid."""
    account = call.api(show_account)
    found: dict[str, Any] = {
        "said": "",
        "plan": None,
        "best": [],
        "chosen": None,
        "scaled": [],
        "ways": {},
        "left": account["left"],
        "budget": account["budget"],
        "own": account["own"],
        "mechanism": call.text("mechanism", BEST_ONE),
        "dataset": facts["name"],
        "planned_kind": kind.name,
    }
    try:
        body = question(call, facts, kind)
        if not body["epsilon"]:
            body["epsilon"] = typed(call)["epsilon"]
        planned = _plan(call, body)
    except Exception as error:
        found["said"] = refusal(error, steward=call.who.is_steward)
        found["untouched"] = not call.form
        return found
    best = [each for each in planned.get("options", []) if not each["refusal"]][:BEST]
    chosen = _chosen(planned, found["mechanism"])
    if found["mechanism"] == BEST_ONE and body["kind"] == "count":
        body |= _mechanism(planned)
    return {
        **found,
        "plan": planned,
        "best": [{**each, "error": error_of(each)} for each in best],
        "chosen": chosen,
        "error": None if chosen is None else error_of(chosen),
        "scaled": _scaled(call, body, chosen),
        "ways": question_ways(call.served, facts["name"], body),
        "untouched": False,
    }


def _plan(call: PageCall, body: Body) -> Body:
    """The plan of a question; where its bound on groups is to be found, none is missing."""
    planned: Body = call.api(plan, plan_of(body))
    if body.get("max_groups") != "auto":
        return planned
    found = planned["bounds"] is not None

    def free(option: Body) -> Body:
        waived = option["missing"] == "max_groups" and (found or option["mechanism"] == "auto")
        return {**option, "missing": ""} if waived else option

    options = sorted(map(free, planned["options"]), key=_exactness)
    return {**planned, "options": options}


def _exactness(option: Mapping[str, Any]) -> tuple[bool, float]:
    """What can be had comes first, the most exact of it before all."""
    error = error_of(option)
    can = option["fits"] and not option["missing"] and not option["refusal"]
    return not can, math.inf if error is None else error


def _chosen(planned: Mapping[str, Any], mechanism: str) -> Mapping[str, Any] | None:
    """The way that the question would be answered; of a free choice the best one to be had."""
    options = [each for each in planned.get("options", []) if not each["refusal"]]
    if mechanism != BEST_ONE:
        options = [each for each in options if each["mechanism"] == mechanism]
    ready = [each for each in options if not each["missing"]]
    return next(iter(ready or options), None)


def _mechanism(planned: Mapping[str, Any]) -> Body:
    """The best mechanism of a plan, as a question names it."""
    best = _chosen(planned, BEST_ONE)
    return {} if best is None or best["mechanism"] == "auto" else {"mechanism": best["mechanism"]}


def _scaled(call: PageCall, body: Body, chosen: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """What another ε would buy: the same question, cheaper and dearer."""
    if chosen is None or body["kind"] not in ("count", "sample"):
        return []
    found = []
    for name, scale in _SCALES:
        try:
            epsilon = show(privacy_loss(body["epsilon"]) * scale)
            planned = _plan(call, {**body, "epsilon": epsilon})
        except (InputError, Problem):
            continue
        other = _chosen(planned, chosen["mechanism"])
        if other is not None:
            found.append({"name": name, "epsilon": epsilon, "error": error_of(other)})
    return found


def error_of(option: Mapping[str, Any]) -> float | None:
    """The expected error of an option; where the number of groups is not known, for 100 of them."""
    one: float | None = option["expected_absolute_error_per_group"]
    if one is not None:
        return one
    several = option["expected_absolute_error_by_groups"]
    found: float | None = several.get("100", next(iter(several.values()), None))
    return found


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
