"""What is asked of every node of a parsed text, whoever reads it."""

from __future__ import annotations

from sqlglot import exp

from onesided.errors import PolicyError
from onesided.language.refusals import shown


def unwrapped(node: object) -> object:
    """The node without parentheses around it."""
    while isinstance(node, exp.Paren):
        only(node, "this")
        node = node.this
    return node


def only(node: exp.Expression, *allowed: str) -> None:
    """Refuses a node that carries anything but the arguments we understand."""
    for name, value in node.args.items():
        if value and name not in allowed:
            raise PolicyError(f"The part {shown(node)} is not accepted: {name} is not supported.")
