"""The grid that four figures share: every benchmark histogram under every opt-in policy."""

from __future__ import annotations

from onesided.datasets.dpbench import ONE_DIMENSIONAL, Origin
from onesided.experiments.measures.histograms import DP_ERRORS, OSDP_ERRORS, POLICIES
from onesided.experiments.setting import SHARES, ReproductionSetting
from onesided.experiments.trial import Scalar, Trial

POLICY_NAMES = tuple(policy.name for policy in POLICIES)
MOSTLY_OPEN = tuple(share for share in SHARES if share >= 0.25)
"""The shares that the paper's later figures are limited to."""


def benchmark_trials(setting: ReproductionSetting) -> list[Trial]:
    """Methods under a policy for each pair (x, x_ns), ordinary DP once for each x."""
    common: dict[str, Scalar] = {
        "runs": setting.size.runs,
        "seed": setting.seed,
        "source": setting.histograms,
    }
    names = [shape.name for shape in ONE_DIMENSIONAL]
    return [
        Trial.of(OSDP_ERRORS, dataset=name, policy=policy, share=share, **common)
        for name in names
        for policy in POLICY_NAMES
        for share in SHARES
    ] + [Trial.of(DP_ERRORS, dataset=name, **common) for name in names]


def benchmark_title(setting: ReproductionSetting) -> str:
    """What to call the data in a report."""
    real = setting.histograms == Origin.DPBENCH.value
    return "DPBench-1D" if real else "made histograms (stand-in for DPBench-1D)"
