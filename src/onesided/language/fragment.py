"""The part of a predicate that can be decided by representatives, and unknowns for the rest.

A comparison can be decided where at least one of its sides consists of literals, directly or
through coalesce and CASE: then only the order of column and literals matters. Every other
comparison (LIKE, functions, arithmetic, columns with columns) is replaced by an unknown truth
value, the same one wherever the same comparison stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onesided.language.tree import (
    And,
    Between,
    Case,
    Coalesce,
    Column,
    Compare,
    Convert,
    Distinct,
    Expression,
    In,
    IsNull,
    IsTruth,
    Like,
    Literal,
    Not,
    Or,
    Value,
)
from onesided.language.types import Type
from onesided.language.walking import rebuild, walk

_TRUE = Literal(Type.BOOLEAN, True)
_CONDITIONS = (And, Or, Not, IsTruth, Compare, Distinct, IsNull, In, Between, Like)


class Meetings:
    """Which columns and literals meet: they are compared, or are alternatives of one value.

    Columns that meet share a set of cuts. A set with a truth value in it holds truth values only.
    """

    def __init__(self, trees: Iterable[Expression]) -> None:
        self._leader: dict[str, str] = {}
        self._literals: dict[str, set[Literal]] = {}
        self._joining: set[str] = set()
        for tree in trees:
            self._meet([tree], truth=True)
            for node in walk(tree):
                self._visit(node)

    def cuts(self, column: str) -> list[Value]:
        """The literals that the column meets, in no particular order; NULL left out."""
        met = self._literals.get(self._find(column), set())
        return [literal.value for literal in met if literal.value is not None]

    def joins(self, column: str) -> bool:
        """Whether the column meets other columns too."""
        return self._find(column) in self._joining

    def is_truth(self, parts: Iterable[Expression]) -> bool:
        """Whether the parts, which meet, are truth values."""
        for part in parts:
            for source in sources(part):
                if isinstance(source, _CONDITIONS):
                    return True
                if isinstance(source, Literal) and isinstance(source.value, bool):
                    return True
                if isinstance(source, Column) and self._has_truth(source):
                    return True
        return False

    def _has_truth(self, column: Column) -> bool:
        if column.field is not None:
            return column.field.type is Type.BOOLEAN
        return any(isinstance(value, bool) for value in self.cuts(column.name))

    def _visit(self, node: Expression) -> None:
        match node:
            case And(operands) | Or(operands):
                self._meet(operands, truth=True)
            case Not(operand) | IsTruth(operand):
                self._meet([operand], truth=True)
            case Case(subject, branches, otherwise):
                tests = [when for when, _ in branches]
                if subject is None:
                    self._meet(tests, truth=True)
                else:
                    self._meet([subject, *tests])
                self._meet([*(then for _, then in branches), *([otherwise] if otherwise else [])])
            case Coalesce(operands):
                self._meet(operands)
            case Compare() | Distinct() | In() | Between():
                left, right = sides(node)
                self._meet([left, *right])
            case _:
                pass

    def _meet(self, parts: Sequence[Expression], *, truth: bool = False) -> None:
        met = [source for part in parts for source in sources(part)]
        literals = {source for source in met if isinstance(source, Literal)}
        if truth or any(isinstance(source, _CONDITIONS) for source in met):
            literals.add(_TRUE)
        columns = [source.name for source in met if isinstance(source, Column)]
        for column in columns:
            leader, other = self._find(columns[0]), self._find(column)
            if leader != other:
                self._leader[other] = leader
                self._joining.add(leader)
                literals |= self._literals.pop(other, set())
        if columns:
            self._literals.setdefault(self._find(columns[0]), set()).update(literals)

    def _find(self, column: str) -> str:
        while column in self._leader:
            column = self._leader[column]
        return column


class Abstraction:
    """Replaces what cannot be decided by unknowns, which two predicates share."""

    def __init__(self, meetings: Meetings) -> None:
        self._meetings = meetings
        self._unknowns: dict[Expression, Column] = {}

    @property
    def unknowns(self) -> tuple[str, ...]:
        """The names of the unknown truth values so far; no column has such a name."""
        return tuple(column.name for column in self._unknowns.values())

    def condition(self, node: Expression) -> Expression:
        """`node`, which is a condition, with unknowns in it."""
        return self._unknown(node) if self._is_opaque(node) else self._abstracted(node)

    def _abstracted(self, node: Expression) -> Expression:
        match node:
            case And() | Or() | Not() | IsTruth():
                return rebuild(node, self.condition)
            case Case(None, branches, otherwise):
                tests = (self.condition(when) for when, _ in branches)
                values = (self._abstracted(then) for _, then in branches)
                last = None if otherwise is None else self._abstracted(otherwise)
                return Case(None, tuple(zip(tests, values, strict=True)), last)
            case Like():
                return self._unknown(node)
            case IsNull(operand) if self._is_opaque(operand):
                return self._unknown(node)
            case Compare() | Distinct() | In() | Between() if not self._is_exact(*sides(node)):
                return self._unknown(node)
            case _:
                return rebuild(node, self._abstracted)

    def _unknown(self, node: Expression) -> Column:
        return self._unknowns.setdefault(node, Column(f"\0{len(self._unknowns)}"))

    def _is_exact(self, subject: Expression, others: Sequence[Expression]) -> bool:
        parts = [subject, *others]
        if any(self._is_opaque(part) for part in parts):
            return False
        apart = not _has_column([subject]) or not _has_column(others)
        return apart or self._meetings.is_truth(parts)

    def _is_opaque(self, node: Expression) -> bool:
        """Whether the value of `node` is computed, not taken from a column or literal."""
        match node:
            case Literal() | Column() | And() | Or() | Not() | IsTruth():
                return False
            case Compare() | Distinct() | In() | Between() | Like() | IsNull():
                return False
            case Convert(operand):
                return self._is_opaque(operand)
            case Coalesce(operands):
                return any(self._is_opaque(operand) for operand in operands)
            case Case(subject, branches, otherwise):
                values = [*(then for _, then in branches), *([otherwise] if otherwise else [])]
                if any(self._is_opaque(value) for value in values):
                    return True
                return subject is not None and not self._is_exact(
                    subject, [when for when, _ in branches]
                )
            case _:
                return True


def sides(node: Compare | Distinct | In | Between) -> tuple[Expression, tuple[Expression, ...]]:
    """The subject of a comparison, and what it is compared with."""
    match node:
        case Compare(_, left, right) | Distinct(left, right):
            return left, (right,)
        case In(operand, choices):
            return operand, choices
        case Between(operand, low, high):
            return operand, (low, high)


def sources(node: Expression) -> list[Expression]:
    """Where the value of `node` comes from: columns, literals and computed parts."""
    match node:
        case Convert(operand):
            return sources(operand)
        case Coalesce(operands):
            return [source for operand in operands for source in sources(operand)]
        case Case(_, branches, otherwise):
            values = [*(then for _, then in branches), *([otherwise] if otherwise else [])]
            return [source for value in values for source in sources(value)]
        case _:
            return [node]


def _has_column(parts: Iterable[Expression]) -> bool:
    return any(isinstance(source, Column) for part in parts for source in sources(part))
