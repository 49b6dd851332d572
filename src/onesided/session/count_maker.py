"""The questions that count units by group, of what a user says: alone or one of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from onesided.policy import Policy
from onesided.session.asking import MaxGroups
from onesided.session.grouping import Grouping
from onesided.session.planning.planner import Planner
from onesided.session.questions.base import Question
from onesided.session.questions.bounded import AUTO
from onesided.session.scope import Scope
from onesided.spelling import arguments_named


@dataclass(frozen=True)
class CountMaker:
    """Makes questions at a checked ε of the arguments of `Dataset`, which explains them.

    What is known already comes from the planner: a bound that is to be found depends on it.
    """

    planner: Planner

    @arguments_named
    def count(
        self,
        epsilon: Fraction,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        max_groups: MaxGroups = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        mechanism: str = "auto",
        **parameters: Any,
    ) -> Question:
        """How many units are in each group."""
        groups, within = self.planner.asking.groups(
            by, where, max_groups=max_groups, domain=domain, policy=policy, part=part
        )
        return self._counted(epsilon, groups, within, max_groups, mechanism, parameters)

    @arguments_named
    def ngrams(
        self,
        epsilon: Fraction,
        n: int,
        *,
        by: str,
        order: str,
        max_groups: MaxGroups = None,
        domain: Sequence[Any] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        mechanism: str = "auto",
        **parameters: Any,
    ) -> Question:
        """How many units have each n-gram."""
        around: dict[str, Any] = {"domain": domain, "policy": policy, "part": part}
        groups, within = self.planner.asking.ngram_groups(
            n, by=by, order=order, max_groups=max_groups, **around
        )
        return self._counted(epsilon, groups, within, max_groups, mechanism, parameters)

    @arguments_named
    def touches(
        self,
        epsilon: Fraction,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        sampled: bool = False,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
    ) -> Question:
        """In how many groups units are."""
        groups, within = self.planner.asking.groups(
            by, where, max_groups=AUTO, domain=domain, policy=policy, part=part
        )
        return self.planner.asking.touches(epsilon, groups, within, sampled=sampled)

    def _counted(
        self,
        epsilon: Fraction,
        groups: Grouping,
        within: Scope,
        max_groups: MaxGroups,
        mechanism: str,
        parameters: Mapping[str, Any],
    ) -> Question:
        """A count with the bound that is said, or with one that is to be found."""
        asking = self.planner.asking
        if max_groups != AUTO:
            return asking.counting(epsilon, groups, within, mechanism, parameters)
        basis = self.planner.known(groups, within)
        return asking.bounded(epsilon, groups, within, basis, mechanism, parameters)
