"""Plans of a data set that is elsewhere: made there, from what everybody may know, and free."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from onesided.client.fields import (
    cells,
    fields,
    groups,
    number,
    sample_fields,
    scope,
    select_fields,
)
from onesided.client.jobs import understood
from onesided.data.planned.allocation import Allocation, Wish, allocated, wishes
from onesided.data.planned.plan import Plan
from onesided.data.planned.sample import SamplePlan
from onesided.language.tree import Value
from onesided.loss import Number, privacy_budget
from onesided.policy import Policy
from onesided.spelling import arguments_named

_NUMBERS = ("bound", "grid")


@dataclass(frozen=True)
class RemotePlans:
    """What questions would cost, and how exact they would be; see `Dataset.plan`.

    - `asked`: the plan that the server gives for the fields of a request.
    - `left`: what is left of the budget.
    """

    asked: Callable[[Mapping[str, Any]], Any]
    left: Callable[[], Fraction]

    @arguments_named
    def count(
        self,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number | None = None,
        error: Number | None = None,
        max_groups: int | str | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        nonsensitive_share: float | None = None,
        groups: int | None = None,
    ) -> Plan:
        """A count by every mechanism; calling the planner itself is the same."""
        return self._plan(
            "count",
            _groups(by, where, max_groups, domain, policy, part),
            _aim(epsilon, error, nonsensitive_share, groups),
        )

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
        max_groups: int | str | None = None,
        domain: Sequence[Any] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        nonsensitive_share: float | None = None,
        groups: int | None = None,
    ) -> Plan:
        """A count of n-grams by every mechanism."""
        listed_values = None if domain is None else cells(domain)
        asked = fields(n=n, by=by, order=order, max_groups=max_groups, domain=listed_values)
        return self._plan(
            "ngrams",
            {**asked, **scope(policy, part)},
            _aim(epsilon, error, nonsensitive_share, groups),
        )

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
        aim = _aim(epsilon, error, nonsensitive_share, groups)
        return self._plan("sum", _column(column, by, where, asked), aim)

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
        aim = _aim(epsilon, error, nonsensitive_share, groups)
        return self._plan("mean", _column(column, by, where, asked), aim)

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
        """Quantiles by group; `asked` are the other arguments of `Dataset.quantile`."""
        aim = _aim(epsilon, error, nonsensitive_share, groups)
        return self._plan("quantile", _column(column, by, where, asked), aim)

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
        aim = _aim(epsilon, error, nonsensitive_share, groups)
        return self._plan("distinct", _column(column, by, where, asked), aim)

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
        aim = _aim(epsilon, error, nonsensitive_share, groups)
        return self._plan("sql", _select(query, parameters, **asked), aim)

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
        said = {
            **_sample(where, columns, **asked),
            **_aim(epsilon, None, nonsensitive_share, None),
        }
        found = self.asked({"kind": "sample", **said})
        with understood():
            return SamplePlan.from_json(found)

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
        """An ε for each of several SELECTs, which share a budget; see `Dataset.plan.questions`."""
        wanted = wishes(questions, error) if isinstance(questions, str) else tuple(questions)
        left = self.left()
        limit = left if budget is None else min(privacy_budget(budget), left)
        supposed: dict[str, Any] = {"nonsensitive_share": nonsensitive_share, "groups": groups}
        return allocated(
            wanted,
            limit,
            lambda query, aim: self.sql(
                query, epsilon=aim.epsilon, error=aim.error, **supposed, **asked
            ),
        )

    def _plan(self, kind: str, asked: Mapping[str, Any], aim: Mapping[str, Any]) -> Plan:
        found = self.asked({"kind": kind, **asked, **aim})
        with understood():
            return Plan.from_json(found)


_groups = groups  # an argument of plans has the same name
_select, _sample = arguments_named(select_fields), arguments_named(sample_fields)


def _aim(
    epsilon: Number | None,
    error: Number | None,
    share: float | None,
    groups: int | None,
) -> dict[str, Any]:
    """What the plan is made for, and what it supposes."""
    return fields(
        epsilon=number(epsilon), error=number(error), nonsensitive_share=share, groups=groups
    )


def _column(
    column: str, by: Sequence[str] | str, where: str | None, asked: Mapping[str, Any]
) -> dict[str, Any]:
    """Questions about a column: what groups have in common, and numbers of its own."""
    others = dict(asked)
    named = {name: others.pop(name, None) for name in ("max_groups", "domain", "policy", "part")}
    said: dict[str, Any] = {
        name: number(value) if name in _NUMBERS else value for name, value in others.items()
    }
    if "bounds" in said:
        said["bounds"] = cells(said["bounds"])
    return {**fields(column=column, **said), **groups(by, where, **named)}
