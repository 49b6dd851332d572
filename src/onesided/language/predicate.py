"""Predicates and group keys: accepted text, ready to be bound, rendered and evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from onesided.errors import PolicyError
from onesided.language.binding import (
    bind_condition,
    bind_value,
    check_condition,
    check_value,
    resolve,
)
from onesided.language.canonical import canonical_text
from onesided.language.evaluation import evaluate
from onesided.language.kinds import digits_of, type_of
from onesided.language.tree import (
    Column,
    Expression,
    Value,
)
from onesided.language.types import Digits, Schema, Type
from onesided.language.walking import column_names
from onesided.language.writer import Writer

_MOST_KEPT = 256


@dataclass(frozen=True)
class Predicate:
    """A condition on one row. As a WHERE it selects the rows for which it is true, not NULL."""

    expression: Expression

    @staticmethod
    def parse(text: str) -> Predicate:
        """Reads a text; PolicyError names the part that is not accepted."""
        expression = _parsed(text)
        check_condition(expression)
        return Predicate(expression)

    @property
    def sql(self) -> str:
        """The canonical text."""
        return canonical_text(self.expression)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads, in order of appearance."""
        return column_names(self.expression)

    def bind(self, schema: Schema) -> BoundPredicate:
        """The predicate on tables of this schema, its columns found and its types checked."""
        resolved = resolve(self.expression, schema)
        return BoundPredicate(resolved, bind_condition(resolved, schema))

    def __str__(self) -> str:
        return self.sql


@dataclass(frozen=True)
class BoundPredicate(Predicate):
    """A predicate whose columns and types are known: `typed` is what engines are given."""

    typed: Expression

    def render(self, writer: Writer) -> str:
        """The condition in the SQL of an engine."""
        return writer.write(self.typed)

    def evaluate(self, row: Mapping[str, Any]) -> bool | None:
        """The condition for one row; None is NULL."""
        truth = evaluate(self.typed, row)
        return None if truth is None else bool(truth)


@dataclass(frozen=True)
class Key:
    """What to group by, or to add up: a value of one row, such as `room` or `bucket(age, 10)`."""

    expression: Expression

    @staticmethod
    def parse(text: str) -> Key:
        """Reads `room`, `hour(ts)`, `bucket(age, 10)` or `CASE WHEN age < 18 THEN 'minor' END`."""
        expression = _parsed(text)
        check_value(expression)
        if not column_names(expression):
            raise PolicyError(
                f"{canonical_text(expression)} is the same for every row; name a column."
            )
        return Key(expression)

    @property
    def name(self) -> str:
        """The name of the key in a result: the column's own name, or the canonical text."""
        if isinstance(self.expression, Column):
            return self.expression.name
        return canonical_text(self.expression)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the key is made from."""
        return column_names(self.expression)

    def bind(self, schema: Schema) -> BoundKey:
        """The key on tables of this schema."""
        resolved = resolve(self.expression, schema)
        return BoundKey(resolved, bind_value(resolved, schema))

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class BoundKey(Key):
    """A key whose columns and type are known."""

    typed: Expression

    @property
    def type(self) -> Type:
        """The type of the key's values."""
        return type_of(self.typed)

    @property
    def digits(self) -> Digits | None:
        """Digits enough for every value, where it is a decimal."""
        return digits_of(self.typed) if self.type is Type.DECIMAL else None

    def render(self, writer: Writer) -> str:
        """The key in the SQL of an engine."""
        return writer.write_key(self.typed)

    def evaluate(self, row: Mapping[str, Any]) -> Value:
        """The key of one row; None is NULL."""
        return evaluate(self.typed, row)


def _parsed(text: str) -> Expression:
    # What is no text may not even have a hash; the parser refuses it.
    return _kept(text) if isinstance(text, str) else _checked(text)


@lru_cache(maxsize=_MOST_KEPT)
def _kept(text: str) -> Expression:
    """The tree of a text; the same texts come again and again, and trees are values."""
    return _checked(text)


def _checked(text: str) -> Expression:
    # The parser takes a while to load: nothing pays for it before the first text is read.
    from onesided.language.parser import MAX_LENGTH, parse

    expression = parse(text)
    canonical = canonical_text(expression)
    if len(canonical) > MAX_LENGTH:
        raise PolicyError(f"A predicate has at most {MAX_LENGTH} characters; shorten it.")
    # A word can be a column in one place and a keyword in another.
    if parse(canonical) != expression:
        raise PolicyError("Put double quotes around the column names: one of them is a keyword.")
    return expression
