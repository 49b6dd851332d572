"""The field of a form that a refusal is about, so that its sentence stands there.

A refusal is one sentence, the same for a browser, a command and a program. It names what it is
about by the field of the request, by a column, or by words that belong to one field alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_NO_COLUMN = re.compile(r"^There is no column (?P<name>.+?) in ")
_WORDS: Sequence[tuple[str, Sequence[str]]] = (
    (r"\bmax_groups\b|number of groups", ("max_groups",)),
    (r"\bmax_values\b|number of values", ("max_values",)),
    (r"\bmost_per_release\b", ("most_per_release",)),
    (r"\bmost_in_all\b", ("most_in_all",)),
    (r"^least\b", ("least",)),
    (r"\bdays\b|number of days", ("days",)),
    (r"^slack\b", ("map_slack",)),
    (r"^gap\b|needs a gap", ("map_gap",)),
    (r"^The outside|outside, |lies outside", ("map_outside",)),
    (r"(?i)\bsensitive places?\b|of the map (is|are) sensitive", ("map_sensitive",)),
    (r"place of a row|needs place|of different types", ("map_place",)),
    (r"time of a row|needs time", ("map_time",)),
    (r"\bof places\b|\bplaces\b.*file", ("map_places",)),
    (r"(?i)\bedges\b|must lie below|needs units of several rows|\bmap\b", ("map_edges",)),
    (r"(?i)\bedges\b", ("edges",)),
    (r"\bbounds\b|lower bound", ("low",)),
    (r"\bneeds column\b|\bcolumn must\b", ("column", "value")),
    (r"(needs|^) ?bound\b|noise would be|^grid\b", ("bound",)),
    (r"\bneeds n\b|^n must|number of steps", ("n",)),
    (r"\bneeds by\b", ("path",)),
    (r"\bneeds order\b|gives no order", ("order",)),
    (r"(?i)stands_for|weights?\b|of a mean cell", ("stands-0",)),
    (
        r"The values of|The domain of|^(domain|bounds|edges) holds",
        ("low", "edges", "values-0", "path_values"),
    ),
    (r"(?i)\bcolumns must\b", ("columns",)),
    (r"(?i)predicate|condition", ("where", "policy")),
    (r"(?i)\bepsilon\b|\bbudget\b|\bshare\b|ε", ("epsilon", "budget", "most_in_all")),
    (r"^why\b", ("why",)),
    (r"(?i)\bname\b|data set", ("name",)),
    (r"(?i)\bunit\b|one record", ("unit",)),
)
_SPOKEN = re.compile(r"^A (map|(question|plan) of kind \w+) needs (?P<lacking>[\w ]+)\.$")
_ASKED_FOR: Mapping[str, str] = {
    "epsilon": "Say what it may cost.",
    "column": "Choose a column.",
    "bound": "Say the most that one record may add.",
    "bounds": "Say the least and the largest value.",
    "edges": "Say where one cell ends and the next begins, such as 0, 10, 20.",
    "by": "Choose what follows one another.",
    "order": "Choose the column that says what comes first.",
    "n": "Say how many steps.",
    "statement": "Write a SELECT.",
    "place": "Choose the column that says where a row is.",
    "time": "Choose the column that says when.",
}


def fault_of(sentence: str, typed: Mapping[str, Any]) -> str:
    """The name of the field, of those in the form; empty where none is meant."""
    named = _NO_COLUMN.match(sentence)
    if named:
        for field, text in typed.items():
            if any(named["name"] in str(each) for each in _texts(text)):
                return f"{field}-0" if field in ("by", "stands") else field
    for words, fields in _WORDS:
        known = [each for each in fields if each.partition("-")[0] in typed]
        if known and re.search(words, sentence):
            return known[0]
    return "statement" if "statement" in typed else ""


def is_empty_yet(sentence: str) -> bool:
    """Whether a field only waits to be filled in, which is no mistake while somebody types."""
    return _SPOKEN.match(sentence) is not None


def plainly(sentence: str) -> str:
    """A refusal for what is only empty yet, in words of the form."""
    lacking = _SPOKEN.match(sentence)
    first = lacking["lacking"].split(" and ")[0] if lacking else ""
    return _ASKED_FOR.get(first, sentence)


def _texts(value: Any) -> Sequence[Any]:
    return [value] if isinstance(value, str) else list(value)
