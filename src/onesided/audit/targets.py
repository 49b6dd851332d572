"""What `onesided audit NAME` audits: which mechanism, which claim, among which neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from onesided.audit.draws import NotEnumerableError
from onesided.audit.exact import ExactAudit, ExactReport, loss_claims
from onesided.audit.neighbours import Relation, Setting, Shape
from onesided.audit.protocol import AtEpsilon, Auditable, StepByStep
from onesided.audit.published import (
    ContentCoins,
    FloatingPointLaplace,
    IdealContentCoins,
    IdealUnitCoins,
    PartitionStage,
    UnitCoins,
    record_world,
)
from onesided.audit.statistical import StatisticalAudit, StatisticalReport
from onesided.audit.world import SmallWorld, Step, histogram_world, policy_by_bin_world
from onesided.loss import Loss, Number, positive, show
from onesided.mechanisms.base import AdaptiveMechanism, Kind, Mechanism
from onesided.mechanisms.registry import mechanism, mechanism_names

IDEALISED_TOLERANCE = Fraction(1, 1 << 40)
"""Probabilities of idealised mechanisms are rounded to doubles; that is known and not the point."""


@dataclass(frozen=True)
class Target:
    """A claim: `mechanism` loses at most `epsilon` between neighbours of `setting`.

    - `loss`: the pair that the mechanism states, where it states one;
    - `worlds`: the small worlds of the exact audit, and the loss stated there;
    - `pairs`: ordered pairs for the statistical audit where the data are no histograms;
    - `tolerance`: see `ExactAudit`;
    - `model`: what the exact audit looks at where the mechanism itself computes with hashes.
    """

    name: str
    mechanism: Auditable
    epsilon: Fraction
    what: str
    setting: Setting = field(default_factory=Setting)
    worlds: tuple[tuple[SmallWorld, Loss], ...] = ()
    pairs: tuple[tuple[Any, Any], ...] | None = None
    tolerance: Fraction = Fraction(0)
    model: Auditable | None = None

    def exactly(self, audit: ExactAudit | None = None) -> list[ExactReport]:
        """The exact audit in every small world in which it is possible.

        NotEnumerableError where there is none.
        """
        chosen = audit or ExactAudit(tolerance=self.tolerance)
        reports = []
        for world, loss in self.worlds:
            claims = loss_claims(loss, self.epsilon)
            with suppress(NotEnumerableError):
                reports.append(chosen.claims(self.model or self.mechanism, world, claims))
        if not reports:
            raise NotEnumerableError(
                f"The outcomes of {self.name} cannot be listed; audit it by runs."
            )
        return reports

    def by_runs(
        self, audit: StatisticalAudit, pairs: Sequence[tuple[Any, Any]] | None = None
    ) -> StatisticalReport:
        """The statistical audit, on ordered `pairs` of one's own if there are any."""
        chosen = self.pairs if pairs is None else pairs
        return audit.claim(self.mechanism, self.epsilon, pairs=chosen, setting=self.setting)


def target(name: str, epsilon: Number, **parameters: Any) -> Target:
    """The claim that goes with a name: a mechanism of the registry, or one of `PUBLISHED`."""
    exact = positive(epsilon)
    if name in PUBLISHED:
        return PUBLISHED[name](name, exact)
    chosen = mechanism(name, **parameters)
    idealised = chosen.kind is Kind.IDEALISED
    setting = setting_of(chosen)
    bins = (2, 2) if setting.shape is Shape.SQUARE else (2,)
    make: Callable[..., SmallWorld] = policy_by_bin_world if setting.by_bin else histogram_world
    return Target(
        name,
        running(chosen, exact),
        exact,
        f"(P, {show(exact)})-OSDP of {name}",
        setting,
        _worlds(chosen, exact, lambda public: make(bins, total_public=public)),
        tolerance=IDEALISED_TOLERANCE if idealised else Fraction(0),
    )


def setting_of(chosen: Mechanism, most_bins: int = 8) -> Setting:
    """Among which histograms a mechanism is audited."""
    shape = Shape.SQUARE if chosen.dimensions == 2 else Shape.LINE
    return Setting(shape=shape, by_bin=chosen.reads_policy, most_bins=most_bins)


def running(chosen: Mechanism, epsilon: Fraction) -> Auditable:
    """A mechanism run at ε, by the fastest way that shows all of its output."""
    if isinstance(chosen, AdaptiveMechanism):
        return StepByStep(chosen, epsilon)
    return AtEpsilon(chosen, epsilon, rounded=chosen.kind is Kind.IDEALISED)


def _worlds(
    chosen: Mechanism, epsilon: Fraction, make: Callable[[bool], SmallWorld]
) -> tuple[tuple[SmallWorld, Loss], ...]:
    """A mechanism that is told n must keep what it states. If it states that it used n, nothing is
    said about adding units then, and it has to show that elsewhere: where n is secret.

    One that looks first has far too many outcomes to be listed anywhere."""
    if isinstance(chosen, AdaptiveMechanism):
        return ()
    told = chosen.loss(epsilon, fixed_n=True)
    worlds = ((make(True), told),)
    return (*worlds, (make(False), chosen.loss(epsilon))) if told.fixed_n else worlds


def target_names() -> tuple[str, ...]:
    """All that `target` knows."""
    return (*mechanism_names(), *(name for name in PUBLISHED if name not in mechanism_names()))


def _partition_stage(name: str, epsilon: Fraction) -> Target:
    return Target(
        name,
        PartitionStage(epsilon),
        epsilon,
        f"the buckets of {name} lose at most {epsilon} when a unit is added or removed",
        Setting(relation=Relation.ADD_REMOVE),
    )


def _floating_point(name: str, epsilon: Fraction) -> Target:
    what = f"Laplace noise in doubles, ε = {epsilon}"
    return Target(name, FloatingPointLaplace(epsilon), epsilon, what, Setting(most_bins=2))


def _records(
    make: Callable[[Fraction], Auditable], model: Callable[[Fraction], Auditable]
) -> Callable[[str, Fraction], Target]:
    """Claims about samples of rows; the `model` has ideal coins in the place of hashes."""

    def of(name: str, epsilon: Fraction) -> Target:
        world = record_world()
        return Target(
            name,
            make(epsilon),
            epsilon,
            f"{name} on rows, ε = {epsilon}",
            worlds=((world, Loss(0, epsilon)),),
            pairs=tuple(world.pairs(Step.REPLACE_SENSITIVE, 2)),
            model=model(epsilon),
        )

    return of


PUBLISHED: dict[str, Callable[[str, Fraction], Target]] = {
    "dawa-reference": _partition_stage,
    "dawaz-reference": _partition_stage,
    "float-laplace": _floating_point,
    "content-coins": _records(ContentCoins, IdealContentCoins),
    "unit-coins": _records(UnitCoins, IdealUnitCoins),
}
