"""The plan of each kind of question, by the arguments of the question itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from onesided.data.planned.allocation import Allocation, Wish, allocated, wishes
from onesided.data.planned.least import MOST_PLANNED, Aim
from onesided.data.planned.option import cheapness, usefulness
from onesided.data.planned.plan import Plan
from onesided.data.planned.sample import SamplePlan
from onesided.data.release import Release, TableRelease
from onesided.errors import RequestError
from onesided.language.tree import Value
from onesided.loss import Number, privacy_budget, privacy_loss
from onesided.policy import Policy
from onesided.session.asking import MaxGroups
from onesided.session.grouping import Grouping
from onesided.session.planning.from_releases import from_releases
from onesided.session.planning.learnt import Learnt
from onesided.session.planning.maker import PlanMaker
from onesided.session.planning.options import CountWays, PlannedQuestion
from onesided.session.planning.samples import sample_plan
from onesided.session.planning.supposing import Supposing
from onesided.session.questions.composed import AskedStatement
from onesided.session.questions.described import DescribedColumns
from onesided.session.released_tables import ReleasedTables
from onesided.session.scope import Scope
from onesided.session.standing import drawn, sampling
from onesided.session.supposed import Basis
from onesided.spelling import arguments_named


@dataclass(frozen=True)
class Planner(PlanMaker):
    """What questions would cost, and how exact they would be; free, nothing is run.

    Every method takes the arguments of the question of its name, and besides:

    - `error`: instead of `epsilon`, the mean expected error of a group that is wanted; the plan
      then says the least ε for it, to three digits and up to 10.
    - `nonsensitive_share`: the share of non-sensitive units to suppose; by default that of a
      sample that was released, else one half.
    - `groups`: the number of groups to suppose where they are found on the way; by default as
      many as were released about the same keys, else errors are said for 10, 100 and 1,000.
    """

    @arguments_named
    def count(
        self,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number | None = None,
        error: Number | None = None,
        max_groups: MaxGroups = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        nonsensitive_share: float | None = None,
        groups: int | None = None,
    ) -> Plan:
        """A count by every mechanism; calling the planner itself is the same."""
        supposing = Supposing(nonsensitive_share, groups)
        asked, within = self.asking.groups(
            by, where, max_groups=max_groups, domain=domain, policy=policy, part=part
        )
        return self._counted(asked, within, Aim.of(epsilon, error), supposing)

    __call__ = count

    @arguments_named
    def ngrams(
        self,
        n: int,
        *,
        by: str,
        order: str,
        epsilon: Number | None = None,
        error: Number | None = None,
        max_groups: MaxGroups = None,
        domain: Sequence[Any] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        nonsensitive_share: float | None = None,
        groups: int | None = None,
    ) -> Plan:
        """A count of n-grams by every mechanism."""
        supposing = Supposing(nonsensitive_share, groups)
        asked, within = self.asking.ngram_groups(
            n, by=by, order=order, max_groups=max_groups, domain=domain, policy=policy, part=part
        )
        return self._counted(asked, within, Aim.of(epsilon, error), supposing)

    @arguments_named
    def sum(
        self,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number | None = None,
        error: Number | None = None,
        nonsensitive_share: float | None = None,
        groups: int | None = None,
        **asked: Any,
    ) -> Plan:
        """A sum by group; `asked` are the other arguments of `Dataset.sum`."""
        aim, supposing = Aim.of(epsilon, error), Supposing(nonsensitive_share, groups)
        return self._of_column(self.asking.sum, (column, by, where), asked, aim, supposing)

    @arguments_named
    def mean(
        self,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number | None = None,
        error: Number | None = None,
        nonsensitive_share: float | None = None,
        groups: int | None = None,
        **asked: Any,
    ) -> Plan:
        """A mean by group; `asked` are the other arguments of `Dataset.mean`."""
        aim, supposing = Aim.of(epsilon, error), Supposing(nonsensitive_share, groups)
        return self._of_column(self.asking.mean, (column, by, where), asked, aim, supposing)

    @arguments_named
    def quantile(
        self,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number | None = None,
        error: Number | None = None,
        nonsensitive_share: float | None = None,
        groups: int | None = None,
        **asked: Any,
    ) -> Plan:
        """Quantiles by group; the error is that of their rank, in units.

        `asked` are the other arguments of `Dataset.quantile`.
        """
        aim, supposing = Aim.of(epsilon, error), Supposing(nonsensitive_share, groups)
        return self._of_column(self.asking.quantile, (column, by, where), asked, aim, supposing)

    @arguments_named
    def distinct(
        self,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number | None = None,
        error: Number | None = None,
        nonsensitive_share: float | None = None,
        groups: int | None = None,
        **asked: Any,
    ) -> Plan:
        """Numbers of values by group; `asked` are the other arguments of `Dataset.distinct`."""
        aim, supposing = Aim.of(epsilon, error), Supposing(nonsensitive_share, groups)
        return self._of_column(self.asking.distinct, (column, by, where), asked, aim, supposing)

    @arguments_named
    def describe(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        *,
        epsilon: Number,
        nonsensitive_share: float | None = None,
        **asked: Any,
    ) -> Plan:
        """All that a description asks of each column; `asked` are the other arguments of it."""

        def whole(exact: Fraction) -> DescribedColumns:
            return self.asking.describe(exact, columns, where, **asked)

        return self._together(
            lambda exact: whole(exact).questions,
            Aim.of(epsilon, None),
            Supposing(nonsensitive_share),
            whole,
        )

    @arguments_named
    def sql(
        self,
        query: str,
        parameters: Sequence[Value] = (),
        *,
        epsilon: Number | None = None,
        error: Number | None = None,
        nonsensitive_share: float | None = None,
        groups: int | None = None,
        **asked: Any,
    ) -> Plan:
        """Every figure of a SELECT; `asked` are the other arguments of `Dataset.sql`."""
        supposing, aim = Supposing(nonsensitive_share, groups), Aim.of(epsilon, error)
        plan = self._statement(query, parameters, aim, supposing, asked)
        free = self.from_releases(query, parameters, epsilon=epsilon or MOST_PLANNED, **asked)
        return replace(plan, from_releases=free)

    def from_releases(
        self, query: str, parameters: Sequence[Value] = (), *, epsilon: Number, **asked: Any
    ) -> tuple[str, ...]:
        """How figures of a SELECT could be read from what was released; nothing is charged."""
        statement = self.asking.sql(privacy_loss(epsilon), query, parameters, **asked)
        with self.turn:
            return from_releases(figures_of(statement), self.asking.facts, self._pricing())

    @arguments_named
    def questions(
        self,
        questions: str | Sequence[Wish],
        *,
        budget: Number | None = None,
        error: Number | None = None,
        nonsensitive_share: float | None = None,
        groups: int | None = None,
        **asked: Any,
    ) -> Allocation:
        """An ε for each of several SELECTs, which share a budget.

        - `questions`: `Wish`es, or a text of SELECTs with semicolons between them, in which a
          comment such as `-- error: 20` says the error that is wanted.
        - `budget`: what all of them may cost; by default what is left of the account's.
        - `error`: that of all questions of a text that say none; without it these share what is
          left.
        - `asked`: the other arguments of `Dataset.sql`, the same for all.
        """
        supposing = Supposing(nonsensitive_share, groups)
        wanted = wishes(questions, error) if isinstance(questions, str) else tuple(questions)
        limits = [None if budget is None else privacy_budget(budget), self._left()]
        known = [each for each in limits if each is not None]
        if not known:
            raise RequestError("Say with budget how much all questions may cost together.")
        return allocated(
            wanted,
            min(known),
            lambda query, aim: self._statement(query, (), aim, supposing, asked),
        )

    def counted(
        self,
        columns: Sequence[str],
        *,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
    ) -> list[TableRelease]:
        """The counts by one of these columns that were released already, the latest first."""
        question = self.asking.sample(MOST_PLANNED, None, None, policy=policy, part=part)
        with self.turn:
            learnt = Learnt(self.asking.facts, self._pricing(), question.scope)
            return learnt.counted(columns)

    def released(self, opens: Callable[[int], Release]) -> ReleasedTables:
        """What was released about this state of the data; `opens` gives any release by number."""
        with self.turn:
            return ReleasedTables(self._pricing(), opens)

    def known(self, groups: Grouping, within: Scope) -> Basis:
        """What is known of groups from what was released."""
        with self.turn:
            return self._basis(self._pricing(), groups, within, Supposing())

    def _left(self) -> Fraction | None:
        with self.turn:
            return self._pricing().left

    def _statement(
        self,
        query: str,
        parameters: Sequence[Value],
        aim: Aim,
        supposing: Supposing,
        asked: Mapping[str, Any],
    ) -> Plan:
        return self._together(
            lambda exact: figures_of(self.asking.sql(exact, query, parameters, **asked)),
            aim,
            supposing,
        )

    @arguments_named
    def sample(
        self,
        epsilon: Number,
        where: str | None = None,
        columns: Sequence[str] | None = None,
        *,
        nonsensitive_share: float | None = None,
        **asked: Any,
    ) -> SamplePlan:
        """How many units a sample would hold; `asked` are the other arguments of `sample`."""
        exact, supposing = privacy_loss(epsilon), Supposing(nonsensitive_share)
        question = sampling(self.asking, exact, where, columns, **asked)
        with self.turn:
            pricing = self._pricing()
            learnt = Learnt(self.asking.facts, pricing, drawn(question).scope)
            return sample_plan(question, learnt, share=supposing.nonsensitive_share)

    def _counted(self, groups: Grouping, within: Scope, aim: Aim, supposing: Supposing) -> Plan:
        with self.turn:
            pricing = self._pricing()
            basis = self._basis(pricing, groups, within, supposing)
            counted = CountWays(self.asking, groups, within, basis.supposed, pricing)
            curve = None if aim.epsilon is None else counted.curve(aim.epsilon)
            if curve is not None:
                counted = replace(counted, likely_bound=curve.best.k)
            order = usefulness if aim.error is None else cheapness
            options = sorted(counted.options(aim), key=order)
            if aim.epsilon is None:
                curve = counted.curve(options[0].epsilon)
            return self._plan(
                groups,
                basis,
                pricing,
                options,
                curve=curve,
                error_at=lambda row, at: counted.expected(counted.question(row.mechanism, at)),
            )


def figures_of(statement: AskedStatement) -> dict[str, PlannedQuestion]:
    """The questions of a SELECT by the names of its figures."""
    return dict(statement.figures)
