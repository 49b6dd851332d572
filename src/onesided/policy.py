"""Policies: which records are sensitive.

A policy is a predicate p over a row. The row is sensitive where `(p) IS NOT FALSE`, so a NULL is
sensitive. P₁ relaxes P₂ where every row that is sensitive under P₁ is sensitive under P₂; then a
promise made under P₂ holds under P₁ too, since P₁ protects no row that P₂ does not.

    sensitive(p AND q) = sensitive(p) and sensitive(q)

because `p AND q` is FALSE exactly where p is FALSE or q is. So the minimum relaxation of several
policies, sensitive only where all of them say so, is their conjunction.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from onesided.errors import PolicyError
from onesided.language import BoundPredicate, Predicate, Schema, Writer, evaluate
from onesided.relaxation import Relaxation, Verdict, implies, not_proven, proven
from onesided.visible import visible

__all__ = [
    "BoundPolicy",
    "FunctionPolicy",
    "MinimumRelaxation",
    "Policy",
    "Relaxation",
    "Verdict",
    "minimum_relaxation",
]


@dataclass(frozen=True, eq=False)
class Policy:
    """A policy written as a SQL predicate: `Policy("age <= 17")`.

    `sql` is its canonical text, however it was written; two policies with the same canonical text
    are equal.
    """

    sql: str
    predicate: Predicate = field(init=False, repr=False)

    def __post_init__(self) -> None:
        predicate = Predicate.parse(self.sql)
        object.__setattr__(self, "predicate", predicate)
        object.__setattr__(self, "sql", predicate.sql)

    @classmethod
    def all_sensitive(cls) -> Policy:
        """Every row is sensitive: ordinary differential privacy."""
        return Policy("TRUE")

    @classmethod
    def none_sensitive(cls) -> Policy:
        """No row is sensitive: nothing is promised to anybody."""
        return Policy("FALSE")

    @classmethod
    def from_function(
        cls, function: Callable[[Mapping[str, Any]], object], name: str | None = None
    ) -> FunctionPolicy:
        """A policy in Python, for tables in memory; see `FunctionPolicy`."""
        return FunctionPolicy(function, name)

    def __repr__(self) -> str:
        return f"<Policy: sensitive where {visible(self.sql)}, or NULL>"

    def _repr_html_(self) -> str:
        from onesided import html

        columns = ", ".join(self.columns) or "none"
        return html.card(
            "Policy",
            html.facts({"sensitive where": f"{self.sql}, or NULL", "columns": columns}),
        )

    @property
    def id(self) -> str:
        """The same for the same canonical text, always and everywhere."""
        return f"policy-{hashlib.sha256(self.sql.encode()).hexdigest()}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the policy reads."""
        return self.predicate.columns

    @property
    def constant(self) -> bool | None:
        """True if every row is sensitive without looking at it, False if none is, else None."""
        if self.columns:
            return None
        return evaluate(self.predicate.expression, {}) is not False

    def bind(self, schema: Schema) -> BoundPolicy:
        """The policy on tables of this schema; PolicyError where it does not fit."""
        return BoundPolicy(self.predicate.bind(schema))

    def is_sensitive(self, row: Mapping[str, Any]) -> bool:
        """Whether one row, given as a mapping with the column names of the policy, is sensitive."""
        return evaluate(self.predicate.expression, row) is not False

    def relaxes(self, other: Policy | FunctionPolicy, schema: Schema | None = None) -> Relaxation:
        """Whether every row that is sensitive here is sensitive under `other`.

        The schema sharpens the answer: `age > 17` relaxes `age >= 18` where age is an integer.
        """
        if self == other:
            return proven("Both policies are the same.")
        if self.constant is False or other.constant is True:
            return proven("No row is sensitive under the first, or every row under the second.")
        if isinstance(other, FunctionPolicy):
            return not_proven("A Python function cannot be analysed.")
        if schema is None:
            return implies(self.predicate.expression, other.predicate.expression, None)
        return implies(
            self.predicate.bind(schema).typed, other.predicate.bind(schema).typed, schema
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self.sql == other.sql

    def __hash__(self) -> int:
        return hash(self.sql)

    def __str__(self) -> str:
        return self.sql


@dataclass(frozen=True)
class BoundPolicy:
    """A policy whose columns and types are known, ready for an engine."""

    predicate: BoundPredicate

    @property
    def sql(self) -> str:
        """The canonical text, each column spelt as in the schema."""
        return self.predicate.sql

    @property
    def id(self) -> str:
        """The id of the policy with this text."""
        return Policy(self.sql).id

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the policy reads, spelt as in the schema."""
        return self.predicate.columns

    def render_sensitive(self, writer: Writer) -> str:
        """SQL that is TRUE for a sensitive row, FALSE for any other, and never NULL."""
        return f"({self.predicate.render(writer)} IS NOT FALSE)"

    def is_sensitive(self, row: Mapping[str, Any]) -> bool:
        """Whether one row is sensitive."""
        return self.predicate.evaluate(row) is not False


@dataclass(frozen=True, eq=False)
class MinimumRelaxation(Policy):
    """The conjunction of several policies, which are its `parts`.

    As a row predicate it is sound for units of several rows, but promises less than it could: at
    the level of units the minimum relaxation is `bool_or(p) AND bool_or(q)`, for which the parts
    are kept.
    """

    parts: tuple[Policy, ...]

    @classmethod
    def of(cls, parts: tuple[Policy, ...]) -> MinimumRelaxation:
        """The conjunction in a canonical order."""
        ordered = tuple(sorted(set(parts), key=lambda part: part.sql))
        return cls(" AND ".join(f"({part.sql})" for part in ordered), ordered)


@dataclass(frozen=True)
class FunctionPolicy:
    """A Python function of a row, as in the literature; only for tables in memory.

    It is called once for each row. Only False makes a row non-sensitive: any other result, and any
    exception, makes it sensitive. It must depend on nothing but the row. Nothing can be proven
    about it, so it relaxes only itself and what every policy relaxes. Without a `name` its id is
    good for this process only; with one, the caller vouches that the name means this function.
    """

    function: Callable[[Mapping[str, Any]], object]
    name: str | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise PolicyError("Policy.from_function takes a function of a row.")
        if self.name is not None and not self.name.strip():
            raise PolicyError("The name of a function policy is empty; leave it out or fill it in.")

    @property
    def sql(self) -> str:
        """A label that is no SQL, for receipts."""
        label = self.name or getattr(self.function, "__qualname__", "unnamed")
        return f"python function {label}"

    @property
    def id(self) -> str:
        """Stable across processes only where the function has a name."""
        if self.name is not None:
            return f"function-{self.name}"
        return f"function-of-process-{os.getpid()}-{id(self.function):x}"

    @property
    def has_stable_id(self) -> bool:
        """Whether the id means the same in the next process; a durable account needs that."""
        return self.name is not None

    @property
    def constant(self) -> None:
        """Unknown: see `Policy.constant`."""
        return None

    def is_sensitive(self, row: Mapping[str, Any]) -> bool:
        """Whether one row is sensitive; fails closed."""
        try:
            return not _is_false(self.function(row))
        except Exception:
            return True

    def relaxes(self, other: Policy | FunctionPolicy, schema: Schema | None = None) -> Relaxation:
        """As `Policy.relaxes`; proven only for itself and for the all-sensitive policy."""
        if self == other:
            return proven("Both policies are the same function.")
        if other.constant is True:
            return proven("Every row is sensitive under the second policy.")
        return not_proven("A Python function cannot be analysed.")


def minimum_relaxation(*policies: Policy | FunctionPolicy) -> Policy | FunctionPolicy:
    """The policy under which promises under all of `policies` hold together.

    A row is sensitive where every one of them says so. Policies that are equal count once, the
    all-sensitive policy does not matter and the none-sensitive one decides.
    """
    if not policies:
        raise PolicyError("minimum_relaxation needs at least one policy.")
    parts = {part for policy in policies for part in _parts_of(policy) if part.constant is not True}
    if any(part.constant is False for part in parts):
        return Policy.none_sensitive()
    if not parts:
        return Policy.all_sensitive()
    if len(parts) == 1:
        return parts.pop()
    written = tuple(part for part in parts if isinstance(part, Policy))
    if len(written) < len(parts):
        raise PolicyError(
            "A Python function has no minimum relaxation with other policies; write it as SQL."
        )
    return MinimumRelaxation.of(written)


def _parts_of(policy: Policy | FunctionPolicy) -> tuple[Policy | FunctionPolicy, ...]:
    return policy.parts if isinstance(policy, MinimumRelaxation) else (policy,)


def _is_false(result: object) -> bool:
    """Whether the result is False itself or NumPy's False, which is recognised without NumPy."""
    kind = type(result)
    is_numpy_bool = kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_")
    return result is False or (is_numpy_bool and not result)
