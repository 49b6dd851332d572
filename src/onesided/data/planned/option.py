"""One way to answer a question, with its price and its expected errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from math import inf
from typing import Any

from onesided.data.expectation import NO_TWO_ALIKE, STATED_GROUPS
from onesided.data.planned.price import exact_of, text_of
from onesided.digits import plain_size
from onesided.loss import show

_MIDDLE = STATED_GROUPS[len(STATED_GROUPS) // 2]


class Missing(Enum):
    """What a question may have to say before it can be answered."""

    MAX_GROUPS = "max_groups"
    DOMAIN = "a declared domain"


@dataclass(frozen=True, kw_only=True)
class Option:
    """One way to answer the question.

    - `figure`: what it answers.
    - `mechanism`, `epsilon`: what to ask for.
    - `errors`: the expected mean of |x̃ᵢ − xᵢ| over the groups, by the number of groups; under
      None where that is known. Nothing where nobody can say.
    - `assumes`: what the expected error takes for granted about the data.
    - `of`: whose figure the error is beside; None without one.
    - `cost`: what it would add to the account's ε; None where the account cannot book it.
    - `plain_cost`: what it would add to the plain sum of ε.
    - `fits`: whether the account can pay it.
    - `missing`: what the question must say first.
    - `supposing`: what it says in the expectation in place of what is missing.
    - `refusal`: why the mechanism does not answer questions of this form, where it does not.
    - `note`: why it is free, where it is.
    """

    figure: str
    mechanism: str
    epsilon: Fraction
    cost: Fraction | None
    plain_cost: Fraction
    fits: bool
    errors: Mapping[int | None, float] = field(default_factory=dict)
    assumes: str = ""
    of: str | None = None
    missing: Missing | None = None
    supposing: str = ""
    refusal: str = ""
    note: str = ""

    @property
    def available(self) -> bool:
        """Whether it would be answered now."""
        return self.fits and self.missing is None and not self.refusal

    @property
    def error(self) -> float | None:
        """The expected error; where the number of groups is not known, that for 100 of them."""
        return self.errors.get(None, self.errors.get(_MIDDLE))

    def within(self, error: float | None) -> bool:
        """Whether no expected error is larger."""
        return error is not None and bool(self.errors) and max(self.errors.values()) <= error

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; exact numbers are texts."""
        return {
            "figure": self.figure,
            "mechanism": self.mechanism,
            "epsilon": show(self.epsilon),
            "expected_absolute_error_per_group": self.errors.get(None),
            "expected_absolute_error_by_groups": {
                str(number): error for number, error in self.errors.items() if number is not None
            },
            "expected_error_of": self.of,
            "expected_error_assumes": self.assumes,
            "cost": text_of(self.cost),
            "cost_as_plain_sum": show(self.plain_cost),
            "fits": self.fits,
            "missing": self.needs,
            "supposing": self.supposing,
            "refusal": self.refusal,
            "note": self.note,
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Option:
        """The inverse of `to_json`."""
        one = said["expected_absolute_error_per_group"]
        several = said["expected_absolute_error_by_groups"]
        errors: dict[int | None, float] = {} if one is None else {None: float(one)}
        return cls(
            figure=said["figure"],
            mechanism=said["mechanism"],
            epsilon=Fraction(said["epsilon"]),
            errors={**errors, **{int(number): float(each) for number, each in several.items()}},
            assumes=said["expected_error_assumes"],
            of=said["expected_error_of"],
            cost=exact_of(said["cost"]),
            plain_cost=Fraction(said["cost_as_plain_sum"]),
            fits=bool(said["fits"]),
            missing=Missing(said["missing"]) if said["missing"] else None,
            supposing=said["supposing"],
            refusal=said["refusal"],
            note=said["note"],
        )

    @property
    def needs(self) -> str:
        """What is missing, in words."""
        return "" if self.missing is None else self.missing.value

    @property
    def said(self) -> str:
        """The expected error in words."""
        if not self.errors:
            return "unknown"
        upper = "up to " if self.assumes == NO_TWO_ALIKE else ""
        sizes = " / ".join(plain_size(error) for error in self.errors.values())
        numbers = " / ".join(f"{number:,}" for number in self.errors if number is not None)
        stated = f" for {numbers} groups" if numbers else ""
        supposing = f" with {self.supposing}" if self.supposing else ""
        return f"{upper}±{sizes}{stated}{supposing}"

    @property
    def can(self) -> str:
        """Whether it can be had, in words."""
        if self.missing is not None:
            return f"no: it needs {self.needs}"
        if self.refusal:
            return f"no: {self.refusal}"
        if self.cost is None:
            return "no: it cannot be booked on one part"
        return (self.note or "yes") if self.fits else "no: over budget"


def usefulness(row: Option) -> tuple[bool, float, Fraction]:
    """What can be had first, then the least error, then the least cost."""
    error = inf if row.error is None else row.error
    return not row.available, error, Fraction(0) if row.cost is None else row.cost


def cheapness(row: Option) -> tuple[bool, Fraction, float]:
    """What can be had first, then the least cost, then the least error."""
    unavailable, error, cost = usefulness(row)
    return unavailable, cost, error
