"""OsdpLaplaceL1 against Suppress, a threshold method of personalised differential privacy."""

from __future__ import annotations

from onesided.charts.comparison import Axes, comparison, svg
from onesided.experiments.figure import PaperFigure, lines, numbers
from onesided.experiments.figures.benchmarks import (
    MOSTLY_OPEN,
    POLICY_NAMES,
    benchmark_title,
    benchmark_trials,
)
from onesided.experiments.methods import AUTO, OSDP_LAPLACE_L1, RESIDUAL, SUPPRESS
from onesided.experiments.regrets import mean_regrets, pooled
from onesided.experiments.setting import SHARES, ReproductionSetting
from onesided.experiments.trial import Results
from onesided.report.claims import Claim, ClaimVerdict, Plot, Section

EPSILON = 1.0
COMPETITIVE = 1.1
"""Competitive means: at most this multiple of the regret of OsdpLaplaceL1."""


def _section(setting: ReproductionSetting, results: Results) -> Section:
    rows = mean_regrets(
        results, epsilon=EPSILON, metric="MRE", policies=POLICY_NAMES, shares=SHARES
    )
    data = benchmark_title(setting)
    shown = tuple(each.label for each in (*SUPPRESS, OSDP_LAPLACE_L1, RESIDUAL, AUTO))
    chart = comparison(
        {"Close and Far together": lines(rows, shown, "share")},
        Axes(x="share of non-sensitive records ρ", y="regret for MRE (ratio)", reference=1.0),
        title="Suppress against OSDP, ε = 1",
        subtitle=f"{data}, mean over the histograms; bars from least to greatest run",
        width=520,
    )
    open_rows = Results.joined(rows.where(share=share) for share in MOSTLY_OPEN)
    one_sided = pooled(open_rows, OSDP_LAPLACE_L1.label)
    suppress = {each.label: pooled(open_rows, each.label) for each in SUPPRESS}
    ratios = [row.mean / one_sided.mean for row in suppress.values()]
    measured = "\n".join(f"{name} {row}" for name, row in suppress.items())
    return Section(
        name=FIGURE.name,
        title=FIGURE.title,
        setting="Suppress(τ) answers from the non-sensitive records alone with noise of scale 1/τ, "
        f"τ = 10ε, 50ε and 100ε, ε = {EPSILON:g}; its one-sided loss is τ, not ε.",
        claims=[
            Claim(
                data=data,
                paper="Suppress is competitive with OsdpLaplaceL1 only at τ ≥ 100ε",
                measured=f"mean regret over ρ ≥ 25 %:\n{measured}\nOsdpLaplaceL1 {one_sided}",
                criterion=f"Suppress10 and Suppress50 have more than {COMPETITIVE:g} times the "
                "mean regret of OsdpLaplaceL1, and Suppress100 at most that",
                verdict=ClaimVerdict.of(
                    ratios[0] > COMPETITIVE, ratios[1] > COMPETITIVE, ratios[2] <= COMPETITIVE
                ),
                remark=f"The ratios are {', '.join(f'{ratio:.3g}' for ratio in ratios)}. "
                "Suppress spends τ, 10 to 100 times the ε of the others, against an exclusion "
                "attack.",
            )
        ],
        plots=[
            Plot(
                svg=svg(chart),
                caption="Lower is better. The promise of Suppress is far weaker: Suppress10 leaves "
                "an exclusion attacker a factor of e^10.",
            )
        ],
        notes=[
            "The noise of Suppress is continuous here, as in the paper. Whole noise of so small a "
            "scale is nearly always 0: Suppress would then release the exact non-sensitive counts."
        ],
        tables=[
            numbers("Mean regret for MRE: mean (least–greatest run)", rows, shown, "share", "ρ")
        ],
    )


FIGURE = PaperFigure(
    name="pdp",
    title="Comparison with personalised differential privacy",
    trials=benchmark_trials,
    section=_section,
)
