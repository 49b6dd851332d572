"""What answers look like, in the words of JSON Schema."""

from __future__ import annotations

from onesided.server.fields import Schema

TEXT_SCHEMA: Schema = {"type": "string"}
NUMBER_SCHEMA: Schema = {"type": "integer"}
OPTIONAL_TEXT: Schema = {"type": ["string", "null"]}
ANYTHING: Schema = {"type": "object"}


def answer(*required: str, **properties: Schema) -> Schema:
    """An object with these properties, of which some are always there."""
    found: Schema = {"type": "object", "properties": dict(properties)}
    return {**found, "required": list(required)} if required else found


def listing(name: str, of: Schema) -> Schema:
    """An object with one list."""
    return answer(name, **{name: {"type": "array", "items": of}})


JOB = answer(
    *("id", "dataset", "kind", "state", "accepted_at", "who", "purpose"),
    id=TEXT_SCHEMA,
    dataset=TEXT_SCHEMA,
    kind=TEXT_SCHEMA,
    state={
        "type": "string",
        "enum": ["awaiting", "accepted", "done", "failed", "refused", "cancelled", "expired"],
    },
    accepted_at=TEXT_SCHEMA,
    deadline=OPTIONAL_TEXT,
    retry_after={"type": "number", "minimum": 0},
    cost=OPTIONAL_TEXT,
    who=TEXT_SCHEMA,
    purpose=TEXT_SCHEMA,
    release=ANYTHING,
    detail=TEXT_SCHEMA,
)
RELEASE = answer(
    *("number", "kind", "question", "cost", "loss", "who", "purpose", "time", "url"),
    number=NUMBER_SCHEMA,
    kind=TEXT_SCHEMA,
    question=ANYTHING,
    cost=TEXT_SCHEMA,
    loss=ANYTHING,
    who=TEXT_SCHEMA,
    purpose=TEXT_SCHEMA,
    time=TEXT_SCHEMA,
    url=TEXT_SCHEMA,
)
