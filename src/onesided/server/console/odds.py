"""What an attacker learns from somebody's absence, before and after a publication.

The attacker knows that a person is in the data, and takes it as p likely that they are sensitive.
The person is missing from the published records. Bayes' rule gives what the attacker believes then:

    odds after = odds before · Pr(missing | sensitive) / Pr(missing | not sensitive)

The sensitive are always missing. The others are missing with probability 0 under plain filtering,
with a fixed share where some are removed at random, and with e^-ε under one-sided privacy. So odds
grow without a bound, by 1 / share, and by e^ε.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from onesided.errors import RequestError

PEOPLE = 100
NAIVE_SHARE = 0.05
"""Of the records that are not sensitive so many are removed by somebody who improvises."""
_LARGEST = 50.0


@dataclass(frozen=True)
class AttackerView:
    """One way to publish: what the attacker believes afterwards, and what it costs the others.

    - `after`: how likely the person is sensitive, in the attacker's eyes.
    - `factor`: by how much the odds grew; infinite where the attacker is certain.
    - `missing`: the share of records that are not sensitive and yet not published.
    """

    name: str
    explained: str
    before: float
    after: float
    factor: float
    missing: float

    @property
    def dots(self) -> tuple[str, ...]:
        """A hundred people as a picture shows them: sensitive, missing, or published."""
        sensitive = max(1, round(PEOPLE * self.before))
        missing = round((PEOPLE - sensitive) * self.missing)
        published = PEOPLE - sensitive - missing
        return ("sensitive",) * sensitive + ("missing",) * missing + ("published",) * published

    @property
    def counted(self) -> dict[str, int]:
        """How many of the hundred are which."""
        return {each: self.dots.count(each) for each in ("sensitive", "missing", "published")}

    @property
    def is_certain(self) -> bool:
        """Whether nothing is left to guess."""
        return math.isinf(self.factor)


def attacker_views(before: float, epsilon: float) -> tuple[AttackerView, ...]:
    """The three ways, for an attacker who takes it as `before` likely at first."""
    if not 0 < before < 1:
        raise RequestError("How likely it is must be above 0 and below 100 %.")
    epsilon = min(epsilon, _LARGEST)
    return (
        _view(
            "Plain filtering",
            "Everybody who is not protected is published.",
            before,
            0.0,
        ),
        _view(
            "Filtering, and removing some at random",
            f"Of the others {NAIVE_SHARE:.0%} are left out, whoever they are.",
            before,
            NAIVE_SHARE,
        ),
        _view(
            "One-sided privacy",
            f"Of the others {100 * math.exp(-epsilon):.3g}% are left out, by a coin for each.",
            before,
            math.exp(-epsilon),
        ),
    )


def _view(name: str, explained: str, before: float, missing: float) -> AttackerView:
    if not missing:
        return AttackerView(name, explained, before, 1.0, math.inf, 0.0)
    odds = before / (1 - before) / missing
    return AttackerView(name, explained, before, odds / (1 + odds), 1 / missing, missing)
