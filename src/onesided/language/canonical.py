"""The canonical text of a tree: one spelling for predicates that differ only in writing.

Keywords are upper case, parentheses are the fewest needed, `!=` is `<>`, nested ANDs and ORs are
flat, numbers carry no superfluous zeros. Parsing the canonical text gives the same tree again.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from enum import IntEnum

from onesided.language.tree import (
    And,
    Arithmetic,
    AsText,
    Between,
    Bucket,
    Case,
    ChangeLetters,
    Coalesce,
    Column,
    Compare,
    Concat,
    Convert,
    Distinct,
    Expression,
    Extreme,
    FloatArithmetic,
    In,
    IsNull,
    IsTruth,
    Later,
    Like,
    Literal,
    Local,
    Magnitude,
    Microseconds,
    Negate,
    Not,
    Operator,
    Or,
    PartOf,
    Rounded,
    Rounding,
    Shorthand,
    SplitPart,
    StartOf,
    Substring,
    Trim,
    Value,
)
from onesided.language.words import quoted, spelled


class _Binding(IntEnum):
    """How tightly the outermost part of a text holds together."""

    OR = 1
    AND = 2
    NOT = 3
    PREDICATE = 4
    SUM = 5
    PRODUCT = 6
    SIGN = 7
    ATOM = 8


def canonical_text(node: Expression) -> str:
    """The one text that stands for this tree."""
    return _write(node)[0]


def literal_text(value: Value) -> str:
    """A constant as it is written in a predicate."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return quoted(value, "'")
        case datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case Decimal():
            return f"{value:f}"
        case _:
            return str(value)


def _within(node: Expression, least: _Binding) -> str:
    """The text of an operand, in parentheses unless it binds at least as tightly as `least`."""
    text, binding = _write(node)
    return text if binding >= least else f"({text})"


def _write(node: Expression) -> tuple[str, _Binding]:
    match node:
        case Convert(operand) | Local(operand):  # binding makes it, and a text has no word for it
            return _write(operand)
        case Or(operands):
            return " OR ".join(_within(part, _Binding.AND) for part in operands), _Binding.OR
        case And(operands):
            return " AND ".join(_within(part, _Binding.NOT) for part in operands), _Binding.AND
        case Not(operand):
            return _write_not(operand)
        case Arithmetic(operator, left, right) | FloatArithmetic(operator, left, right):
            product = operator in (Operator.TIMES, Operator.OVER)
            level = _Binding.PRODUCT if product else _Binding.SUM
            tighter = _Binding(level + 1)
            return f"{_within(left, level)} {operator.value} {_within(right, tighter)}", level
        case Concat(operands):
            # Among operators of their own kind, which engines bind in different ways.
            return " || ".join(_within(part, _Binding.ATOM) for part in operands), _Binding.OR
        case Later(operand, seconds):
            sign = "-" if seconds < 0 else "+"
            text = f"{_within(operand, _Binding.SUM)} {sign} INTERVAL '{abs(seconds)} seconds'"
            return text, _Binding.SUM
        case Compare() | Distinct() | IsNull() | IsTruth() | In() | Between() | Like():
            return _write_predicate(node, negated=False), _Binding.PREDICATE
        case Negate(operand):
            return f"-{_within(operand, _Binding.ATOM)}", _Binding.SIGN
        case _:
            return _write_atom(node), _Binding.ATOM


def _write_not(operand: Expression) -> tuple[str, _Binding]:
    match operand:
        case Distinct() | IsNull() | IsTruth() | In() | Between() | Like():
            return _write_predicate(operand, negated=True), _Binding.PREDICATE
        case _:
            return f"NOT {_within(operand, _Binding.ATOM)}", _Binding.NOT


def _write_predicate(
    node: Compare | Distinct | IsNull | IsTruth | In | Between | Like, *, negated: bool
) -> str:
    inverse = "NOT " if negated else ""

    def side(operand: Expression) -> str:
        return _within(operand, _Binding.SUM)

    match node:
        case Compare(comparison, left, right):
            return f"{side(left)} {comparison.value} {side(right)}"
        case Distinct(left, right):
            return f"{side(left)} IS {inverse}DISTINCT FROM {side(right)}"
        case IsNull(operand):
            return f"{side(operand)} IS {inverse}NULL"
        case IsTruth(operand, truth):
            return f"{side(operand)} IS {inverse}{literal_text(truth)}"
        case In(operand, choices):
            listed = ", ".join(_write(choice)[0] for choice in choices)
            return f"{side(operand)} {inverse}IN ({listed})"
        case Between(operand, low, high):
            return f"{side(operand)} {inverse}BETWEEN {side(low)} AND {side(high)}"
        case Like(operand, pattern):
            return f"{side(operand)} {inverse}LIKE {literal_text(pattern)}"


def _write_atom(node: Expression) -> str:
    match node:
        case Column(name):
            return spelled(name)
        case Literal(_, value):
            return literal_text(value)
        case Case():
            return _write_case(node)
        case Coalesce(operands):
            return f"coalesce({', '.join(_write(operand)[0] for operand in operands)})"
        case ChangeLetters(letters, operand):
            return f"{letters.value}({_write(operand)[0]})"
        case PartOf(part, operand):
            return f"{part.value}({_write(operand)[0]})"
        case StartOf(span, operand):
            return f"date_trunc('{span.value}', {_write(operand)[0]})"
        case Substring(operand, start, length):
            return f"substring({_write(operand)[0]}, {start}, {length})"
        case Trim(operand):
            return f"trim({_write(operand)[0]})"
        case Bucket(operand, width):
            return f"bucket({_write(operand)[0]}, {width})"
        case _:
            return _write_call(node)


def _write_call(node: Expression) -> str:
    """What is written as a function of its operands."""
    match node:
        case Extreme(way, operands):
            name, parts = way.value, operands
        case Shorthand(called, operands):
            name, parts = called, operands
        case Rounded(Rounding.CAST, operand):
            return f"CAST({_write(operand)[0]} AS BIGINT)"
        case Rounded(rounding, operand):
            name, parts = rounding.value, (operand,)
        case AsText(operand):
            return f"CAST({_write(operand)[0]} AS VARCHAR)"
        case SplitPart(operand, separator, number):
            return f"split_part({_write(operand)[0]}, {literal_text(separator)}, {number})"
        case Magnitude(operand):
            name, parts = "abs", (operand,)
        case Microseconds(operand):
            name, parts = "epoch_us", (operand,)
        case _:
            raise AssertionError(f"{type(node).__name__} is no atom")
    return f"{name}({', '.join(_write(part)[0] for part in parts)})"


def _write_case(node: Case) -> str:
    words = ["CASE"] if node.subject is None else ["CASE", _write(node.subject)[0]]
    for when, then in node.branches:
        words += ["WHEN", _write(when)[0], "THEN", _write(then)[0]]
    if node.otherwise is not None:
        words += ["ELSE", _write(node.otherwise)[0]]
    return " ".join([*words, "END"])
