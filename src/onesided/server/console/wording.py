"""Questions, states and times in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

STATES: Mapping[str, str] = {
    "awaiting": "Waits for a steward",
    "accepted": "On its way",
    "done": "Answered",
    "failed": "Not answered in time",
    "refused": "Refused by a steward",
    "cancelled": "Taken back",
    "expired": "Not decided in time",
}


_NOUNS: Mapping[str, str] = {
    "sample": "true records",
    "weigh": "true records with weights",
    "sql": "figure",
    "ngrams": "ways taken",
    "touches": "groups of one record",
    "distinct": "different values",
}


def asked_in_words(question: Mapping[str, Any]) -> str:
    """A question as a line of a list: what is counted, by what and where."""
    kind = str(question.get("kind", "release"))
    if question.get("statement"):
        return " ".join(str(question["statement"]).split())
    if kind == "run":
        return f"{len(question['questions'])} questions at once"
    what = {"sample": "true records", "sql": "figure", "weigh": "true records with weights"}.get(
        kind, kind
    )
    column = question.get("column")
    what = what[:1].upper() + what[1:]
    parts = [f"{what} of {column}" if column else what]
    by = question.get("by")
    if by:
        parts.append("by " + (by if isinstance(by, str) else ", ".join(map(str, by))))
    if question.get("stands_for"):
        parts.append("that stand for " + ", ".join(map(_named, question["stands_for"])))
    if question.get("where"):
        parts.append(f"where {question['where']}")
    return " ".join(parts)


def _named(margin: Any) -> str:
    return margin if isinstance(margin, str) else " and ".join(map(str, margin))
