"""The data sets and their public facts; plans; and the new states that stewards open."""

from __future__ import annotations

from typing import Any

from onesided.data.planned.plan import Plan
from onesided.data.planned.sample import SamplePlan
from onesided.errors import LedgerError, SourceError
from onesided.ledger.desk import JobState
from onesided.mechanisms.rr import RandomizedResponse
from onesided.server.fields import BodyType, TextType
from onesided.server.hosted import HostedDataset
from onesided.server.problems import Problem
from onesided.server.questions import FIELDS, PLAN, arguments
from onesided.server.routing import ANALYST, STEWARD, ApiCall, ApiRoute, Reply
from onesided.server.schemas import (
    ANYTHING,
    NUMBER_SCHEMA,
    OPTIONAL_TEXT,
    TEXT_SCHEMA,
    answer,
    listing,
)
from onesided.session.facts import DatasetFacts
from onesided.session.frozen import FrozenDataset
from onesided.session.maps import map_notes
from onesided.session.planning.options import counting_names
from onesided.session.scope import policy_text
from onesided.session.zones import zone_terms
from onesided.version import __version__


def root(call: ApiCall) -> Reply:
    return Reply({"name": "onesided", "version": __version__, "datasets_url": "/api/v1/datasets"})


def me(call: ApiCall) -> Reply:
    who = call.caller
    found = {
        name: rights_json(rights)
        for name, each in call.served.datasets.items()
        if (rights := who.rights(call.served.desk, each.account_name)) is not None
    }
    said = {"name": who.name, "role": who.role.value, "rights": found}
    return Reply({**said, "csrf": who.csrf} if who.csrf else said)


def rights_json(rights: Any) -> dict[str, Any]:
    """What somebody may do with a data set; null is no limit."""

    def shown(value: Any) -> str | None:
        return None if value is None else str(value)

    return {
        "kinds": None if rights.kinds is None else sorted(rights.kinds),
        "most_per_release": shown(rights.most_per_release),
        "most_in_all": shown(rights.most_in_all),
        "least": shown(rights.least),
        "needs_approval": rights.needs_approval,
    }


def list_datasets(call: ApiCall) -> Reply:
    found = []
    for name, each in call.served.datasets.items():
        if call.caller.rights(call.served.desk, each.account_name) is None:
            continue
        try:
            facts = each.data.facts
        except Problem:
            found.append({"name": name, "open": False})
            continue
        found.append(
            {
                "name": name,
                "open": True,
                "units": facts.units,
                "unit": [] if facts.unit.is_row else list(facts.unit.columns),
                "policy": policy_text(facts.policy),
                "columns": len(facts.schema),
            }
        )
    return Reply({"datasets": found})


def show_dataset(call: ApiCall) -> Reply:
    hosted = call.dataset
    data = hosted.data
    found = {
        "name": hosted.name,
        **facts_json(data),
        "mechanisms": [*counting_names(), RandomizedResponse.name],
        "deadlines": {kind: _seconds(call, kind, data) for kind in FIELDS},
    }
    if call.caller.is_steward:
        found["notes"] = hosted.notes
    return Reply(found)


def facts_json(data: FrozenDataset) -> dict[str, Any]:
    """What everybody may know of a data set."""
    facts: DatasetFacts = data.facts
    return {
        "unit": [] if facts.unit.is_row else list(facts.unit.columns),
        "units": facts.units,
        "policy": policy_text(facts.policy),
        "columns": [{"name": name, "type": each.type.value} for name, each in facts.schema.fields],
        "domains": {name: list(map(cell_json, each)) for name, each in facts.domains.items()},
        "lookups": [
            {"name": each.name, "columns": list(each.columns), "units": facts.promised[each.name]}
            for each in facts.lookups
        ],
        "public": [
            {
                "name": name,
                "columns": [
                    {"name": column, "type": each.type.value}
                    for column, each in table.schema.fields
                ],
            }
            for name, table in facts.public.items()
        ],
        "withheld": sorted(facts.withheld.columns),
        "partition_by": list(facts.partition_by),
        "map": list(map_notes(facts.map)),
        "time_zone": zone_terms(facts.schema).get("time_zones"),
        "snapshot": data.kernel().snapshot.number,
        "promise": "One account counts the releases of all who ask together: caps are shares of "
        "it, and no budgets of their own.",
    }


def cell_json(value: Any) -> Any:
    """A value of a column as requests say it."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    kind = type(value).__name__
    tag = {"date": "date", "datetime": "timestamp"}.get(kind)
    return {tag or "decimal": value.isoformat() if tag else str(value)}


def _seconds(call: ApiCall, kind: str, data: FrozenDataset) -> float | None:
    length = call.served.config.deadlines.length(kind, data.units)
    return None if length is None else length.total_seconds()


def plan(call: ApiCall) -> Reply:
    return Reply(planned(call).to_json(), log={"kind": call.body["kind"]})


def planned(call: ApiCall) -> Plan | SamplePlan:
    """The plan as Python has it, which knows its errors at every other ε as well."""
    hosted = call.dataset
    kind = call.body["kind"]
    rights = call.caller.rights(call.served.desk, hosted.account_name)
    if rights is not None and rights.kinds is not None and kind not in rights.kinds:
        raise Problem(403, f"You may not ask questions of the kind {kind} here.")
    given = {name: each for name, each in call.body.items() if name != "kind"}
    found: Plan | SamplePlan = getattr(hosted.data.plan, kind)(**arguments(kind, given))
    return found


def open_snapshot(call: ApiCall) -> Reply:
    hosted = call.dataset
    with hosted.opening():
        return _opened(call, hosted)


def _opened(call: ApiCall, hosted: HostedDataset) -> Reply:
    open_jobs = call.served.desk.jobs(dataset=hosted.account_name, states=[JobState.ACCEPTED])
    if open_jobs:
        ends = max(each.deadline or each.asked for each in open_jobs)
        raise Problem(
            409,
            f"{len(open_jobs):,} questions run on the state of now; open the new one after "
            f"{ends.isoformat(timespec='seconds')}.",
        )
    try:
        number = hosted.open_state(call.body.get("source"))
    except LedgerError as error:
        raise Problem(409, str(error), "LedgerError") from None
    except SourceError as error:
        raise Problem(400, str(error), "SourceError") from None
    return Reply({"snapshot": number, "units": hosted.data.units}, log={"snapshot": number})


_FACTS = answer(
    *("name", "unit", "units", "policy", "columns", "snapshot", "deadlines"),
    name=TEXT_SCHEMA,
    unit={"type": "array", "items": TEXT_SCHEMA},
    units=NUMBER_SCHEMA,
    policy=TEXT_SCHEMA,
    columns={"type": "array", "items": answer("name", "type", name=TEXT_SCHEMA, type=TEXT_SCHEMA)},
    snapshot=NUMBER_SCHEMA,
    deadlines=ANYTHING,
)
ROUTES = (
    ApiRoute(
        method="GET",
        path="/api/v1",
        handler=root,
        summary="What this is.",
        roles=(),
        answers={200: answer("name", "version", name=TEXT_SCHEMA, version=TEXT_SCHEMA)},
    ),
    ApiRoute(
        method="GET",
        path="/api/v1/me",
        handler=me,
        summary="Who asks, and what they may do.",
        answers={200: answer("name", "role", "rights", name=TEXT_SCHEMA, csrf=OPTIONAL_TEXT)},
    ),
    ApiRoute(
        method="GET",
        path="/api/v1/datasets",
        handler=list_datasets,
        summary="The data sets that one may see.",
        answers={200: listing("datasets", answer("name", name=TEXT_SCHEMA))},
    ),
    ApiRoute(
        method="GET",
        path="/api/v1/datasets/{dataset}",
        handler=show_dataset,
        summary="The public facts of a data set.",
        answers={200: _FACTS},
    ),
    ApiRoute(
        method="POST",
        path="/api/v1/datasets/{dataset}/plan",
        handler=plan,
        summary="What a question would cost and how exact it would be; free.",
        roles=(STEWARD, ANALYST),
        body=PLAN,
        answers={200: ANYTHING},
    ),
    ApiRoute(
        method="POST",
        path="/api/v1/datasets/{dataset}/snapshots",
        handler=open_snapshot,
        summary="Open the state of the data as it is now.",
        roles=(STEWARD,),
        body=BodyType({"source": TextType(1000, 1)}),
        answers={200: answer("snapshot", "units", snapshot=NUMBER_SCHEMA, units=NUMBER_SCHEMA)},
        refusals=(409,),
    ),
)
