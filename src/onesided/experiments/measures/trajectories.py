"""Histograms over trajectories: access point × hour of one day, and n-grams."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from onesided.data import Histogram
from onesided.data.histogram import Counts, Floats
from onesided.data.metrics import mre
from onesided.experiments.incidence import Incidence
from onesided.experiments.journeys import HOURS
from onesided.experiments.methods import (
    AUTO,
    DAWA,
    DAWA_REFERENCE,
    DAWAZ,
    DAWAZ_REFERENCE,
    HYBRID,
    HYBRID_PAPER,
    LAPLACE,
    ONE_SIDED,
    OSDP_LAPLACE_L1,
    OSDP_RR,
    RESIDUAL,
    RR_SCALED,
    error_rows,
    metric_rows,
    own_randomness,
)
from onesided.experiments.setting import EPSILONS, SHARES, ReproductionSetting
from onesided.experiments.trial import Measure, Row, Scalar, Trial
from onesided.experiments.workspace import journeys_of
from onesided.loss import rational
from onesided.mechanisms.base import Mechanism
from onesided.mechanisms.noise import two_sided_mean_size
from onesided.mechanisms.rr import keep_probability
from onesided.randomness import Randomness, seeded

OCCUPANCY_METHODS = (
    OSDP_LAPLACE_L1,
    HYBRID_PAPER,
    LAPLACE,
    DAWA_REFERENCE,
    DAWAZ_REFERENCE,
    DAWA,
    DAWAZ,
    ONE_SIDED,
    HYBRID,
    RESIDUAL,
    AUTO,
)
UNBOUNDED = 0
"""The label of results without a bound on contributions: the paper's, not private here."""

CELL_BOUNDS = (1, 2, 4, 8)
GRAM_BOUNDS = (1, 2, 4, 8, 16)
OUR_GRAM_METHODS = (ONE_SIDED, RESIDUAL, AUTO)
OUR_GRAM_BOUND = 1
"""The contribution bound of our own methods, which do without hindsight."""


def occupancy(trial: Trial, setting: ReproductionSetting) -> list[Row]:
    """Access point × hour of the busiest day under P_ρ, with and without a contribution bound."""
    day = journeys_of(trial, setting).busiest_day()
    share = float(trial["share"])
    chosen = day.nonsensitive(share)
    incidence = day.occupancy()
    truth = _grid(incidence.counts())
    cutting, noise, coins = seeded(trial.seed).spawn(3)
    only_sensitive = np.zeros(truth.shape, dtype=np.bool_)
    only_sensitive[: day.sensitive_points(share)] = True
    labels: dict[str, Scalar] = {"trace": trial["trace"], "share": share}
    rows = []
    for k in (UNBOUNDED, *CELL_BOUNDS):
        bounded = incidence if k == UNBOUNDED else incidence.at_most(k, cutting)
        histogram = Histogram(
            _grid(bounded.counts()),
            _grid(bounded.counts(chosen)),
            k=max(k, 1),
            total_public=False,
            only_sensitive=only_sensitive,
        )
        rows += error_rows(
            OCCUPANCY_METHODS,
            histogram,
            truth,
            epsilons=EPSILONS,
            runs=trial["runs"],
            rng=noise,
            labels={**labels, "k": k},
        )
    # A sample of whole units needs no bound: it is the same row for every k.
    for epsilon in EPSILONS:
        samples = [
            _grid(incidence.counts(kept))
            for kept in _samples(chosen, epsilon, trial["runs"], coins)
        ]
        named = {**labels, "k": UNBOUNDED, "method": OSDP_RR.label, "epsilon": epsilon}
        rows += metric_rows(truth, samples, named)
    public = {
        "widest": incidence.widest(),
        "units": day.units,
        "nonsensitive": chosen.mean(),
        "filled": (truth > 0).mean(),
    }
    return rows + [
        Row(labels={**labels, "metric": name}, values=[float(value)])
        for name, value in public.items()
    ]


OCCUPANCY = Measure("occupancy", occupancy, effort=6)


def grams(trial: Trial, setting: ReproductionSetting) -> list[Row]:
    """n-grams under every P_ρ: error over those that occur, and over the whole domain."""
    journeys, n = journeys_of(trial, setting), int(trial["n"])
    incidence = journeys.grams(n)
    domain = journeys.access_points**n
    study = _GramStudy(incidence, domain, int(trial["runs"]), {"trace": trial["trace"], "n": n})
    truncating, noise, coins = seeded(trial.seed).spawn(3)
    cut = {k: incidence.at_most(k, truncating) for k in GRAM_BOUNDS}
    rows = [row for k in GRAM_BOUNDS for row in study.laplace(cut[k].counts(), k, noise)]
    for share in SHARES:
        chosen = journeys.nonsensitive(share)
        rows += study.all_nonsensitive(chosen, share)
        rows += study.samples(chosen, share, coins)
        rows += study.ours(cut[OUR_GRAM_BOUND], chosen, share, noise)
    public = {"support": incidence.cells, "widest": incidence.widest(), "domain": domain}
    return rows + [
        Row(labels={**study.labels, "metric": name}, values=[float(value)])
        for name, value in public.items()
    ]


GRAMS = Measure("ngrams", grams, effort=9)


class _GramStudy:
    """One histogram of n-grams: the cells that occur are counted, the empty ones are reckoned."""

    def __init__(
        self, incidence: Incidence, domain: int, runs: int, labels: Mapping[str, Scalar]
    ) -> None:
        self.incidence = incidence
        self.domain = domain
        self.runs = runs
        self.labels = labels
        self.truth = incidence.counts()

    def laplace(self, truncated: Counts, k: int, rng: Randomness) -> list[Row]:
        """Two-sided noise of scale 2k/ε on all cells of the domain, `k` n-grams of each unit."""
        histogram = Histogram(truncated, np.zeros_like(truncated), k=k, total_public=False)
        rows = []
        for epsilon in EPSILONS:
            released = [
                LAPLACE.mechanism.release(histogram, epsilon=epsilon, rng=rng).value
                for _ in range(self.runs)
            ]
            errors = [mre(self.truth, counts) for counts in released]
            empty = two_sided_mean_size(rational(epsilon) / (2 * k))
            labels: dict[str, Scalar] = {"method": "LM", "k": k, "epsilon": epsilon}
            rows += self._rows(errors, empty, labels)
        return rows

    def all_nonsensitive(self, chosen: NDArray[np.bool_], share: float) -> list[Row]:
        """Every non-sensitive unit, with no noise and no privacy."""
        errors = [mre(self.truth, self.incidence.counts(chosen))]
        return [
            row
            for epsilon in EPSILONS
            for row in self._rows(
                errors, 0.0, {"method": "All-NS", "share": share, "epsilon": epsilon}
            )
        ]

    def samples(self, chosen: NDArray[np.bool_], share: float, rng: Randomness) -> list[Row]:
        """A true sample, counted as it is and scaled up; an empty cell stays empty in it."""
        rows = []
        for epsilon in EPSILONS:
            counted = [
                self.incidence.counts(kept) for kept in _samples(chosen, epsilon, self.runs, rng)
            ]
            scale = 1 / keep_probability(rational(epsilon))
            for method, factor in ((OSDP_RR.label, 1.0), (RR_SCALED.label, scale)):
                errors = [mre(self.truth, factor * counts) for counts in counted]
                labels: dict[str, Scalar] = {
                    "method": method,
                    "share": share,
                    "epsilon": epsilon,
                }
                rows += self._rows(errors, 0.0, labels)
        return rows

    def ours(
        self, cut: Incidence, chosen: NDArray[np.bool_], share: float, rng: Randomness
    ) -> list[Row]:
        """Keys are found through the noise, so cells that do not occur cost nothing."""
        histogram = Histogram(
            cut.counts(),
            cut.counts(chosen),
            k=OUR_GRAM_BOUND,
            total_public=False,
            open_domain=True,
        )
        rows = []
        base = int(rng.words(1)[0])
        for epsilon in EPSILONS:
            for method in OUR_GRAM_METHODS:
                own = own_randomness(base, method.label, epsilon)
                errors = [
                    mre(self.truth, _listed(method.mechanism, histogram, epsilon, own))
                    for _ in range(self.runs)
                ]
                labels: dict[str, Scalar] = {
                    "method": method.label,
                    "share": share,
                    "epsilon": epsilon,
                }
                rows += self._rows(errors, 0.0, labels)
        return rows

    def _rows(self, errors: list[float], empty: float, labels: Mapping[str, Scalar]) -> list[Row]:
        """MRE over the support, and over the domain, where an empty cell has error `empty`."""
        support = self.truth.size
        whole = [
            (error * support + empty * (self.domain - support)) / self.domain for error in errors
        ]
        return [
            Row(labels={**self.labels, **labels, "metric": metric}, values=values)
            for metric, values in (("MRE support", errors), ("MRE domain", whole))
        ]


def _listed(mechanism: Mechanism, histogram: Histogram, epsilon: float, rng: Randomness) -> Floats:
    """The released counts on all occurring keys; keys that were not listed count 0."""
    released = mechanism.release(histogram, epsilon=epsilon, rng=rng)
    counts = np.zeros(histogram.bins)
    counts[released.keys] = released.value
    return counts


def _samples(
    chosen: NDArray[np.bool_], epsilon: float, runs: int, rng: Randomness
) -> list[NDArray[np.bool_]]:
    """Which units each of `runs` true samples keeps, by unit and not by cell."""
    probability = keep_probability(rational(epsilon))
    generator = rng.generator()
    return [chosen & (generator.random(chosen.size) < probability) for _ in range(runs)]


def _grid(counts: Counts) -> Counts:
    return counts.reshape(-1, HOURS)
