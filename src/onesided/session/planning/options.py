"""The options of a plan: questions with their price and what to expect of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from onesided.data.planned.curve import Curve
from onesided.data.planned.least import MOST_PLANNED, Aim
from onesided.data.planned.option import Missing, Option
from onesided.errors import MechanismRefused
from onesided.loss import show
from onesided.mechanisms.base import Kind
from onesided.mechanisms.registry import mechanism, mechanism_names
from onesided.mechanisms.rr import RandomizedResponse
from onesided.session.asking import Asker
from onesided.session.best_bound import bound_curve, with_bound, without_bound
from onesided.session.grouping import Grouping
from onesided.session.planning.pricing import Pricing
from onesided.session.questions.counts import COUNT, CountingQuestion
from onesided.session.questions.expected import Expectation
from onesided.session.questions.figures import GroupQuestion
from onesided.session.questions.found_cells import FoundCells
from onesided.session.scope import Scope
from onesided.session.supposed import Supposed

PlannedQuestion: TypeAlias = GroupQuestion
"""A question about groups that a plan can be made of."""


@dataclass(frozen=True)
class CountWays:
    """A count of these groups by every mechanism.

    - `likely_bound`: what errors suppose in place of a bound on groups that is not said.
    """

    asking: Asker
    groups: Grouping
    scope: Scope
    supposed: Supposed
    pricing: Pricing
    likely_bound: int = 1

    def options(self, aim: Aim) -> Iterator[Option]:
        """Every mechanism that a session releases, and samples, of which one may be paid for."""
        for name in counting_names():
            yield self.aimed(name, aim)
        held, sampled = (
            self.pricing.held_sample(self.scope),
            self.aimed(RandomizedResponse.name, aim),
        )
        if held < sampled.epsilon:
            yield sampled
        if held:
            note = f"counts the sample that is paid for at ε = {show(held)}"
            paid = self.option(RandomizedResponse.name, held, note=note)
            if aim.epsilon is not None or paid.within(aim.error):
                yield paid

    def aimed(self, name: str, aim: Aim) -> Option:
        """One mechanism at the ε of the aim, or at the least that comes up to it."""
        found = aim.epsilon_for(lambda epsilon: self.expected(self.question(name, epsilon)))
        if found is not None:
            return self.option(name, found)
        never = f"its error stays above ±{aim.error:g} up to ε = {show(MOST_PLANNED)}"
        return replace(self.option(name, MOST_PLANNED), refusal=never)

    def curve(self, epsilon: Fraction) -> Curve | None:
        """The errors for a range of bounds, by the mechanism that is usual."""
        return bound_curve(
            lambda groups: self.asking.counting(epsilon, groups, self.scope),
            without_bound(self.groups),
            self.supposed,
        )

    def expected(self, question: CountingQuestion) -> float | None:
        """The largest of its expected errors."""
        found = Expectation.of_question(bounded(question, self.likely_bound), self.supposed)
        return None if found is None else found.error

    def option(self, name: str, epsilon: Fraction, *, note: str = "") -> Option:
        """One mechanism."""
        question = self.question(name, epsilon)
        return option(
            question, self.supposed, self.pricing, note=note, likely_bound=self.likely_bound
        )

    def question(self, name: str, epsilon: Fraction) -> CountingQuestion:
        """The count by one mechanism."""
        return self.asking.counting(epsilon, self.groups, self.scope, name)


def counting_names() -> list[str]:
    """The mechanisms that a session releases counts by, but for samples."""
    return [
        name
        for name in mechanism_names()
        if name != RandomizedResponse.name and mechanism(name).kind is Kind.SOUND
    ]


def option(
    question: PlannedQuestion,
    supposed: Supposed,
    pricing: Pricing,
    *,
    figure: str = COUNT,
    note: str = "",
    likely_bound: int = 1,
) -> Option:
    """A question with its price, and what to expect of it."""
    price = pricing.price(question)
    missing = question.missing
    expected = Expectation.of_question(bounded(question, likely_bound), supposed)
    if price.again:
        note = note or "paid for already: the same answer again"
    return Option(
        figure=figure,
        mechanism=question.by,
        epsilon=question.epsilon,
        errors={} if expected is None else expected.errors,
        assumes="" if expected is None else expected.assumes,
        of=None if expected is None else expected.of,
        cost=price.cost,
        plain_cost=price.plain,
        fits=price.fits,
        missing=missing,
        supposing=f"max_groups = {likely_bound}" if missing is Missing.MAX_GROUPS else "",
        refusal="" if missing is not None else _refusal(question),
        note=note,
    )


def bounded(question: PlannedQuestion, bound: int = 1) -> PlannedQuestion:
    """The question itself, or with this bound on groups where it says none."""
    if question.missing is not Missing.MAX_GROUPS:
        return question
    if isinstance(question, FoundCells):
        groups = with_bound(question.beside.groups, bound)
        return replace(question, beside=replace(question.beside, groups=groups))
    return replace(question, groups=with_bound(question.groups, bound))


def _refusal(question: PlannedQuestion) -> str:
    try:
        question.check()
    except MechanismRefused as error:
        return str(error)
    return ""
