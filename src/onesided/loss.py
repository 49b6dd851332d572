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

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

from onesided.errors import InputError

Number: TypeAlias = int | str | float | Decimal | Fraction


LEAST_LOSS, MOST_LOSS = Fraction(1, 10**9), Fraction(10**6)
"""The range of an ε. Below it noise exceeds all counts that there are. Long before its upper end
nothing is hidden any more; there exact weights take half a minute at the most."""
MOST_UNASKED = Fraction(10)
"""An ε above it has to be meant: it lets some outputs be e¹⁰ = 22,026 times likelier."""
LEAST, MOST = Fraction(1, 10**15), Fraction(10**9)
"""The range of a budget, which many ε make up, and of the shares of one that mechanisms get."""
MOST_DIGITS = 50
"""Of a numerator or denominator. Every float in these ranges has fewer, and sums stay short."""
MOST_PARTS = 1_000
"""The largest denominator beside powers of 2 and 5. The least common multiple of all numbers up to
it has 433 digits, so no account's total is longer, however many releases it adds up."""
_STORED_DIGITS = 4_000  # Python itself reads and writes no integer beyond 4,300 digits.


def rational(value: Number, name: str = "epsilon", *, digits: int = MOST_DIGITS) -> Fraction:
    """The exact number that `value` means; a float means the decimal it prints, so 0.1 is 1/10.

    Refused where numerator or denominator has more than so many `digits`. A short text can mean a
    number that fills the memory, so its exponent is looked at before the number is made.
    """
    try:
        if isinstance(value, bool) or not _is_short(value, digits):
            raise ValueError
        exact = Fraction(_plain(value))
        if max(abs(exact.numerator), exact.denominator) >= _power_of_ten(digits):
            raise ValueError
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise InputError(
            f"{name} must be a finite number such as 0.5, '1/2' or Fraction(1, 2), of at most "
            f"{digits:,} digits."
        ) from None
    return exact


@cache
def _power_of_ten(digits: int) -> int:
    return int(10**digits)


def _is_short(value: Number, digits: int) -> bool:
    if isinstance(value, Decimal):
        return value.is_finite() and abs(value.adjusted()) <= digits
    if not isinstance(value, str):
        return True
    exponent = value.lower().partition("e")[2].strip() or "0"
    long = len(value) > 2 * digits + 10 or len(exponent) > len(str(digits)) + 1
    return not long and abs(int(exponent)) <= digits


def _plain(value: Number) -> int | str | Decimal | Fraction:
    """NumPy's scalars are of types whose texts differ; their numbers are plain."""
    if isinstance(value, int | str | Decimal | Fraction):
        return value
    if type(value).__name__ in ("bool", "bool_"):
        raise TypeError
    return operator.index(value) if hasattr(value, "__index__") else repr(float(value))


def positive(
    value: Number, name: str = "epsilon", *, least: Fraction = LEAST, most: Fraction = MOST
) -> Fraction:
    """`rational(value)`, refused unless it is above zero and within a range."""
    exact = rational(value, name)
    if exact <= 0:
        raise InputError(f"{name} must be greater than 0.")
    if not least <= exact <= most:
        raise InputError(f"{name} must be from {_short(least)} to {_short(most)}.")
    return exact


def privacy_loss(value: Number) -> Fraction:
    """An ε as it is asked for: positive, within a range, and no odd fraction."""
    return _even(positive(value, least=LEAST_LOSS, most=MOST_LOSS), "epsilon")


def meant_loss(value: Number, *, yes: bool) -> Fraction:
    """`privacy_loss(value)`, refused where it hides next to nothing and nobody said `yes` to it."""
    exact = privacy_loss(value)
    if exact > MOST_UNASKED and not yes:
        raise InputError(
            f"An epsilon above {MOST_UNASKED} hides next to nothing; ask for less, or say yes=True "
            "if it is meant."
        )
    return exact


def privacy_budget(value: Number) -> Fraction:
    """What all releases may cost together: as `privacy_loss`, with room for many of them."""
    return _even(positive(value, "budget", least=LEAST_LOSS), "budget")


def _even(exact: Fraction, name: str) -> Fraction:
    parts = exact.denominator
    for prime in (2, 5):
        while parts % prime == 0:
            parts //= prime
    if parts > MOST_PARTS:
        raise InputError(
            f"{name} must be a decimal, or a fraction with a denominator of at most {MOST_PARTS:,}."
        )
    return exact


def quantity(value: Number, name: str) -> Fraction:
    """The bound of a sum, or the width of a step of it: positive, with room for every unit."""
    return positive(value, name, least=Fraction(1, 10**30), most=Fraction(10**30))


def _short(value: Fraction) -> str:
    """A power of ten for people."""
    return f"10^{len(str(value.numerator)) - len(str(value.denominator))}"


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
        pair = (
            rational(sensitive, "sensitive", digits=_STORED_DIGITS),
            rational(nonsensitive, "nonsensitive", digits=_STORED_DIGITS),
        )
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

        Replacing one unit costs ε under any policy, which is what the pair's OSDP ε says; no
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
        (Σ Sⱼ, Σ max(Sⱼ, Tⱼ)). A removed unit is sensitive for every policy. An added unit that
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

    def to_json(self) -> dict[str, Any]:
        """The pair as plain JSON; fractions are texts, so that they stay exact."""
        return {
            "sensitive": str(self.sensitive),
            "nonsensitive": str(self.nonsensitive),
            "fixed_n": self.fixed_n,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Loss:
        """The inverse of `to_json`."""
        return cls(value["sensitive"], value["nonsensitive"], fixed_n=value["fixed_n"])

    def fits(self, budget: Fraction) -> bool:
        """Whether the OSDP ε stays within `budget`."""
        return self.epsilon <= budget

    def __str__(self) -> str:
        mark = ", fixed n" if self.fixed_n else ""
        return f"({show(self.sensitive)}, {show(self.nonsensitive)}{mark})"

    def __repr__(self) -> str:
        return f"<Loss: {self}; ε = {show(self.epsilon)}>"

    def _repr_html_(self) -> str:
        from onesided import html

        extended = self.extended_epsilon
        said = "none: it uses the number of units" if extended is None else show(extended)
        return html.card(
            f"Loss: ε = {show(self.epsilon)}",
            html.facts(
                {
                    "sensitive": show(self.sensitive),
                    "non-sensitive": show(self.nonsensitive),
                    "extended ε": said,
                }
            ),
        )


def show(value: Fraction) -> str:
    """A rational for people: the plain decimal where it ends within 12 places, else p/q."""
    scaled = value * 10**12
    if scaled.denominator != 1:
        return f"{value.numerator}/{value.denominator}"
    whole, rest = divmod(abs(scaled.numerator), 10**12)
    sign = "-" if value < 0 else ""
    return f"{sign}{whole}.{rest:012}".rstrip("0").rstrip(".")
