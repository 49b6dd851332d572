"""A new data set, one question to a page: which file, who is one record, who is sensitive."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from onesided.server.api.stewards import (
    add_dataset,
    check_policy,
    check_source,
    list_sources,
    look,
)
from onesided.server.console.faults import fault_of, plainly
from onesided.server.console.page import (
    ConsolePage,
    MovedOn,
    PageCall,
    Seen,
    Shown,
    address,
    refusal,
)
from onesided.server.console.steward import tour
from onesided.server.console.steward.maps import live_map, said_map, typed_map
from onesided.server.console.steward.tour import on_tour, told
from onesided.server.routing import STEWARD

USUAL_BUDGET = "2"
ROWS = "rows"
_STEPS = ("file", "unit", "policy", "publish")


def choose_file(call: PageCall) -> Seen:
    return _file(call, "")


def take_step(call: PageCall) -> Seen:
    """Check what was said on one page, and show the next; what was said travels in the form."""
    step = call.text("step")
    back = call.text("back")
    try:
        columns = call.api(look, {"source": call.text("source")})["columns"]
    except Exception as error:
        return _file(call, refusal(error, steward=True))
    chosen = _chosen(call, columns)
    if back in _STEPS:
        return _page(back, call, chosen, "")
    try:
        return _next(step, call, chosen)
    except Exception as error:
        return _page(step, call, chosen, refusal(error, steward=True))


def live_policy(call: PageCall) -> Seen:
    """What is to be said of a policy and of a map while they are typed."""
    return Shown("policy_live.html", {**_said_of(call, call.text("policy")), **live_map(call)})


def _said_of(call: PageCall, policy: str) -> dict[str, Any]:
    """How a policy is understood, or what is wrong with it."""
    found: dict[str, Any] = {"found": None, "said": ""}
    if not policy:
        return found
    try:
        said = call.api(check_policy, {"policy": policy, "source": call.text("source")})
    except Exception as error:
        return {**found, "said": refusal(error, steward=True)}
    return {**found, "found": said}


def _next(step: str, call: PageCall, chosen: Mapping[str, Any]) -> Seen:
    if step == "file":
        return _page("unit", call, chosen, "")
    if step == "unit":
        if not chosen["unit"]:
            said = "Say what names one record, or that each row is one."
            return _page("unit", call, chosen, said)
        return _page("policy", call, chosen, "")
    described = _described(chosen)
    if step == "policy":
        if not chosen["policy"]:
            return _page("policy", call, chosen, "Say who is to be protected.")
        return _page("publish", call, {**chosen, "checked": call.api(check_source, described)}, "")
    made = call.api(add_dataset, {**described, "name": chosen["name"], "budget": chosen["budget"]})
    return MovedOn(address("data", made["name"]) + ("?new=1&tour=1" if on_tour(call) else "?new=1"))


def _chosen(call: PageCall, columns: list[dict[str, str]]) -> dict[str, Any]:
    """What was said so far, with what is usual."""
    unit: Any = call.texts("unit")
    source = call.text("source")
    policy, name = call.text("policy"), call.text("name")
    if on_tour(call) and source == tour.SOURCE:
        unit = unit or list(tour.UNIT)
        policy, name = policy or tour.POLICY, name or tour.NAME
    return {
        "source": source,
        "columns": columns,
        "unit": ROWS if ROWS in unit else unit,
        "policy": policy,
        "budget": call.text("budget", USUAL_BUDGET),
        "name": name or _usual_name(source),
        "checked": None,
        "map": {} if ROWS in unit else said_map(call),
        "typed_map": typed_map(call),
    }


def _usual_name(source: str) -> str:
    stem = PurePath(source).name.partition(".")[0]
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-")[:60] or "data"


def _page(step: str, call: PageCall, chosen: Mapping[str, Any], refused: str) -> Seen:
    if step not in _STEPS or step == "file":
        return _file(call, refused)
    facts = {**chosen, "refused": refused, "step": _STEPS.index(step) + 1, **told(call, step)}
    if step == "publish" and chosen["checked"] is None:
        facts["checked"] = call.api(check_source, _described(chosen))
    if step == "policy":
        facts |= {**_said_of(call, chosen["policy"]), **live_map(call)}
        facts["sources"] = [each["source"] for each in call.api(list_sources)["sources"]]
    inputs = {"policy": chosen["policy"], **chosen["typed_map"]}
    facts["fault"] = fault_of(refused, _INPUTS.get(step, inputs)) if refused else ""
    facts["refused"] = plainly(refused)
    return Shown(f"new_{step}.html", facts, 400 if refused else 200)


_INPUTS = {"unit": {"unit": ""}, "publish": {"budget": "", "name": ""}}


def _described(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """What was said, as the API takes it."""
    names = ("source", "unit", "policy", *(["map"] if chosen["map"] else []))
    return {name: chosen[name] for name in names}


def _file(call: PageCall, refused: str) -> Seen:
    facts = {
        "sources": call.api(list_sources)["sources"],
        "refused": refused,
        "chosen": call.text("source", tour.SOURCE if on_tour(call) else ""),
        "tour_possible": tour.is_possible(call),
        **told(call, "file"),
    }
    return Shown("new_file.html", facts, 400 if refused else 200)


PAGES = (
    ConsolePage(path="/new", handler=choose_file, roles=(STEWARD,)),
    ConsolePage(path="/new", handler=take_step, method="POST", roles=(STEWARD,)),
    ConsolePage(path="/new/policy", handler=live_policy, method="POST", roles=(STEWARD,)),
)
