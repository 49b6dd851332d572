"""A plan of the questions of one answer: what is supposed, what they cost, and their errors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from onesided.data.planned.curve import Curve
from onesided.data.planned.least import MOST_PLANNED, Aim
from onesided.data.planned.option import Option
from onesided.data.planned.plan import ErrorAt, Plan
from onesided.data.planned.price import Price
from onesided.errors import RequestError
from onesided.loss import show
from onesided.session.asking import Asker
from onesided.session.best_bound import left_out
from onesided.session.books import Books
from onesided.session.grouping import Grouping
from onesided.session.lookups import row_costs
from onesided.session.maps import map_notes
from onesided.session.planning.learnt import Learnt
from onesided.session.planning.options import PlannedQuestion, bounded, option
from onesided.session.planning.pricing import Pricing
from onesided.session.planning.supposing import Supposing
from onesided.session.questions.base import Question
from onesided.session.questions.expected import Expectation
from onesided.session.scope import Scope
from onesided.session.supposed import Basis, Supposed
from onesided.session.zones import zone_notes

Figures: TypeAlias = Callable[[Fraction], Mapping[str, PlannedQuestion]]
"""The questions of one answer by name, at an ε that they share."""


@dataclass(frozen=True)
class PlanMaker:
    """Plans for questions that are made already."""

    asking: Asker
    books: Books
    turn: threading.RLock

    def _of_column(
        self,
        ask: Callable[..., PlannedQuestion],
        named: tuple[str, Sequence[str] | str, str | None],
        asked: Mapping[str, Any],
        aim: Aim,
        supposing: Supposing,
    ) -> Plan:
        """A figure of one column."""
        return self._together(lambda exact: {named[0]: ask(exact, *named, **asked)}, aim, supposing)

    def _together(
        self,
        asked: Figures,
        aim: Aim,
        supposing: Supposing,
        whole: Callable[[Fraction], Question] | None = None,
    ) -> Plan:
        """The figures of one answer, all of the same groups and at the same share of ε.

        - `whole`: the question that all of them are charged as, where there is one.
        """
        with self.turn:
            pricing = self._pricing()
            first = next(iter(asked(aim.epsilon or MOST_PLANNED).values()), None)
            if first is None:
                raise RequestError("This asks nothing of the data: it costs nothing.")
            basis = self._basis(pricing, first.groups, first.scope, supposing)
            exact = aim.epsilon_for(lambda epsilon: _largest(asked(epsilon), basis.supposed))
            figures = asked(exact or MOST_PLANNED)
            options = [
                option(question, basis.supposed, pricing, figure=name)
                for name, question in figures.items()
            ]
            if exact is None:
                never = f"an error stays above ±{aim.error:g} up to ε = {show(MOST_PLANNED)}"
                options = [replace(each, refusal=never) for each in options]
            charged = list(figures.values()) if whole is None else [whole(exact or MOST_PLANNED)]
            price = pricing.together(charged)
            return self._plan(
                first.groups,
                basis,
                pricing,
                options,
                together=price,
                error_at=lambda row, at: _largest(
                    {row.figure: asked(at * len(figures))[row.figure]}, basis.supposed
                ),
            )

    def _plan(
        self,
        groups: Grouping,
        basis: Basis,
        pricing: Pricing,
        options: Sequence[Option],
        *,
        curve: Curve | None = None,
        together: Price | None = None,
        error_at: ErrorAt | None = None,
    ) -> Plan:
        units, supposed = self.asking.facts.units, basis.supposed
        facts = groups.public(units, supposed=supposed)
        return Plan(
            by=tuple(groups.details["by"]),
            where=groups.details["where"],
            units=facts.n,
            groups=facts.bins,
            max_groups=facts.k,
            nonsensitive_share=supposed.nonsensitive_share,
            supposed_groups=supposed.groups if facts.bins is None else None,
            sources=basis.sources,
            left=pricing.left,
            budget=pricing.budget,
            rows=tuple(options),
            left_out=left_out(groups, supposed, units),
            curve=curve,
            together=together,
            lookups=row_costs(self.asking.facts.lookups),
            map=map_notes(self.asking.facts.map),
            time_zones=zone_notes(self.asking.facts.schema),
            error_at=error_at,
        )

    def _basis(
        self, pricing: Pricing, groups: Grouping, within: Scope, supposing: Supposing
    ) -> Basis:
        learnt = Learnt(self.asking.facts, pricing, within)
        return learnt.basis(groups, share=supposing.nonsensitive_share, number=supposing.groups)

    def _pricing(self) -> Pricing:
        return Pricing(self.books.kernel(None) if self.books.agreed else None)


def _largest(questions: Mapping[str, PlannedQuestion], supposed: Supposed) -> float | None:
    """The largest expected error of any figure; None where one cannot be said."""
    found = [Expectation.of_question(bounded(each), supposed) for each in questions.values()]
    known = [each.error for each in found if each is not None]
    return max(known) if len(known) == len(found) else None
