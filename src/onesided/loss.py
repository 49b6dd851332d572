"""What a release costs: the pair of losses, how pairs compose, and the two ε that follow.

A mechanism M states the pair (s, t):

- s = `Loss.sensitive`: the most that the log-probability of any output moves when one *sensitive*
  unit is added or removed;
- t = `Loss.nonsensitive`: the most that it *drops* when one *non-sensitive* unit is added.

OSDP replaces one sensitive unit: remove it (s), add its replacement (s or t), so ε = s + max(s, t).
Extended OSDP takes one step alone, so its ε is max(s, t). Everything here is exact: numbers are
rationals, and a float stands for the decimal that it prints.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import TypeAlias

from onesided.errors import InputError

Number: TypeAlias = int | str | float | Decimal | Fraction


def rational(value: Number, name: str = "epsilon") -> Fraction:
    """The exact number that `value` means; a float means the decimal it prints, so 0.1 is 1/10."""
    complaint = f"{name} must be a finite number such as 0.5, '1/2' or Fraction(1, 2)."
    if isinstance(value, bool):
        raise InputError(complaint)
    if isinstance(value, int | Fraction):
        return Fraction(value)
    try:
        if isinstance(value, str):
            return Fraction(value.strip())
        if isinstance(value, Decimal):
            return Fraction(value)
        # NumPy's scalars are floats whose repr names their type; float() brings the plain decimal.
        plain = float(value)
        return Fraction(repr(plain)) if isfinite(plain) else _refuse(complaint)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise InputError(complaint) from None


def _refuse(complaint: str) -> Fraction:
    raise InputError(complaint)


def positive(value: Number, name: str = "epsilon") -> Fraction:
    """`rational(value)`, refused unless it is above zero."""
    exact = rational(value, name)
    if exact <= 0:
        raise InputError(f"{name} must be greater than 0.")
    return exact


@dataclass(frozen=True, init=False)
class Loss:
    """The pair (s, t) = (`sensitive`, `nonsensitive`), and whether public n was used (`fixed_n`).

    A loss with `fixed_n` belongs to a release that read the number n of units. Adding or removing a
    unit changes n, so such a release has no extended-OSDP ε and does not compose in parallel.
    """

    sensitive: Fraction
    nonsensitive: Fraction
    fixed_n: bool

    def __init__(self, sensitive: Number, nonsensitive: Number, *, fixed_n: bool = False) -> None:
        pair = rational(sensitive, "sensitive"), rational(nonsensitive, "nonsensitive")
        if min(pair) < 0:
            raise InputError("A loss cannot be negative.")
        object.__setattr__(self, "sensitive", pair[0])
        object.__setattr__(self, "nonsensitive", pair[1])
        object.__setattr__(self, "fixed_n", fixed_n)

    @classmethod
    def zero(cls) -> Loss:
        """Nothing was released: (0, 0)."""
        return cls(0, 0)

    @classmethod
    def differential_privacy(cls, epsilon: Number) -> Loss:
        """Ordinary DP, calibrated to adding or removing one unit at `epsilon`: (ε, ε), OSDP 2ε."""
        return cls(epsilon, epsilon)

    @classmethod
    def replace_one(cls, epsilon: Number) -> Loss:
        """Ordinary DP, calibrated to replacing one unit at `epsilon`: booked (ε/2, ε/2), fixed n.

        Replacing one unit costs ε whatever the policy, which is what the pair's OSDP ε says; no
        statement about adding or removing alone is made, hence `fixed_n`.
        """
        half = rational(epsilon) / 2
        return cls(half, half, fixed_n=True)

    @property
    def epsilon(self) -> Fraction:
        """The OSDP ε = s + max(s, t): one sensitive unit is replaced by any other unit."""
        return self.sensitive + max(self.sensitive, self.nonsensitive)

    @property
    def extended_epsilon(self) -> Fraction | None:
        """The extended-OSDP ε = max(s, t): any unit is added, or a sensitive one is removed.

        None where the release used the public number n of units.
        """
        return None if self.fixed_n else max(self.sensitive, self.nonsensitive)

    def __add__(self, other: Loss) -> Loss:
        """Both releases, under one policy, one chosen after seeing the other: (s+s', t+t')."""
        if not isinstance(other, Loss):
            return NotImplemented
        return Loss(
            self.sensitive + other.sensitive,
            self.nonsensitive + other.nonsensitive,
            fixed_n=self.fixed_n or other.fixed_n,
        )

    @classmethod
    def sequential(cls, losses: Iterable[Loss]) -> Loss:
        """The sum of any number of losses; nothing at all costs nothing."""
        return sum(losses, start=cls.zero())

    @classmethod
    def parallel(cls, *losses: Loss) -> Loss:
        """Releases on the parts of a data-independent partition of the units: (max s, max t).

        Refused where a part used its number of units: replacing a unit may move it to another part.
        """
        if any(loss.fixed_n for loss in losses):
            raise InputError("Releases that use the number of units do not compose in parallel.")
        return cls(
            max((loss.sensitive for loss in losses), default=Fraction(0)),
            max((loss.nonsensitive for loss in losses), default=Fraction(0)),
        )

    @classmethod
    def across_policies(cls, *sums: Loss) -> Loss:
        """Releases under different policies: each argument is the sum of one policy's losses.

        Under the minimum relaxation (sensitive where *all* policies say so) the pair is
        (Σ Sⱼ, Σ max(Sⱼ, Tⱼ)): a removed unit is sensitive for every policy, while an added one that
        the relaxation calls non-sensitive may be either for each of them.
        """
        if len(sums) == 1:
            return sums[0]
        return cls.sequential(each.under_relaxation() for each in sums)

    def under_relaxation(self) -> Loss:
        """The same release, seen from a policy that relaxes its own: (s, max(s, t)).

        Fewer units are sensitive there, so a unit that is now non-sensitive may have been either.
        """
        worst = max(self.sensitive, self.nonsensitive)
        return Loss(self.sensitive, worst, fixed_n=self.fixed_n)

    def fits(self, budget: Fraction) -> bool:
        """Whether the OSDP ε stays within `budget`."""
        return self.epsilon <= budget

    def __str__(self) -> str:
        mark = ", fixed n" if self.fixed_n else ""
        return f"({show(self.sensitive)}, {show(self.nonsensitive)}{mark})"


def show(value: Fraction) -> str:
    """A rational for people: the plain decimal where it ends within 12 places, else p/q."""
    scaled = value * 10**12
    if scaled.denominator != 1:
        return f"{value.numerator}/{value.denominator}"
    text = f"{Decimal(scaled.numerator) / Decimal(10**12):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
