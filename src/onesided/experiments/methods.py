"""The methods that are compared, by the names that charts show, and how they are run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from onesided.data import Histogram
from onesided.data.histogram import Counts
from onesided.experiments.metrics import l1, mre, rel
from onesided.experiments.trial import Row, Scalar
from onesided.loss import rational
from onesided.mechanisms.base import Mechanism
from onesided.mechanisms.registry import mechanism
from onesided.randomness import Randomness


@dataclass(frozen=True)
class Method:
    """A mechanism under the name that is shown; `parameters` may depend on ε through `times_ε`."""

    label: str
    mechanism: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    times_epsilon: Mapping[str, int] = field(default_factory=dict)

    def at(self, epsilon: Fraction) -> Mechanism:
        scaled = {name: factor * epsilon for name, factor in self.times_epsilon.items()}
        return mechanism(self.mechanism, **self.parameters, **scaled)


OSDP_RR = Method("OsdpRR", "rr")
OSDP_LAPLACE = Method("OsdpLaplace", "osdp-laplace")
OSDP_LAPLACE_L1 = Method("OsdpLaplaceL1", "osdp-laplace-l1")
LAPLACE = Method("Laplace", "laplace")
DAWA_REFERENCE = Method("DAWA (reference)", "dawa-reference")
DAWAZ_REFERENCE = Method("DAWAz (reference)", "dawaz-reference")
DAWA = Method("dawa (sound)", "dawa")
DAWAZ = Method("dawaz (sound)", "dawaz")
ONE_SIDED = Method("one-sided", "one-sided")
RESIDUAL = Method("residual", "residual")
AUTO = Method("auto", "auto")

PAPER_OSDP = (OSDP_RR, OSDP_LAPLACE, OSDP_LAPLACE_L1, DAWAZ_REFERENCE)
PAPER_DP = (LAPLACE, DAWA_REFERENCE)
PAPER_SIX = tuple(each.label for each in (*PAPER_OSDP, *PAPER_DP))
"""Regret is always against the best of these, so that ours may come out below 1."""

OURS = (ONE_SIDED, DAWAZ, RESIDUAL, AUTO)
OURS_DP = (DAWA,)
SHOWN = tuple(
    each.label
    for each in (OSDP_LAPLACE_L1, DAWA_REFERENCE, DAWAZ_REFERENCE, DAWA, DAWAZ, RESIDUAL, AUTO)
)
"""What charts show: the paper's most competitive methods, the sound ones beside them, and ours."""

SUPPRESS = tuple(
    Method(f"Suppress{factor}", "suppress", times_epsilon={"tau": factor})
    for factor in (10, 50, 100)
)


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
    """Release `histogram` by every method and compare with `truth`: one row a method and metric."""
    rows: list[Row] = []
    for epsilon in epsilons:
        for method in methods:
            mechanism_ = method.at(rational(epsilon))
            values = [
                mechanism_.release(histogram, epsilon=epsilon, rng=rng).value for _ in range(runs)
            ]
            named = {**labels, "method": method.label, "epsilon": epsilon}
            rows += metric_rows(truth, values, named)
    return rows


def metric_rows(truth: Counts, released: list[Any], labels: Mapping[str, Scalar]) -> list[Row]:
    """Every metric over the runs in `released`."""
    metrics = {
        "MRE": [mre(truth, value) for value in released],
        "Rel50": [rel(truth, value, 0.5) for value in released],
        "Rel95": [rel(truth, value, 0.95) for value in released],
        "L1": [l1(truth, value) for value in released],
    }
    return [Row(labels={**labels, "metric": name}, values=runs) for name, runs in metrics.items()]
