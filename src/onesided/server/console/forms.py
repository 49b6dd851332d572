"""What is typed into the form of a question, as the API takes it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from onesided.errors import RequestError
from onesided.lists import split_list
from onesided.server.console.kinds import KINDS, KindOfQuestion
from onesided.server.console.page import PageCall

Facts: TypeAlias = Mapping[str, Any]
Body: TypeAlias = dict[str, Any]
USUAL_EPSILON = "0.5"
BEST_ONE = "best"
"""Whatever mechanism the plan says errs least."""
MOST_KEYS = 3
_MOMENTS = ("hour", "weekday", "date")
_NUMBERS = ("integer", "wide integer", "float")
_TAGGED = ("date", "timestamp", "decimal")
ALL_OTHERS = "*"


def question(call: PageCall, facts: Facts, kind: KindOfQuestion) -> Body:
    """The question that a form asks; what is left empty is left out."""
    body: Body = {"kind": kind.name, "epsilon": call.text("epsilon")}
    for name in kind.fields:
        body |= _FIELDS[name](call, facts)
    for name in ("purpose",):
        if call.text(name):
            body[name] = call.text(name)
    if call.text("yes"):
        body["yes"] = True
    return body


def plan_of(body: Body) -> Body:
    """The plan of a question: what does not change its error or its price is left out."""
    left_out = {
        "purpose",
        "yes",
        "fresh",
        *(("mechanism",) if KINDS[body["kind"]].has_mechanisms else ()),
    }
    return {name: each for name, each in body.items() if name not in left_out}


def keys_of(facts: Facts) -> list[str]:
    """What a question can be grouped by: columns, and parts of times."""
    found = []
    for column in facts["columns"]:
        if column["name"] in facts["withheld"]:
            continue
        name, kind = column["name"], column["type"]
        if kind.startswith("timestamp"):
            found += [f"{each}({quoted(name)})" for each in _MOMENTS]
        else:
            found.append(quoted(name))
    return found


def columns_of(facts: Facts) -> list[str]:
    """The columns that may leave."""
    return [each["name"] for each in facts["columns"] if each["name"] not in facts["withheld"]]


def quoted(name: str) -> str:
    """A column as it is named in a key: plain where it can be."""
    plain = name.isascii() and name.replace("_", "a").isalnum() and not name[:1].isdigit()
    return name if plain else '"' + name.replace('"', '""') + '"'


def _by(call: PageCall, facts: Facts) -> Body:
    chosen, domain = _keys(call, facts, "by", "values")
    return {**({"by": chosen} if chosen else {}), **({"domain": domain} if domain else {})}


def _stands_for(call: PageCall, facts: Facts) -> Body:
    """The counts that give each record of a sample a weight."""
    chosen, domain = _keys(call, facts, "stands", "stands_values")
    if not chosen:
        return {}
    noisy = {"noisy": True} if call.text("noisy") else {}
    return {"stands_for": chosen, **({"domain": domain} if domain else {}), **noisy}


def _keys(
    call: PageCall, facts: Facts, named: str, listed_in: str
) -> tuple[list[str], dict[str, list[Any]]]:
    """Keys that are chosen, and the values of those whose values are typed."""
    values = call.form.get(listed_in, ())
    chosen: list[str] = []
    domain: dict[str, list[Any]] = {}
    for place, key in enumerate(each.strip() for each in call.form.get(named, ())):
        if not key or key in chosen:
            continue
        chosen.append(key)
        listed = values[place].strip() if place < len(values) else ""
        if listed:
            domain[key] = _values(key, listed, facts)
    return chosen, domain


def _values(key: str, listed: str, facts: Facts) -> list[Any]:
    """The values that a key may have, as its column holds them; * stands for all others."""
    kind = next((each["type"] for each in facts["columns"] if quoted(each["name"]) == key), "")
    # What is derived, such as an hour, is a whole number; a date is one.
    kind = kind or ("date" if key.startswith("date(") else "integer")
    found = [unquoted_value(each) for each in split_list(listed)]
    return [each if each == ALL_OTHERS else _value(each, kind) for each in found if each]


def unquoted_value(text: str) -> str:
    """A value without the quotes in which a comma may stand."""
    text = text.strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text


def _value(text: str, kind: str) -> Any:
    """A value as the API takes it; what does not fit its column is refused there."""
    if kind in _TAGGED:
        return {kind: text}
    if kind == "boolean" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    return _number(text) if kind in _NUMBERS else text


def _text(name: str) -> Any:
    def read(call: PageCall, facts: Facts) -> Body:
        return {name: call.text(name)} if call.text(name) else {}

    return read


def _value_of_row(call: PageCall, facts: Facts) -> Body:
    return {"column": call.text("value")} if call.text("value") else {}


def _between(call: PageCall, facts: Facts) -> Body:
    """The public bounds of a column's values; where none is said they are found."""
    ends = [call.text("low"), call.text("high")]
    return {"bounds": [_number(each) for each in ends if each]} if any(ends) else {}


def _number(text: str) -> int | float | str:
    """A number that is typed; what is none is refused where it is used."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        found = float(text)
    except ValueError:
        return text
    return found if math.isfinite(found) else text


def _edges(call: PageCall, facts: Facts) -> Body:
    """Where one cell of a histogram ends and the next begins."""
    kind = next((e["type"] for e in facts["columns"] if e["name"] == call.text("column")), "")
    found = [_value(each.strip(), kind) for each in split_list(call.text("edges"))]
    return {"edges": found} if found else {}


def _whole(name: str, called: str) -> Any:
    def read(call: PageCall, facts: Facts) -> Body:
        text = call.text(name)
        return {name: whole_number(called, text)} if text else {}

    return read


def _path(call: PageCall, facts: Facts) -> Body:
    """What follows one another in n-grams, and its values where they are known."""
    key, listed = call.text("path"), call.text("path_values")
    return {
        **({"by": key} if key else {}),
        **({"domain": _values(key, listed, facts)} if listed else {}),
    }


def _flag(name: str) -> Any:
    return lambda call, facts: {name: True} if call.text(name) else {}


def _columns(call: PageCall, facts: Facts) -> Body:
    chosen = call.texts("columns")
    return {"columns": chosen} if chosen and chosen != columns_of(facts) else {}


def _max_groups(call: PageCall, facts: Facts) -> Body:
    text = call.text("max_groups")
    if not text or text == "auto":
        return {"max_groups": text} if text else {}
    return {"max_groups": whole_number("The number of groups", text)}


def _mechanism(call: PageCall, facts: Facts) -> Body:
    chosen = call.text("mechanism", BEST_ONE)
    return {} if chosen in (BEST_ONE, "auto") else {"mechanism": chosen}


def whole_number(name: str, text: str) -> int:
    """A whole number that is typed."""
    if not text.isascii() or not text.isdecimal() or len(text) > 15:
        raise RequestError(f"{name} must be a whole number.")
    return int(text)


_FIELDS: Mapping[str, Any] = {
    "by": _by,
    "stands_for": _stands_for,
    "where": _text("where"),
    "columns": _columns,
    "column": _text("column"),
    "bound": _text("bound"),
    "between": _between,
    "edges": _edges,
    "value": _value_of_row,
    "max_values": _whole("max_values", "The number of values"),
    "path": _path,
    "order": _text("order"),
    "n": _whole("n", "The number of steps"),
    "sampled": _flag("sampled"),
    "statement": _text("statement"),
    "max_groups": _max_groups,
    "groups_at_most": _max_groups,
    "mechanism": _mechanism,
}


def typed(call: PageCall) -> dict[str, Any]:
    """What stands in the form, so that it stands there again after a refusal."""
    return {
        "by": padded(call.form.get("by", ()), MOST_KEYS),
        "values": padded(call.form.get("values", ()), MOST_KEYS),
        "stands": padded(call.form.get("stands", ()), MOST_KEYS),
        "stands_values": padded(call.form.get("stands_values", ()), MOST_KEYS),
        "columns": call.texts("columns"),
        **{name: call.text(name) for name in _TEXTS},
        "epsilon": call.text("epsilon", USUAL_EPSILON),
    }


def padded(values: Iterable[str], length: int) -> Sequence[str]:
    """So many texts, of which the last ones may be empty."""
    found = list(values)[:length]
    return [*found, *[""] * (length - len(found))]


_TEXTS = (
    *("where", "column", "bound", "low", "high", "edges", "value", "max_values", "path"),
    *("path_values", "order", "n", "sampled", "noisy", "statement", "max_groups", "purpose", "yes"),
)
