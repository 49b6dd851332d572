"""The methods that are compared, by the names that charts show, and how they are run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from onesided.data import Histogram, Measurement, MeasurementTerms
from onesided.data.histogram import Counts
from onesided.data.metrics import l1, mre, rel
from onesided.experiments.trial import SEED_DIGITS, Row, Scalar
from onesided.mechanisms.base import Mechanism, PublicShape
from onesided.mechanisms.published.baselines import Suppress
from onesided.mechanisms.published.dawa_reference import DawaReference
from onesided.mechanisms.published.dawaz_reference import DawazReference
from onesided.mechanisms.registry import mechanism
from onesided.randomness import Randomness, seeded


@dataclass(frozen=True)
class Method:
    """A mechanism under the name that is shown."""

    label: str
    mechanism: Mechanism


@dataclass(frozen=True, kw_only=True)
class SuppressAsPrinted(Suppress):
    """Suppress with the paper's continuous noise; whole noise of so small a scale is mostly 0."""

    name: ClassVar[str] = "suppress-continuous"

    def terms(self, public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
        scale = float(public.k / (self.factor * epsilon))
        noise = f"Laplace of scale {scale:g} on each non-sensitive count"
        return MeasurementTerms(self.loss(epsilon), noise, whole=False)

    def measure(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        scale = float(data.k / (self.factor * epsilon))
        return Measurement(data.nonsensitive + rng.generator().laplace(0.0, scale, data.shape))


@dataclass(frozen=True, kw_only=True)
class AddRemoveDawa(DawaReference):
    """DAWA on the footing of public code: ε for adding or removing a record, which is OSDP 2ε."""

    name: ClassVar[str] = "dawa-reference-add-remove"

    def budget_on_all(self, epsilon: Fraction) -> Fraction:
        return epsilon


OSDP_RR = Method("OsdpRR", mechanism("rr"))
OSDP_LAPLACE = Method("OsdpLaplace", mechanism("osdp-laplace"))
OSDP_LAPLACE_L1 = Method("OsdpLaplaceL1", mechanism("osdp-laplace-l1"))
LAPLACE = Method("Laplace", mechanism("laplace"))
DAWA_REFERENCE = Method("DAWA (reference)", mechanism("dawa-reference"))
DAWAZ_REFERENCE = Method("DAWAz (reference)", mechanism("dawaz-reference"))
ADD_REMOVE_DAWA = Method("DAWA (add/remove)", AddRemoveDawa())
ADD_REMOVE_DAWAZ = Method("DAWAz (add/remove)", DawazReference(inner=AddRemoveDawa()))
DAWA = Method("dawa (sound)", mechanism("dawa"))
DAWAZ = Method("dawaz (sound)", mechanism("dawaz"))
ONE_SIDED = Method("one-sided", mechanism("one-sided"))
RESIDUAL = Method("residual", mechanism("residual"))
AUTO = Method("auto", mechanism("auto"))
HYBRID = Method("hybrid (sound)", mechanism("hybrid"))
HYBRID_PAPER = Method("OsdpLaplaceL1 (hybrid)", mechanism("hybrid-paper"))
RR_SCALED = Method("OsdpRR, scaled", mechanism("rr", scale=True))

PAPER_OSDP = (OSDP_RR, OSDP_LAPLACE, OSDP_LAPLACE_L1, DAWAZ_REFERENCE)
PAPER_DP = (LAPLACE, DAWA_REFERENCE)
PAPER_SIX = tuple(each.label for each in (*PAPER_OSDP, *PAPER_DP))
"""Regret is always against the best of these, so that ours may come out below 1."""

PUBLIC_SIX = tuple(
    each.label
    for each in (OSDP_RR, OSDP_LAPLACE, OSDP_LAPLACE_L1, LAPLACE, ADD_REMOVE_DAWA, ADD_REMOVE_DAWAZ)
)
"""The same with DAWA and DAWAz on the footing of public code."""

OURS = (ONE_SIDED, DAWAZ, RESIDUAL, AUTO)
OURS_DP = (DAWA,)
SHOWN = tuple(
    each.label
    for each in (OSDP_LAPLACE_L1, DAWA_REFERENCE, DAWAZ_REFERENCE, DAWA, DAWAZ, RESIDUAL, AUTO)
)
"""What charts show: the paper's most competitive methods, the sound ones beside them, and ours."""

SUPPRESS = tuple(
    Method(f"Suppress{factor}", SuppressAsPrinted(factor=Fraction(factor)))
    for factor in (10, 50, 100)
)

LOOKS = {
    label: place
    for place, labels in enumerate(
        (
            (OSDP_LAPLACE_L1.label, HYBRID_PAPER.label, "All-NS"),
            (DAWA_REFERENCE.label, LAPLACE.label, "LM T1", "Suppress10", "ObjDP"),
            (DAWAZ_REFERENCE.label, "LM T*", "Suppress50"),
            (DAWA.label, "Suppress100", "Random"),
            (DAWAZ.label, RR_SCALED.label),
            (RESIDUAL.label,),
            (AUTO.label,),
            (OSDP_RR.label, OSDP_LAPLACE.label),
            (HYBRID.label,),
            (ONE_SIDED.label,),
        )
    )
    for label in labels
}
"""How charts draw a method: the same in all of them. Those of one line never share a chart."""


def error_rows(
    methods: Iterable[Method],
    histogram: Histogram,
    truth: Counts,
    *,
    epsilons: Iterable[float],
    runs: int,
    rng: Randomness,
    labels: Mapping[str, Scalar],
) -> list[Row]:
    """Release `histogram` by every method and compare with `truth`: one row per method and metric.

    Each method has randomness of its own, by its name: no other method changes its numbers.
    """
    rows: list[Row] = []
    base = int(rng.words(1)[0])
    for epsilon in epsilons:
        for method in methods:
            own = own_randomness(base, method.label, epsilon)
            values = [
                method.mechanism.release(histogram, epsilon=epsilon, rng=own).value
                for _ in range(runs)
            ]
            named = {**labels, "method": method.label, "epsilon": epsilon}
            rows += metric_rows(truth, values, named)
    return rows


def own_randomness(base: int, label: str, epsilon: float) -> Randomness:
    """The randomness of one method at one ε, within the study that `base` was drawn for."""
    text = f"{base} {label} {epsilon!r}"
    return seeded(int(hashlib.sha256(text.encode()).hexdigest()[:SEED_DIGITS], 16))


def metric_rows(truth: Counts, released: list[Any], labels: Mapping[str, Scalar]) -> list[Row]:
    """Every metric over the runs in `released`."""
    metrics = {
        "MRE": [mre(truth, value) for value in released],
        "Rel50": [rel(truth, value, 0.5) for value in released],
        "Rel95": [rel(truth, value, 0.95) for value in released],
        "L1": [l1(truth, value) for value in released],
    }
    return [Row(labels={**labels, "metric": name}, values=runs) for name, runs in metrics.items()]
