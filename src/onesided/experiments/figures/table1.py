"""Table 1: the share of non-sensitive units that OsdpRR releases."""

from __future__ import annotations

from math import exp

from onesided.charts.comparison import Axes, Series, comparison, svg
from onesided.experiments.figure import PaperFigure, percent
from onesided.experiments.measures.sampling import KEPT_SHARE
from onesided.experiments.setting import ReproductionSetting
from onesided.experiments.trial import Results, Trial
from onesided.report.claims import Claim, ClaimVerdict, Plot, Section

UNITS = 100_000
PRINTED = {1.0: 0.63, 0.5: 0.39, 0.1: 0.095}
EPSILONS = (2.0, 1.0, 0.5, 0.25, 0.1, 0.05, 0.01)
CLOSE = 0.005


def _trials(setting: ReproductionSetting) -> list[Trial]:
    return [
        Trial.of(
            KEPT_SHARE,
            epsilon=epsilon,
            units=UNITS,
            runs=setting.size.runs,
            seed=setting.seed,
        )
        for epsilon in EPSILONS
    ]


def _section(setting: ReproductionSetting, results: Results) -> Section:
    claims = []
    for epsilon, printed in PRINTED.items():
        row = results.one(epsilon=epsilon)
        claims.append(
            Claim(
                data=f"{UNITS:,} made units, coins tossed by the engine",
                paper=f"about {percent(printed)} of the units leave at ε = {epsilon:g}",
                measured=f"{row.mean:.2%} ({row.low:.2%}–{row.high:.2%})",
                criterion=f"the mean is within {CLOSE:.1%} of all units of the printed share",
                verdict=ClaimVerdict.of(abs(row.mean - printed) < CLOSE),
                remark="The number of units that leave is binomial, not fixed.",
            )
        )
    rows = [results.one(epsilon=epsilon) for epsilon in EPSILONS]
    measured = Series(
        name="measured",
        x=EPSILONS,
        y=[row.mean for row in rows],
        low=[row.low for row in rows],
        high=[row.high for row in rows],
    )
    curve = [1 - exp(-epsilon) for epsilon in EPSILONS]
    expected = Series(name="1 − e^−ε", x=EPSILONS, y=curve, low=curve, high=curve)
    chart = comparison(
        {"": [expected, measured]},
        Axes(x="ε", y="share of units released", log_x=True, log_y=False),
        title="Share of non-sensitive units that a true sample keeps",
        subtitle="mean of the runs; bars from the least to the greatest run",
    )
    return Section(
        name=FIGURE.name,
        title=FIGURE.title,
        setting=f"{UNITS:,} units, none sensitive, {setting.size.runs} samples at each ε.",
        claims=claims,
        plots=[Plot(svg=svg(chart), caption="Measured shares lie on the curve 1 − e^−ε.")],
    )


FIGURE = PaperFigure(
    name="table1", title="Table 1: share released by OsdpRR", trials=_trials, section=_section
)
