"""Under which policy and on which part of the units a request runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onesided.data.units import Unit
from onesided.errors import RequestError
from onesided.language import BoundKey, BoundPredicate, Key, Schema
from onesided.language.canonical import literal_text
from onesided.language.tree import Column, Compare, Comparison, Literal
from onesided.ledger import Part, Spending
from onesided.loss import Loss
from onesided.policy import FunctionPolicy, Policy
from onesided.session.values import typed_value

AnyPolicy = Policy | FunctionPolicy


@dataclass(frozen=True)
class Scope:
    """A policy and a part, checked against the account's.

    - `stricter`: the policy is not the account's own; the account's is proven to relax it.
    - `part`: one value of a declared column of the unit key; None for all units.
    - `inside`: the filter for that part. The column is constant within a unit, so it splits units
      and never cuts through one.
    """

    policy: AnyPolicy
    stricter: bool = False
    part: Part | None = None
    inside: BoundPredicate | None = None

    def spending(self, loss: Loss, *, shared_coins: bool = False) -> Spending:
        """What the ledger is to charge for `loss`."""
        return Spending(
            loss=loss,
            policy_id=self.policy.id,
            policy_sql=policy_text(self.policy),
            part=self.part,
            relaxed=self.stricter,
            shared_coins=shared_coins,
        )

    def details(self) -> dict[str, Any]:
        """What of it belongs to a request's fingerprint."""
        return {} if self.part is None else {"part": list(self.part)}


def scope(
    base: AnyPolicy,
    schema: Schema,
    partition_by: tuple[str, ...],
    *,
    policy: str | Policy | None,
    part: Mapping[str, Any] | None,
) -> Scope:
    """Check that the account's policy relaxes `policy`, and that `part` is one of a partition."""
    chosen, stricter = _stricter(base, schema, policy)
    if part is None:
        return Scope(chosen, stricter)
    if len(part) != 1:
        raise RequestError("A part is one value of one column, such as day = '2024-01-01'.")
    ((name, value),) = part.items()
    named = Unit((name,)).bind(schema)
    (column,) = named.columns
    if column not in partition_by:
        raise RequestError(
            f"{column} was not declared in partition_by when the data set was opened; "
            "only declared parts compose in parallel."
        )
    key = named.computed[0] if named.computed else Key(Column(column)).bind(schema)
    literal = Literal(key.type, typed_value(key, value))
    return Scope(
        chosen, stricter, part=(column, literal_text(literal.value)), inside=_equals(key, literal)
    )


def policy_text(policy: AnyPolicy) -> str:
    """The policy in words: its SQL, or the name of its function."""
    if isinstance(policy, Policy):
        return policy.sql
    return f"the Python function {policy.name or 'without a name'}"


def _stricter(
    base: AnyPolicy, schema: Schema, policy: str | Policy | None
) -> tuple[AnyPolicy, bool]:
    if policy is None:
        return base, False
    asked = Policy(policy) if isinstance(policy, str) else policy
    asked = Policy(asked.bind(schema).sql)
    if asked == base:
        return base, False
    answer = base.relaxes(asked, schema)
    if answer:
        return asked, True
    example = ""
    if answer.counterexample is not None:
        shown = ", ".join(f"{name} = {value}" for name, value in answer.counterexample.items())
        example = f" (for instance {shown})"
    raise RequestError(
        "The account's policy must be proven to relax the policy of a release: everything that is "
        f"sensitive for the account must be sensitive here, and that is not so{example}."
        if answer.counterexample is not None
        else f"That the account's policy relaxes this one is not proven: {answer.reason}"
    )


def _equals(key: BoundKey, literal: Literal) -> BoundPredicate:
    return BoundPredicate(
        Compare(Comparison.EQUAL, key.expression, literal),
        Compare(Comparison.EQUAL, key.typed, literal),
    )
