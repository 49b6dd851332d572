"""A public map: what is typed about one, what it makes sensitive, and how it looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from onesided.lists import split_list
from onesided.server.api.datasets import show_dataset
from onesided.server.api.maps import check_map, map_drawing, proposed_drawing, show_map
from onesided.server.console.faults import fault_of
from onesided.server.console.page import ConsolePage, PageCall, Seen, Shown, refusal
from onesided.server.console.same import map_ways

if TYPE_CHECKING:
    from onesided.charts.picture import Picture

TEXTS = ("edges", "place", "time", "sensitive", "places", "rule", "slack", "gap", "outside")
_PREFIX = "map_"


def typed_map(call: PageCall) -> dict[str, str]:
    """What stands in the fields of a map, by their names."""
    names = (*TEXTS, "directed")
    return {f"{_PREFIX}{name}": call.text(f"{_PREFIX}{name}") for name in names}


def said_map(call: PageCall) -> dict[str, Any]:
    """The map as the API takes it; nothing where no edges are named."""
    said: dict[str, Any] = {name: text for name in TEXTS if (text := call.text(f"{_PREFIX}{name}"))}
    if "edges" not in said:
        return {}
    listed = split_list(said.get("sensitive", ""))
    if len(listed) > 1:
        said["sensitive"] = [each.strip() for each in listed]
    if call.text(f"{_PREFIX}directed"):
        said["directed"] = True
    return said


def live_map(call: PageCall) -> dict[str, Any]:
    """What a map does, while it is typed: from the map alone."""
    found: dict[str, Any] = {"map": None, "map_said": "", "map_fault": "", "map_drawn": ""}
    said = said_map(call)
    if not {"place", "time"} <= {*said}:
        return found
    policy = call.text("policy")
    asked = {**said, **({"policy": policy} if policy else {})}
    try:
        facts = call.api(check_map, asked)
        picture = proposed_drawing(call.call(), asked)
    except Exception as error:
        sentence = refusal(error, steward=True)
        return {**found, "map_said": sentence, "map_fault": fault_of(sentence, typed_map(call))}
    return {**found, "map": facts, "map_drawn": _svg(picture)}


def show(call: PageCall) -> Seen:
    """The map of a data set, for everybody who may see it."""
    facts = call.api(show_map)
    data = call.api(show_dataset)
    drawn = _svg(map_drawing(call.call()))
    known = {
        "data": data,
        "map": facts,
        "map_drawn": drawn,
        "ways": map_ways(call.served, data["name"]),
    }
    return Shown("map.html", known)


def _svg(picture: Picture | None) -> Markup:
    if picture is None:
        return Markup("")
    from onesided.charts.style import Theme

    return Markup(picture.svg(Theme.PAGE))


PAGES = (ConsolePage(path="/data/{dataset}/map", handler=show),)
