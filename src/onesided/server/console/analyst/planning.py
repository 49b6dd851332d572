"""What stands beside a question before it is paid: its price, its error, and other ways."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from onesided.data.planned.plan import Plan
from onesided.data.planned.sample import SamplePlan
from onesided.loss import privacy_loss, show
from onesided.server.api.accounts import show_account
from onesided.server.api.datasets import plan
from onesided.server.api.datasets import planned as planned_there
from onesided.server.console.as_sql import as_sql
from onesided.server.console.faults import fault_of, is_empty_yet, plainly
from onesided.server.console.forms import BEST_ONE, Body, plan_of, question, typed
from onesided.server.console.kinds import KindOfQuestion
from onesided.server.console.page import PageCall, refusal
from onesided.server.console.same import question_ways

BEST = 3
_SCALES = (("half the price", Fraction(1, 2)), ("twice the price", Fraction(2)))


def planned(call: PageCall, facts: Mapping[str, Any], kind: KindOfQuestion) -> dict[str, Any]:
    """What is shown beside a question before it is paid."""
    account = call.api(show_account)
    found: dict[str, Any] = {
        "said": "",
        "fault": "",
        "plan": None,
        "best": [],
        "chosen": None,
        "error": None,
        "scaled": [],
        "ways": {},
        "sql": "",
        "plan_epsilon": "",
        "plan_bound": "",
        "left": account["left"],
        "budget": account["budget"],
        "own": account["own"],
        "mechanism": call.text("mechanism", BEST_ONE),
        "dataset": facts["name"],
        "kind": kind,
        "untouched": False,
    }
    try:
        body = question(call, facts, kind)
        body["epsilon"] = body["epsilon"] or typed(call)["epsilon"]
        if not kind.planned:
            return found | _unplanned(call, facts, body)
        made = _plan(call, body)
    except Exception as error:
        said = refusal(error, steward=call.who.is_steward)
        at = "" if is_empty_yet(said) else fault_of(said, in_form(call, kind))
        return {**found, "said": plainly(said), "fault": at, "untouched": not call.form}
    return found | _shown(call, facts, kind, body, made)


def in_form(call: PageCall, kind: KindOfQuestion) -> dict[str, Any]:
    """What stands in the fields of this form alone."""
    known = typed(call)
    return {name: known[name] for name in (*kind.inputs, "epsilon", "purpose")}


def _unplanned(call: PageCall, facts: Mapping[str, Any], body: Body) -> dict[str, Any]:
    """The price of what cannot be planned: the whole ε, until it was asked once."""
    price = show(privacy_loss(body["epsilon"]))
    ways = question_ways(call.served, facts["name"], body)
    return {"ways": ways, "plan": {"cost": price, "supposed_from": []}}


def _shown(
    call: PageCall,
    facts: Mapping[str, Any],
    kind: KindOfQuestion,
    body: Body,
    made: Plan | SamplePlan,
) -> dict[str, Any]:
    known = _ready(made, body)
    best = [each for each in known.get("options", []) if not each["refusal"]][:BEST]
    mechanism = call.text("mechanism", BEST_ONE)
    chosen = _chosen(known, mechanism)
    if mechanism == BEST_ONE and kind.has_mechanisms:
        body |= best_mechanism(known)
    sql = as_sql(body, facts["unit"])
    ways = question_ways(call.served, facts["name"], body)
    return {
        "plan": known,
        "best": [{**each, "error": error_of(each)} for each in best],
        "chosen": chosen,
        "error": None if chosen is None else error_of(chosen),
        "scaled": _scaled(made, body, chosen),
        "sql": sql,
        "plan_epsilon": body["epsilon"],
        "plan_bound": _bound(body),
        "ways": ways,
    }


def _bound(body: Body) -> Any:
    """The bound on groups as a SELECT takes it: there is none to be found for it."""
    bound = body.get("max_groups", "")
    return "" if bound == "auto" else bound


def plan_for(call: PageCall, body: Body) -> Body:
    """The plan of a question; where its bound on groups is to be found, none is missing."""
    return _ready(_plan(call, body), body)


def _plan(call: PageCall, body: Body) -> Plan | SamplePlan:
    return planned_there(call.request_to(plan, plan_of(body)))


def _ready(made: Plan | SamplePlan, body: Body) -> Body:
    known = made.to_json()
    if body.get("max_groups") != "auto":
        return known
    found = known["bounds"] is not None

    def free(option: Body) -> Body:
        waived = option["missing"] == "max_groups" and (found or option["mechanism"] == "auto")
        return {**option, "missing": ""} if waived else option

    options = sorted(map(free, known["options"]), key=_exactness)
    return {**known, "options": options}


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


def best_mechanism(known: Mapping[str, Any]) -> Body:
    """The best mechanism of a plan, as a question names it."""
    best = _chosen(known, BEST_ONE)
    return {} if best is None or best["mechanism"] == "auto" else {"mechanism": best["mechanism"]}


def _scaled(
    made: Plan | SamplePlan, body: Body, chosen: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    """What another ε would buy: the same question, cheaper and dearer."""
    if chosen is None or not isinstance(made, Plan) or made.error_at is None:
        return []
    row = next(each for each in made.rows if each.mechanism == chosen["mechanism"])
    found = []
    for name, scale in _SCALES:
        epsilon = privacy_loss(body["epsilon"]) * scale
        error = made.error_at(row, row.epsilon * scale)
        found.append({"name": name, "epsilon": show(epsilon), "error": error})
    return found


def error_of(option: Mapping[str, Any]) -> float | None:
    """The expected error of an option; where the number of groups is not known, for 100 of them."""
    one: float | None = option["expected_absolute_error_per_group"]
    if one is not None:
        return one
    several = option["expected_absolute_error_by_groups"]
    found: float | None = several.get("100", next(iter(several.values()), None))
    return found
