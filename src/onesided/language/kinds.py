"""What a bound tree is: its type, and how many digits its values have."""

from __future__ import annotations

from collections.abc import Sequence

from onesided.language.conversions import Typed, digits_of_column, digits_of_value, widest
from onesided.language.tree import (
    Arithmetic,
    AsText,
    Bucket,
    Case,
    ChangeLetters,
    Coalesce,
    Column,
    Concat,
    Convert,
    Expression,
    Extreme,
    FloatArithmetic,
    Later,
    Literal,
    Local,
    Magnitude,
    Microseconds,
    Negate,
    Part,
    PartOf,
    Rounded,
    SplitPart,
    StartOf,
    Substring,
    Trim,
)
from onesided.language.types import INTEGER_DIGITS, Digits, Type


def digits_of(node: Expression) -> Digits | None:
    """Digits enough for every value of a bound tree; None where it is no exact number."""
    match node:
        case Literal(_, value):
            return digits_of_value(value)
        case Column():
            return digits_of_column(node)
        case Coalesce(operands) | Extreme(_, operands):
            values: Sequence[Expression] = operands
        case Case(_, branches, otherwise):
            values = [then for _, then in branches]
            values = values if otherwise is None else [*values, otherwise]
        case _:
            return INTEGER_DIGITS if type_of(node) is Type.INTEGER else None
    return widest([Typed(value, type_of(value), digits_of(value)) for value in values])


def type_of(node: Expression) -> Type:
    """The type of a bound tree; for exact numbers of mixed types, one of them."""
    match node:
        case Literal(Type() as kind) | Convert(_, kind):
            return kind
        case Column(_, field) if field is not None:
            return field.type
        case Coalesce(operands) | Extreme(_, operands):
            return type_of(operands[0])
        case Case(_, branches):
            return type_of(branches[0][1])
        case ChangeLetters():
            return Type.TEXT
        case PartOf(Part.DATE):
            return Type.DATE
        case FloatArithmetic():
            return Type.FLOAT
        case StartOf(_, operand):
            return type_of(operand)
        case Substring() | Trim() | SplitPart() | Concat() | AsText():
            return Type.TEXT
        case Local() | Later():
            return Type.TIMESTAMP
        case Magnitude(operand):
            return type_of(operand)
        case Arithmetic() | Negate() | Bucket() | PartOf() | Rounded() | Microseconds():
            return Type.INTEGER
        case Literal() | Column():
            raise AssertionError("the tree is not bound")
        case _:
            return Type.BOOLEAN
