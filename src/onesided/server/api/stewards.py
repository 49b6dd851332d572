"""For stewards: files to choose from, policies while they are written, and new data sets."""

from __future__ import annotations

from typing import Any

from onesided.errors import LedgerError, RequestError, SourceError
from onesided.language import Schema
from onesided.loss import privacy_budget, show
from onesided.policy import Policy
from onesided.server.api.maps import MAP, map_arguments
from onesided.server.fields import AMOUNT, CELL, BodyType, ListType, MapType, TextType, texts
from onesided.server.problems import Problem
from onesided.server.routing import STEWARD, ApiCall, ApiRoute, Reply
from onesided.server.schemas import ANYTHING, NUMBER_SCHEMA, TEXT_SCHEMA, answer, listing
from onesided.server.sources import allowed_source, files_in, schema_below
from onesided.session.opening import open_dataset

_LONGEST_NAME = 60
_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def list_sources(call: ApiCall) -> Reply:
    return Reply({"sources": files_in(call.served.config.sources)})


def look(call: ApiCall) -> Reply:
    """The columns of a file; what is in them is not shown."""
    return Reply({"columns": _columns(_schema(call))})


def check_source(call: ApiCall) -> Reply:
    """What should be looked at before a file is published under a unit and a policy."""
    source = allowed_source(call.body["source"], call.served.config.sources)
    try:
        with open_dataset(
            source, unit=call.body["unit"], policy=call.body["policy"], budget=1, **_map(call)
        ) as opened:
            return Reply(opened.check().to_json())
    except SourceError as error:
        raise Problem(400, str(error), "SourceError") from None


def check_dataset(call: ApiCall) -> Reply:
    """The same for the state of a data set that is served; the ledger keeps that it was done."""
    return Reply(call.dataset.check(call.caller.name).to_json())


def check_policy(call: ApiCall) -> Reply:
    """Whether a text is a policy for some columns, and whether it relaxes another one."""
    schema = _schema(call)
    policy = Policy(call.body["policy"])
    bound = policy.bind(schema)
    found: dict[str, Any] = {"policy": bound.sql, "columns": list(bound.columns)}
    if "than" in call.body:
        verdict = policy.relaxes(Policy(call.body["than"]), schema)
        row = verdict.counterexample
        found |= {
            "relaxes": verdict.verdict.value,
            "reason": verdict.reason,
            "counterexample": None
            if row is None
            else {name: None if each is None else str(each) for name, each in row.items()},
        }
    return Reply(found)


def add_dataset(call: ApiCall) -> Reply:
    """Describe a data set in the server's file, open it, and serve it."""
    body = call.body
    name = body["name"]
    if not set(name) <= _SIGNS:
        raise RequestError("The name of a data set has letters of ASCII, digits, _ and - alone.")
    if name in call.served.datasets:
        raise Problem(409, f"There is a data set {name} already.")
    table: dict[str, Any] = {
        "source": allowed_source(body["source"], call.served.config.sources),
        "unit": body["unit"],
        "policy": body["policy"],
        "budget": show(privacy_budget(body["budget"])),
        "ledger": call.served.config.ledger,
        **_map(call),
    }
    if body.get("domains"):
        table["domains"] = body["domains"]
    try:
        hosted = call.served.add(name, table)
    except LedgerError as error:
        raise Problem(409, str(error), "LedgerError") from None
    except SourceError as error:
        raise Problem(400, str(error), "SourceError") from None
    said = {"name": name, "units": hosted.data.units, "url": f"/api/v1/datasets/{name}"}
    return Reply(said, 201, {"Location": said["url"]}, log={"added": name})


def _map(call: ApiCall) -> dict[str, Any]:
    return {"map": map_arguments(call, call.body["map"])} if "map" in call.body else {}


def _schema(call: ApiCall) -> Schema:
    """The columns of a data set that is served, or of a file that may be chosen."""
    if call.body.get("dataset"):
        hosted = call.served.dataset(call.body["dataset"], call.caller)
        return hosted.data.facts.schema
    if not call.body.get("source"):
        raise RequestError("Name a source or a data set.")
    try:
        return schema_below(call.body["source"], call.served.config.sources)
    except SourceError as error:
        raise Problem(400, str(error), "SourceError") from None
    except OSError:
        raise RequestError("The source cannot be read.") from None


def _columns(schema: Schema) -> list[dict[str, str]]:
    return [{"name": name, "type": each.type.value} for name, each in schema.fields]


_SOURCE, _POLICY = TextType(1000, 1), TextType(20_000, 1)
_COLUMNS = listing("columns", answer("name", "type", name=TEXT_SCHEMA, type=TEXT_SCHEMA))
ROUTES = (
    ApiRoute(
        method="GET",
        path="/api/v1/sources",
        handler=list_sources,
        summary="The files that a data set can be made of.",
        roles=(STEWARD,),
        answers={200: listing("sources", answer("source", source=TEXT_SCHEMA))},
    ),
    ApiRoute(
        method="POST",
        path="/api/v1/sources/columns",
        handler=look,
        summary="The columns of such a file.",
        roles=(STEWARD,),
        body=BodyType({"source": _SOURCE}, ("source",)),
        answers={200: _COLUMNS},
    ),
    ApiRoute(
        method="POST",
        path="/api/v1/sources/check",
        handler=check_source,
        summary="What to look at before such a file is published.",
        roles=(STEWARD,),
        body=BodyType(
            {"source": _SOURCE, "unit": texts(), "policy": _POLICY, "map": MAP},
            ("source", "unit", "policy"),
        ),
        answers={200: ANYTHING},
    ),
    ApiRoute(
        method="POST",
        path="/api/v1/policies",
        handler=check_policy,
        summary="Whether a text is a policy, and whether it relaxes another one.",
        roles=(STEWARD,),
        body=BodyType(
            {
                "policy": _POLICY,
                "source": _SOURCE,
                "dataset": TextType(1000, 1),
                "than": _POLICY,
            },
            ("policy",),
        ),
        answers={200: answer("policy", policy=TEXT_SCHEMA)},
        refusals=(404,),
    ),
    ApiRoute(
        method="POST",
        path="/api/v1/datasets",
        handler=add_dataset,
        summary="Serve one more data set.",
        roles=(STEWARD,),
        body=BodyType(
            {
                "name": TextType(_LONGEST_NAME, 1),
                "source": _SOURCE,
                "unit": texts(),
                "policy": _POLICY,
                "budget": AMOUNT,
                "domains": MapType(ListType(CELL)),
                "map": MAP,
            },
            ("name", "source", "unit", "policy", "budget"),
        ),
        answers={201: answer("name", name=TEXT_SCHEMA, units=NUMBER_SCHEMA)},
        refusals=(409,),
    ),
    ApiRoute(
        method="GET",
        path="/api/v1/datasets/{dataset}/check",
        handler=check_dataset,
        summary="What a steward should look at in the state that is served.",
        roles=(STEWARD,),
        answers={200: ANYTHING},
    ),
)
