"""What `onesided audit NAME` audits: which mechanism, which claim, among which neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

from onesided.audit.amounts import (
    BOUND,
    MeanOfAmounts,
    SpreadOfAmounts,
    SumOfAmounts,
    amount_worlds,
)
from onesided.audit.closed import closed_world
from onesided.audit.distinct import DistinctValues, value_worlds
from onesided.audit.draws import NotEnumerableError
from onesided.audit.exact import ExactAudit, ExactReport, SmallClaim
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
from onesided.audit.steps import step_claims
from onesided.audit.world import SmallWorld, Step, histogram_world, policy_by_bin_world
from onesided.loss import Loss, Number, positive, show
from onesided.mechanisms.base import AdaptiveMechanism, Kind, Mechanism, PublicShape
from onesided.mechanisms.registry import mechanism, mechanism_names

IDEALISED_TOLERANCE = Fraction(1, 1 << 40)
"""Probabilities of idealised mechanisms are rounded to doubles; that is known and not the point."""


@dataclass(frozen=True)
class Target:
    """A claim: `mechanism` loses at most `epsilon` between neighbours of `setting`.

    - `small`: what the exact audit holds it to, made where that is asked for;
    - `pairs`: ordered pairs for the statistical audit where the data are no histograms;
    - `tolerance`: see `ExactAudit`.
    """

    name: str
    mechanism: Auditable
    epsilon: Fraction
    what: str
    setting: Setting = field(default_factory=Setting)
    small: Callable[[], Iterable[SmallClaim]] = tuple
    pairs: tuple[tuple[Any, Any], ...] | None = None
    tolerance: Fraction = Fraction(0)

    def exactly(self, audit: ExactAudit | None = None) -> list[ExactReport]:
        """The exact audit in every small world in which it is possible.

        NotEnumerableError where there is none.
        """
        chosen = audit or ExactAudit(tolerance=self.tolerance)
        reports = []
        for claim in self.small():
            with suppress(NotEnumerableError):
                reports.append(chosen.claim(claim))
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
    """The claim that goes with a name: a mechanism of the registry, or one of `OTHERS`."""
    exact = positive(epsilon)
    if name in OTHERS:
        return OTHERS[name](name, exact)
    return target_of(mechanism(name, **parameters), exact)


def target_of(chosen: Mechanism, epsilon: Number) -> Target:
    """The claim of a mechanism of this package."""
    exact = positive(epsilon)
    idealised = chosen.kind is Kind.IDEALISED
    return Target(
        chosen.name,
        running(chosen, exact),
        exact,
        f"(P, {show(exact)})-OSDP of {chosen.name}",
        setting_of(chosen),
        partial(_small_claims, chosen, exact),
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


def _small_claims(chosen: Mechanism, epsilon: Fraction) -> Iterator[SmallClaim]:
    """A mechanism that is told n must keep what it states. If it states that it used n, nothing is
    said about adding units then, and it has to show that elsewhere: where n is secret.

    One that looks first is taken step by step. One that chooses buckets has many more outcomes.
    """
    if isinstance(chosen, AdaptiveMechanism):
        yield from step_claims(chosen, epsilon)
        return
    setting = setting_of(chosen)
    bins = (2, 2) if setting.shape is Shape.SQUARE else (2,)
    make: Callable[..., SmallWorld] = policy_by_bin_world if setting.by_bin else histogram_world
    has_buckets = chosen.terms(PublicShape(bins, by_policy=setting.by_bin), epsilon).buckets
    for told in (True, False):
        loss = chosen.loss(epsilon, fixed_n=told)
        yield SmallClaim(
            AtEpsilon(chosen, epsilon),
            make(bins, total_public=told),
            loss,
            epsilon,
            most_units=2 if has_buckets else 3,
        )
        if not loss.fixed_n:
            return


def target_names() -> tuple[str, ...]:
    """All that `target` knows."""
    return (*mechanism_names(), *(name for name in OTHERS if name not in mechanism_names()))


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
    make: Callable[[Fraction], Auditable],
    model: Callable[[Fraction], Auditable],
    made: Callable[[], SmallWorld] = record_world,
    most_units: int = 3,
) -> Callable[[str, Fraction], Target]:
    """Claims about samples of rows; the `model` has ideal coins in the place of hashes."""

    def of(name: str, epsilon: Fraction) -> Target:
        world = made()
        return Target(
            name,
            make(epsilon),
            epsilon,
            f"{name} on rows, ε = {epsilon}",
            small=lambda: (
                SmallClaim(model(epsilon), world, Loss(0, epsilon), most_units=most_units),
            ),
            pairs=tuple(world.pairs(Step.REPLACE_SENSITIVE, 2)),
        )

    return of


def _amounts(make: Callable[[Fraction], Auditable]) -> Callable[[str, Fraction], Target]:
    """Claims about a figure of amounts, which costs (0, ε)."""

    def of(name: str, epsilon: Fraction) -> Target:
        return amounts_target(name, make(epsilon), epsilon)

    return of


def _values(name: str, epsilon: Fraction) -> Target:
    return values_target(name, DistinctValues(epsilon), epsilon)


def amounts_target(name: str, mechanism: Auditable, epsilon: Fraction) -> Target:
    """The claim of a figure that takes an `AmountTable`."""
    what = f"a {name} of amounts up to {BOUND} steps"
    return _one_sided_target(name, mechanism, epsilon, what, tuple(amount_worlds()))


def values_target(name: str, mechanism: Auditable, epsilon: Fraction) -> Target:
    """The claim of a figure that takes a `ValueTable`."""
    return _one_sided_target(
        name, mechanism, epsilon, "numbers of distinct values", tuple(value_worlds())
    )


def _one_sided_target(
    name: str,
    mechanism: Auditable,
    epsilon: Fraction,
    what: str,
    worlds: Sequence[tuple[SmallWorld, int]],
) -> Target:
    """The claim of a figure that costs (0, ε), in worlds with so many units listed in each."""
    return Target(
        name,
        mechanism,
        epsilon,
        f"(P, {show(epsilon)})-OSDP of {what}",
        small=lambda: tuple(
            SmallClaim(mechanism, world, Loss(0, epsilon), most_units=units)
            for world, units in worlds
        ),
        pairs=tuple(
            (world.build(database), world.build(neighbour))
            for world, _ in worlds
            for database, neighbour in world.pairs(Step.REPLACE_SENSITIVE, 2)
        ),
    )


OTHERS: dict[str, Callable[[str, Fraction], Target]] = {
    "sum": _amounts(SumOfAmounts),
    "mean": _amounts(MeanOfAmounts),
    "distinct": _values,
    "bound": _amounts(SpreadOfAmounts),
    "dawa-reference": _partition_stage,
    "dawaz-reference": _partition_stage,
    "float-laplace": _floating_point,
    "content-coins": _records(ContentCoins, IdealContentCoins),
    "unit-coins": _records(UnitCoins, IdealUnitCoins),
    "closed-sample": _records(UnitCoins, IdealUnitCoins, closed_world, 2),
    "open-sample": _records(UnitCoins, IdealUnitCoins, partial(closed_world, knows_map=False), 2),
}
