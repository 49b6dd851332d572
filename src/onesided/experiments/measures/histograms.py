"""DPBench histograms under the two opt-in policies, and the crossover on a flat histogram."""

from __future__ import annotations

import numpy as np

from onesided.data import Histogram
from onesided.datasets.dpbench import Benchmark, load_1d
from onesided.datasets.sampling import HiLoSampling, MSampling, OptIn
from onesided.experiments.methods import (
    ADD_REMOVE_DAWA,
    ADD_REMOVE_DAWAZ,
    AUTO,
    DAWA,
    LAPLACE,
    ONE_SIDED,
    OSDP_RR,
    OURS,
    OURS_DP,
    PAPER_DP,
    PAPER_OSDP,
    RESIDUAL,
    RR_SCALED,
    SUPPRESS,
    error_rows,
)
from onesided.experiments.setting import EPSILONS, ReproductionSetting
from onesided.experiments.trial import Measure, Row, Trial
from onesided.randomness import seeded

POLICIES: tuple[OptIn, ...] = (MSampling(), HiLoSampling())
FLAT_BINS = 10_000
CROSSOVER_METHODS = (OSDP_RR, LAPLACE, RR_SCALED, ONE_SIDED, DAWA, RESIDUAL, AUTO)


def benchmark_facts(trial: Trial, setting: ReproductionSetting) -> list[Row]:
    """Scale and sparsity of a benchmark histogram."""
    benchmark = load_1d(trial["dataset"])
    public = {
        "scale": float(benchmark.counts.sum()),
        "sparsity": float((benchmark.counts == 0).mean()),
    }
    return [
        Row(labels={**_origin(benchmark), "metric": name}, values=[value])
        for name, value in public.items()
    ]


BENCHMARK_FACTS = Measure("benchmarks", benchmark_facts, effort=1)


def osdp_errors(trial: Trial, setting: ReproductionSetting) -> list[Row]:
    """All methods that look at the policy, on one pair (x, x_ns)."""
    benchmark = load_1d(trial["dataset"])
    policy = next(each for each in POLICIES if each.name == trial["policy"])
    drawing, noise = seeded(trial.seed).spawn(2)
    chosen = policy.sample(benchmark.counts, trial["share"], drawing)
    return error_rows(
        (*PAPER_OSDP, ADD_REMOVE_DAWAZ, *OURS, *SUPPRESS),
        Histogram(benchmark.counts, chosen),
        benchmark.counts,
        epsilons=EPSILONS,
        runs=trial["runs"],
        rng=noise,
        labels={**_origin(benchmark), "policy": policy.name, "share": trial["share"]},
    )


OSDP_ERRORS = Measure("histogram", osdp_errors, effort=5)


def dp_errors(trial: Trial, setting: ReproductionSetting) -> list[Row]:
    """The methods that treat everybody as sensitive: measured once for all policies."""
    benchmark = load_1d(trial["dataset"])
    return error_rows(
        (*PAPER_DP, ADD_REMOVE_DAWA, *OURS_DP),
        Histogram(benchmark.counts, np.zeros_like(benchmark.counts)),
        benchmark.counts,
        epsilons=EPSILONS,
        runs=trial["runs"],
        rng=seeded(trial.seed),
        labels=_origin(benchmark),
    )


DP_ERRORS = Measure("histogram-dp", dp_errors, effort=4)


def crossover(trial: Trial, setting: ReproductionSetting) -> list[Row]:
    """`units` units spread evenly over 10⁴ bins, none sensitive: the setting of the theorem."""
    units = int(trial["units"])
    draw, noise = seeded(trial.seed).spawn(2)
    counts = draw.generator().multinomial(units, np.full(FLAT_BINS, 1 / FLAT_BINS))
    return error_rows(
        CROSSOVER_METHODS,
        Histogram(counts, counts),
        counts,
        epsilons=(float(trial["epsilon"]),),
        runs=trial["runs"],
        rng=noise,
        labels={"units": units},
    )


CROSSOVER = Measure("crossover", crossover, effort=3)


def _origin(benchmark: Benchmark) -> dict[str, str | int | float | bool]:
    return {"dataset": benchmark.name, "source": benchmark.source.value}
