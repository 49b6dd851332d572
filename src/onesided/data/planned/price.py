"""What a question costs on the account as it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from onesided.loss import show


@dataclass(frozen=True)
class Price:
    """What a question costs.

    - `cost`: what it would add to the account's ε; None where the account cannot book it.
    - `plain`: what it would add to the plain sum of ε.
    - `fits`: whether the account can pay it.
    - `again`: it is paid for already.
    """

    cost: Fraction | None
    plain: Fraction
    fits: bool
    again: bool = False

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; exact numbers are texts."""
        return {
            "cost": text_of(self.cost),
            "cost_as_plain_sum": show(self.plain),
            "fits": self.fits,
            "paid": self.again,
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Price:
        """The inverse of `to_json`."""
        plain = Fraction(said["cost_as_plain_sum"])
        return cls(exact_of(said["cost"]), plain, bool(said["fits"]), bool(said["paid"]))


def text_of(number: Fraction | None) -> str | None:
    """An exact number as it stands in JSON."""
    return None if number is None else show(number)


def exact_of(text: str | None) -> Fraction | None:
    """The inverse of `text_of`."""
    return None if text is None else Fraction(text)
