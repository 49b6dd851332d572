"""What stands in the list of a SELECT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from onesided.errors import RequestError
from onesided.language.nodes import only, unwrapped


@dataclass(frozen=True)
class SelectItem:
    """One of the SELECT list."""

    node: exp.Expression
    alias: str | None

    @classmethod
    def of(cls, node: object) -> SelectItem:
        alias = None
        if type(node) is exp.Alias:
            only(node, "this", "alias")
            alias, node = node.alias, node.this
        inner = unwrapped(node)
        if not isinstance(inner, exp.Expression) or isinstance(inner, exp.Star):
            raise RequestError("SELECT * would be single records: ask for a sample instead.")
        return cls(inner, alias)


def flat(keys: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(place for key in keys for place in key)


def measures(item: SelectItem) -> bool:
    """Whether a figure is part of it, or it is a constant: neither is a key."""
    parts = list(item.node.walk())
    figure = any(isinstance(part, exp.AggFunc | exp.CountIf) for part in parts)
    return figure or not any(isinstance(part, exp.Column) for part in parts)


def is_bare(node: object) -> bool:
    """Whether it is a name without a table."""
    return type(node) is exp.Column and node.args.get("table") is None
