"""Public maps: what one makes sensitive, before a data set has it and afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from onesided.errors import SourceError
from onesided.maps import ClosedMap
from onesided.policy import Policy
from onesided.server.fields import (
    AMOUNT,
    FLAG,
    BodyType,
    TextType,
    one_of,
    texts,
)
from onesided.server.problems import Problem
from onesided.server.routing import STEWARD, ApiCall, ApiRoute, Reply
from onesided.server.schemas import NUMBER_SCHEMA, TEXT_SCHEMA, answer
from onesided.server.sources import allowed_source
from onesided.session.maps import declared_map, map_facts

if TYPE_CHECKING:
    from onesided.charts.picture import Picture

_FILES = ("edges", "places")
_SOURCE, _NAME = TextType(1000, 1), TextType(500, 1)
MAP = BodyType(
    {
        "edges": _SOURCE,
        "place": _NAME,
        "time": _NAME,
        "sensitive": texts(5000),
        "places": _SOURCE,
        "rule": one_of(("certain", "quickest")),
        "slack": AMOUNT,
        "gap": AMOUNT,
        "outside": _NAME,
        "directed": FLAG,
    },
    ("edges", "place", "time"),
    "A map",
)


def map_arguments(call: ApiCall, said: Mapping[str, Any]) -> dict[str, Any]:
    """A map as a file of descriptions has it; its files lie where stewards may choose."""
    folders = call.served.config.sources
    given = {name: str(each) if isinstance(each, Decimal) else each for name, each in said.items()}
    return {
        **given,
        **{name: allowed_source(given[name], folders) for name in _FILES if name in given},
    }


def check_map(call: ApiCall) -> Reply:
    """What follows from a map alone; no data are read."""
    return Reply(map_facts(_proposed(call, call.body)).to_json())


def proposed_drawing(call: ApiCall, said: Mapping[str, Any]) -> Picture | None:
    """Such a map, drawn; None where it has too many places."""
    return _drawn(_proposed(call, said))


def _proposed(call: ApiCall, said: Mapping[str, Any]) -> ClosedMap:
    """A map with its sensitive places found, as a data set would have it."""
    given = {name: each for name, each in said.items() if name != "policy"}
    policy = said.get("policy")
    try:
        declared = declared_map(map_arguments(call, given))
        assert declared is not None
        return declared.closed(None if policy is None else Policy(policy))
    except SourceError as error:
        raise Problem(400, str(error), "SourceError") from None


def show_map(call: ApiCall) -> Reply:
    return Reply(map_facts(_map_of(call)).to_json())


def map_drawing(call: ApiCall) -> Picture | None:
    """The map of a data set, drawn; None where it has too many places."""
    return _drawn(_map_of(call))


def _drawn(closed: ClosedMap) -> Picture | None:
    try:
        from onesided.charts.maps import walked_picture
    except ImportError:  # charts are not installed
        return None
    return walked_picture("The map, by how long each way takes", closed)


def _map_of(call: ApiCall) -> ClosedMap:
    found = call.dataset.data.facts.map
    if found is None:
        raise Problem(404, "This data set has no map.")
    return found.closed


_FACTS = answer("id", "places", "said", id=TEXT_SCHEMA, places=NUMBER_SCHEMA, said=TEXT_SCHEMA)
ROUTES = (
    ApiRoute(
        method="POST",
        path="/api/v1/maps",
        handler=check_map,
        summary="What a public map makes sensitive; no data are read.",
        roles=(STEWARD,),
        body=BodyType({**MAP.fields, "policy": TextType(20_000, 1)}, MAP.required, MAP.called),
        answers={200: _FACTS},
    ),
    ApiRoute(
        method="GET",
        path="/api/v1/datasets/{dataset}/map",
        handler=show_map,
        summary="What the map of a data set makes sensitive.",
        answers={200: _FACTS},
    ),
)
