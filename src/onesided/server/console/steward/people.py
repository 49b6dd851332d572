"""Who may ask: tokens, rights, and questions that wait for a decision."""

from __future__ import annotations

from typing import Any

from onesided.server.api.approvals import decide, list_approvals
from onesided.server.api.datasets import list_datasets
from onesided.server.api.people import add_token, list_tokens, revoke_token, set_rights, take_rights
from onesided.server.console.faults import fault_of
from onesided.server.console.forms import whole_number
from onesided.server.console.kinds import KINDS
from onesided.server.console.page import (
    ConsolePage,
    MovedOn,
    PageCall,
    Seen,
    Shown,
    refusal,
)
from onesided.server.console.wording import asked_in_words
from onesided.server.routing import STEWARD

USUAL_DAYS = "90"
_INPUTS = ("name", "days", "most_in_all", "most_per_release")
_AMOUNTS = ("most_in_all", "most_per_release", "least")


def show_people(call: PageCall) -> Seen:
    return _people(call)


def take_person(call: PageCall) -> Seen:
    """A token, with the right to a data set where one is named; the token is shown this once."""
    name, role, dataset = call.text("name"), call.text("role"), call.text("dataset")
    try:
        days = whole_number("The number of days", call.text("days", USUAL_DAYS))
        if role == "analyst" and dataset:
            call.api(set_rights, _rights(call), dataset=dataset, person=name)
        made = call.api(add_token, {"name": name, "role": role, "days": days})
    except Exception as error:
        said = refusal(error, steward=True)
        return _people(call, refused=said, fault=fault_of(said, dict.fromkeys(_INPUTS, "")))
    return _people(call, made=made)


def take_right(call: PageCall) -> Seen:
    place = {"dataset": call.text("dataset"), "person": call.text("name")}
    try:
        if call.text("do") == "take":
            call.api(take_rights, **place)
        else:
            call.api(set_rights, _rights(call), **place)
    except Exception as error:
        return _people(call, refused=refusal(error, steward=True))
    return MovedOn("/people")


def end_token(call: PageCall) -> Seen:
    try:
        call.api(revoke_token, token=call.text("id"))
    except Exception as error:
        return _people(call, refused=refusal(error, steward=True))
    return MovedOn("/people")


def take_decision(call: PageCall) -> Seen:
    said = {"decision": call.text("decision"), "why": call.text("why")}
    try:
        call.api(decide, said, job=call.text("job"))
    except Exception as error:
        return _people(call, refused=refusal(error, steward=True))
    return MovedOn("/people")


def _rights(call: PageCall) -> dict[str, Any]:
    found: dict[str, Any] = {name: call.text(name) for name in _AMOUNTS if call.text(name)}
    kinds = call.texts("kinds")
    if kinds:
        found["kinds"] = kinds
    return {**found, "needs_approval": bool(call.text("needs_approval"))}


def _people(
    call: PageCall, *, refused: str = "", fault: str = "", made: dict[str, Any] | None = None
) -> Seen:
    waiting = [
        {**each, "asked": asked_in_words(each["question"])}
        for each in call.api(list_approvals)["approvals"]
    ]
    tokens = [each for each in call.api(list_tokens)["tokens"] if each["purpose"] == "access"]
    names = ("name", "role", "dataset", "days", "needs_approval", *_AMOUNTS)
    return Shown(
        "people.html",
        {
            "waiting": waiting,
            "tokens": list(reversed(tokens)),
            "datasets": [each["name"] for each in call.api(list_datasets)["datasets"]],
            "kinds": KINDS.values(),
            "refused": refused,
            "fault": fault,
            "made": made,
            "typed": {name: "" if made else call.text(name) for name in names},
            "usual_days": USUAL_DAYS,
        },
        400 if refused else 200,
    )


PAGES = (
    ConsolePage(path="/people", handler=show_people, roles=(STEWARD,)),
    ConsolePage(path="/people", handler=take_person, method="POST", roles=(STEWARD,)),
    ConsolePage(path="/people/rights", handler=take_right, method="POST", roles=(STEWARD,)),
    ConsolePage(path="/people/end", handler=end_token, method="POST", roles=(STEWARD,)),
    ConsolePage(path="/people/decide", handler=take_decision, method="POST", roles=(STEWARD,)),
)
