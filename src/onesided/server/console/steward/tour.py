"""A tour on the simulated building: the usual pages in five steps, filled in and explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onesided.errors import OnesidedError
from onesided.server.api.stewards import list_sources, look
from onesided.server.console.page import PageCall
from onesided.server.problems import Problem

FIELD = "tour"
SOURCE, NAME = "visits.parquet", "building"
UNIT: Sequence[str] = ("device", "day")
POLICY = "kind = 'smokers yard' OR opted_out"
_COLUMNS = {"device", "day", "ts", "ap", "room", "kind", "opted_out"}
STEPS: Mapping[str, str] = {
    "file": "This file holds a made-up building: who was seen at which Wi-Fi access point, and "
    "when. Somebody wants to publish it.",
    "unit": "Whoever is to be protected is one device on one day: all that it did that day is "
    "published together, or not at all.",
    "policy": "Most of the building is harmless. Sensitive is who was in the smokers' yard, or "
    "opted out. Everybody else's day may be published.",
    "publish": "All that will ever be told is bounded by one budget. Nothing was told so far: "
    "what you see here is for you alone.",
    "open": "The building is open. Publish true records of it, ask a question and see its price "
    "before you pay, or look at what an attacker would learn.",
}


def is_possible(call: PageCall) -> bool:
    """Whether the building is among the files that may be chosen."""
    if all(each["source"] != SOURCE for each in call.api(list_sources)["sources"]):
        return False
    try:
        columns = call.api(look, {"source": SOURCE})["columns"]
    except (OnesidedError, Problem):  # another file of this name
        return False
    return {each["name"] for each in columns} == _COLUMNS


def on_tour(call: PageCall) -> bool:
    """Whether this visit is a part of the tour."""
    return FIELD in call.query or bool(call.text(FIELD))


def told(call: PageCall, step: str) -> dict[str, Any]:
    """What the tour says on a page; nothing to those who are on their own."""
    if not on_tour(call):
        return {FIELD: None}
    place = list(STEPS).index(step) + 1
    return {FIELD: {"step": place, "steps": len(STEPS), "said": STEPS[step]}}
