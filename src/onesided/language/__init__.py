"""The language of policies, filters and group keys: a small part of SQL that engines agree on.

    parser       text → tree, by allow-list             (with literals, refusals)
    tree         the nodes                              (with types)
    canonical    tree → the one text that stands for it (with words)
    binding      tree + schema → typed tree
    writer       typed tree → SQL, by what an engine's own writer says of it
    evaluation   tree + row → value: the meaning
    predicate    Predicate and Key, which join these
    query        Select: one accepted statement          (read by select, names, statement)

Only this package imports sqlglot, and only once a text is read.
"""

from __future__ import annotations

from onesided.language.evaluation import evaluate
from onesided.language.predicate import BoundKey, BoundPredicate, Key, Predicate
from onesided.language.types import Digits, Field, Schema, Type
from onesided.language.writer import Writer

__all__ = [
    "BoundKey",
    "BoundPredicate",
    "Digits",
    "Field",
    "Key",
    "Predicate",
    "Schema",
    "Type",
    "Writer",
    "evaluate",
    "parse_key",
]


def parse_key(text: str) -> Key:
    """The group key that `text` stands for: `room`, `hour(ts)`, `bucket(age, 10)`."""
    return Key.parse(text)
