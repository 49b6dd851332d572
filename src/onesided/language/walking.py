"""Through a tree: its parts, and the same tree with other parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from onesided.language.tree import (
    And,
    Arithmetic,
    Between,
    Case,
    Coalesce,
    Column,
    Compare,
    Concat,
    Distinct,
    Expression,
    Extreme,
    FloatArithmetic,
    In,
    Literal,
    Or,
    Shorthand,
)


def children(node: Expression) -> tuple[Expression, ...]:
    """The direct operands of a node, in the order in which they are written."""
    match node:
        case Literal() | Column():
            return ()
        case And(operands) | Or(operands) | Coalesce(operands) | Concat(operands):
            return operands
        case Extreme(_, operands) | Shorthand(_, operands):
            return operands
        case Compare(_, left, right) | Distinct(left, right):
            return (left, right)
        case Arithmetic(_, left, right) | FloatArithmetic(_, left, right):
            return (left, right)
        case In(operand, choices):
            return (operand, *choices)
        case Between(operand, low, high):
            return (operand, low, high)
        case Case(subject, branches, otherwise):
            ends = (subject, *(part for branch in branches for part in branch), otherwise)
            return tuple(part for part in ends if part is not None)
        case _:
            return (node.operand,)


def walk(node: Expression) -> Iterator[Expression]:
    """The node and everything below it, from the top, left to right."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(children(current)))


def column_names(node: Expression) -> tuple[str, ...]:
    """The columns a tree reads, each once, in the order of their first appearance."""
    return tuple(dict.fromkeys(part.name for part in walk(node) if isinstance(part, Column)))


def rebuild(node: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The same node with `change` applied to each direct operand."""
    match node:
        case Literal() | Column():
            return node
        case And() | Or() | Coalesce() | Concat() | Extreme() | Shorthand():
            return replace(node, operands=tuple(change(operand) for operand in node.operands))
        case (
            Compare(_, left, right)
            | Distinct(left, right)
            | Arithmetic(_, left, right)
            | FloatArithmetic(_, left, right)
        ):
            return replace(node, left=change(left), right=change(right))
        case In(operand, choices):
            return In(change(operand), tuple(change(choice) for choice in choices))
        case Between(operand, low, high):
            return Between(change(operand), change(low), change(high))
        case Case(subject, branches, otherwise):
            return Case(
                None if subject is None else change(subject),
                tuple((change(when), change(then)) for when, then in branches),
                None if otherwise is None else change(otherwise),
            )
        case _:
            return replace(node, operand=change(node.operand))
