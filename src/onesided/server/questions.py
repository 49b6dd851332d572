"""The fields of each kind of question: what an analyst may name, and nothing else.

No path, no place to write to, no source of randomness, no table besides those of the data set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onesided.errors import RequestError
from onesided.ledger import Order
from onesided.ledger.base import LONGEST_PURPOSE
from onesided.server.fields import (
    AMOUNT,
    CELL,
    FLAG,
    TEXT,
    WHOLE,
    BodyType,
    EitherType,
    JsonType,
    ListType,
    MapType,
    Schema,
    ShareType,
    TextType,
    WholeType,
    one_of,
    texts,
)
from onesided.session.frozen import FrozenDataset
from onesided.session.several import AskedTogether

_NAME = TextType(500)
_POSITIVE = WholeType(1)
_SCOPE: Mapping[str, JsonType] = {"policy": TEXT, "part": MapType(CELL, 1)}
_DOMAIN: Mapping[str, JsonType] = {"domain": MapType(ListType(CELL))}
_GROUPS: Mapping[str, JsonType] = {"by": texts(), "where": TEXT, **_DOMAIN, **_SCOPE}
_MOST: Mapping[str, JsonType] = {"max_groups": EitherType((_POSITIVE, one_of(["auto"])))}
_MECHANISM: Mapping[str, JsonType] = {
    "mechanism": _NAME,
    "parameters": MapType(EitherType((AMOUNT, FLAG, TEXT)), 20),
}
_BOUNDED: Mapping[str, JsonType] = {**_GROUPS, "max_groups": _POSITIVE, "column": _NAME}

FIELDS: Mapping[str, Mapping[str, JsonType]] = {
    "count": {**_GROUPS, **_MOST, **_MECHANISM},
    "ngrams": {
        "n": WholeType(1, 1000),
        "by": _NAME,
        "order": _NAME,
        "domain": ListType(CELL),
        **_SCOPE,
        **_MOST,
        **_MECHANISM,
    },
    "touches": {**_GROUPS, "sampled": FLAG},
    "sum": {**_BOUNDED, "bound": AMOUNT, "grid": AMOUNT, "nonnegative": FLAG},
    "mean": {**_BOUNDED, "bound": AMOUNT, "grid": AMOUNT, "max_rows": _POSITIVE},
    "quantile": {**_BOUNDED, "bounds": ListType(CELL, 2, 2), "cells": WholeType(1, 1_000_000)},
    "histogram": {**_BOUNDED, "edges": ListType(CELL, 2)},
    "distinct": {**_BOUNDED, "max_values": _POSITIVE},
    "describe": {"columns": ListType(_NAME), "where": TEXT, "max_values": _POSITIVE, **_SCOPE},
    "sample": {
        "where": TEXT,
        "columns": ListType(_NAME),
        "stands_for": ListType(texts(), 1, 100),
        "noisy": FLAG,
        **_DOMAIN,
        **_SCOPE,
    },
    "sql": {
        "statement": TextType(least=1),
        "parameters": ListType(CELL, 0, 1000),
        "mechanism": _NAME,
        "max_groups": _POSITIVE,
        "max_rows": _POSITIVE,
        "max_values": _POSITIVE,
        "bounds": MapType(EitherType((AMOUNT, ListType(AMOUNT, 2, 2)))),
        "grid": MapType(AMOUNT),
        "nonnegative": ListType(_NAME),
        **_DOMAIN,
        **_SCOPE,
    },
}
"""By kind; as in Python, but for `statement`, which is `query` there."""

REQUIRED: Mapping[str, tuple[str, ...]] = {
    "ngrams": ("n", "by", "order"),
    "sum": ("column", "bound"),
    "mean": ("column", "bound"),
    "quantile": ("column",),
    "histogram": ("column",),
    "distinct": ("column",),
    "sql": ("statement",),
}
_PER_QUESTION: Mapping[str, JsonType] = {
    "epsilon": AMOUNT,
    "purpose": TextType(LONGEST_PURPOSE),
    "yes": FLAG,
    "fresh": FLAG,
}
_SUPPOSED: Mapping[str, JsonType] = {
    "epsilon": AMOUNT,
    "error": AMOUNT,
    "nonsensitive_share": ShareType(),
    "groups": WHOLE,
}
RUN = "run"
"""Several questions at once."""
_MOST_AT_ONCE = 100
_NOT_PLANNED = frozenset({"touches", "histogram", "describe"})
_NOT_OF_A_PLAN = {"count": frozenset(_MECHANISM), "ngrams": frozenset(_MECHANISM)}


@dataclass(frozen=True)
class ByKind(JsonType):
    """An object whose field `kind` says which other fields there are."""

    bodies: Mapping[str, BodyType]

    @property
    def schema(self) -> Schema:
        found = []
        for kind, body in self.bodies.items():
            own = body.schema
            named = {"kind": {"type": "string", "enum": [kind]}, **own["properties"]}
            required = ["kind", *own.get("required", [])]
            found.append({**own, "properties": named, "required": required})
        return {"oneOf": found}

    def read(self, name: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise RequestError("The request must be a JSON object.")
        kind = one_of(tuple(self.bodies)).read("kind", value.get("kind"))
        others = {key: each for key, each in value.items() if key != "kind"}
        return {"kind": kind, **self.bodies[kind].read(kind, others)}


def _question(kind: str) -> BodyType:
    fields = {**FIELDS[kind], **_PER_QUESTION}
    return BodyType(fields, ("epsilon", *REQUIRED.get(kind, ())), f"A question of kind {kind}")


def _plan(kind: str) -> BodyType:
    left_out = _NOT_OF_A_PLAN.get(kind, frozenset())
    own = {name: each for name, each in FIELDS[kind].items() if name not in left_out}
    supposed = dict(_SUPPOSED)
    if kind == "sample":
        del supposed["error"], supposed["groups"]
    needed = ("epsilon",) if kind == "sample" else ()
    required = (*needed, *REQUIRED.get(kind, ()))
    return BodyType({**own, **supposed}, required, f"A plan of kind {kind}")


def _part(kind: str) -> BodyType:
    """One of several questions, which has a name, and an ε or a share of that of all."""
    fields = {"name": _NAME, "epsilon": AMOUNT, **FIELDS[kind]}
    return BodyType(fields, REQUIRED.get(kind, ()), f"A question of kind {kind}")


_RUN = BodyType(
    {
        "questions": ListType(ByKind({kind: _part(kind) for kind in FIELDS}), 1, _MOST_AT_ONCE),
        "epsilon": AMOUNT,
        "purpose": _PER_QUESTION["purpose"],
        "yes": FLAG,
        "part": MapType(CELL, 1),
    },
    ("questions",),
)
QUESTION_BODIES: Mapping[str, BodyType] = {
    **{kind: _question(kind) for kind in FIELDS},
    RUN: _RUN,
}
QUESTION = ByKind(QUESTION_BODIES)
PLAN = ByKind({kind: _plan(kind) for kind in FIELDS if kind not in _NOT_PLANNED})


@dataclass(frozen=True)
class Wanted:
    """A question as it came: its kind, its price and the arguments of its method.

    - `said`: the fields as they were sent, to be kept with its job.
    - `epsilon`: of several questions what those share that say none of their own.
    """

    kind: str
    epsilon: Any
    given: Mapping[str, Any]
    said: Mapping[str, Any]
    purpose: str = ""
    yes: bool = False
    fresh: bool = False

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Wanted:
        """The question that an object asks; RequestError where it asks none."""
        found = QUESTION.read("", said)
        kind = found.pop("kind")
        own = {name: found.pop(name) for name in _PER_QUESTION if name in found}
        given = found if kind == RUN else arguments(kind, found)
        fresh = own.get("fresh", False)
        if fresh and kind == "sample":
            given["fresh"] = True
        return cls(
            kind=kind,
            epsilon=own.get("epsilon"),
            given=given,
            said=said,
            purpose=own.get("purpose", ""),
            yes=own.get("yes", False),
            fresh=fresh,
        )

    def checked(self, data: FrozenDataset, *, yes: bool = True) -> AskedTogether:
        """What it asks of this state of the data, checked and free.

        - `yes`: an ε above 10 is meant; it was when the question was accepted.
        """
        if self.kind != RUN:
            return data.asked(self.kind, self.epsilon, self.given, yes=yes)
        wishes = [_wish(each) for each in self.given["questions"]]
        return data.asked_together(wishes, self.epsilon, self.given.get("part"), yes=yes)

    def orders(self, data: FrozenDataset, asked: AskedTogether, who: str) -> list[Order]:
        """What is charged for it, in this name."""
        return data.orders(
            asked,
            who=who,
            purpose=self.purpose,
            fresh=self.fresh,
            once=self.kind == RUN and "part" in self.given,
        )


def _wish(part: Mapping[str, Any]) -> dict[str, Any]:
    """One of several questions as `run` takes them."""
    fields = dict(part)
    said = {"ask": fields.pop("kind")}
    said |= {name: fields.pop(name) for name in ("name", "epsilon") if name in fields}
    return {**arguments(said["ask"], fields), **said}


def arguments(kind: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a question or plan as the arguments of its method in Python."""
    given = dict(fields)
    if kind == "sql":
        given["query"] = given.pop("statement")
        if "bounds" in given:
            given["bounds"] = {
                name: tuple(each) if isinstance(each, list) else each
                for name, each in given["bounds"].items()
            }
    elif "parameters" in given:
        own = given.pop("parameters")
        taken = [name for name in own if name in FIELDS[kind] or name in _PER_QUESTION]
        if taken:
            raise RequestError(f"{taken[0]} is no parameter of a mechanism; say it beside them.")
        given.update(own)
    return given
