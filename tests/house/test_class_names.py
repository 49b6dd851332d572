"""One concept has one name, and one name stands for one concept, all over the house."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import onesided

HOUSE = Path(onesided.__file__).parent

LOCAL = {
    # An auditor's words for what it looks at; they do not leave their rooms.
    "Candidate": "audit: a neighbour to try; mechanisms/auto: a way to spend what the probe left",
    "Case": "audit of sessions: pairs to make smaller; language: CASE",
    "Column": "audit of sessions: cells of a made table; language: a name in a tree",
    "Effort": "audit of mechanisms, and of sessions: how much was looked at",
    "Relation": "audit: who counts as a neighbour; engine: a statement's FROM",
    "Release": "audit: a way to publish rooms, attacked; data: what leaves the house",
    "Request": "audit of sessions: what is asked of both tables; session: a question's name",
    "Seen": "audit of sessions: all that an outsider sees; residual: a released count",
    "Source": "audit of sessions: a way to write a table; engine/duckdb: what is read",
    "Verdict": "audit: of an exact audit; relaxation: whether one policy relaxes another",
}
"""Names that still stand twice, each with what it means where. The list only gets shorter."""


def homes() -> dict[str, list[str]]:
    """Where each public class of the house is defined."""
    found = defaultdict(list)
    for file in sorted(HOUSE.rglob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(file.relative_to(HOUSE).as_posix())
    return found


def test_public_class_names_are_unique() -> None:
    twice = {name: files for name, files in homes().items() if len(files) > 1}
    assert {name: twice[name] for name in twice if name not in LOCAL} == {}


def test_what_is_unique_by_now_is_no_exception_any_more() -> None:
    known = homes()
    assert [name for name in LOCAL if len(known[name]) < 2] == []
