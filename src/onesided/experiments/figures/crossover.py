"""Where counts of a true sample become worse than Laplace noise."""

from __future__ import annotations

from math import exp, log

import numpy as np

from onesided.charts import Axes, Series, comparison, svg
from onesided.experiments.figure import Figure
from onesided.experiments.measures.histograms import FLAT_BINS
from onesided.experiments.methods import AUTO, LAPLACE, ONE_SIDED, OSDP_RR, RESIDUAL, RR_SCALED
from onesided.experiments.setting import Setting
from onesided.experiments.trial import Measure, Results, Trial
from onesided.report.claims import Claim, Plot, Section, Verdict

EPSILON = 0.1
UNITS = (50_000, 100_000, 150_000, 200_000, 220_000, 250_000, 300_000, 500_000, 1_000_000)
PREDICTED = 2 * FLAT_BINS * exp(EPSILON) / EPSILON
CLOSE = 0.05


def _trials(setting: Setting) -> list[Trial]:
    return [
        Trial.of(
            Measure.CROSSOVER,
            units=units,
            epsilon=EPSILON,
            runs=setting.size.runs,
            seed=setting.seed,
        )
        for units in UNITS
    ]


def _section(setting: Setting, results: Results) -> Section:
    crossing = _crossing(results)
    names = [each.label for each in (OSDP_RR, LAPLACE, RR_SCALED, ONE_SIDED, RESIDUAL, AUTO)]
    panel = []
    for name in names:
        rows = [results.one(method=name, units=units, metric="L1") for units in UNITS]
        panel.append(
            Series(
                name=name,
                x=UNITS,
                y=[row.mean / FLAT_BINS for row in rows],
                low=[row.low / FLAT_BINS for row in rows],
                high=[row.high / FLAT_BINS for row in rows],
            )
        )
    chart = comparison(
        {f"d = {FLAT_BINS:,} bins, ε = {EPSILON:g}": panel},
        Axes(
            x="number of units n",
            y="mean absolute error per bin (units)",
            log_x=True,
            mark=PREDICTED,
        ),
        title="OsdpRR against Laplace",
        subtitle="dotted: the predicted crossing n = 2d·e^ε/ε; bars from least to greatest run",
        width=520,
    )
    scaled = results.one(method=RR_SCALED.label, units=UNITS[-1], metric="L1").mean
    plain = results.one(method=OSDP_RR.label, units=UNITS[-1], metric="L1").mean
    return Section(
        name=FIGURE.name,
        title=FIGURE.title,
        setting=f"Units spread evenly over {FLAT_BINS:,} bins, none sensitive, ε = {EPSILON:g}; "
        "unscaled counts of a sample against two-sided noise of scale 2/ε.",
        claims=[
            Claim(
                data="made, flat histogram",
                paper=f"OsdpRR is worse beyond n ≈ 2.2·10⁵ (n·ε > 2d·e^ε: {PREDICTED:,.0f})",
                measured="no crossing in the range measured"
                if crossing is None
                else f"the errors cross at n ≈ {crossing:,.0f}",
                verdict=Verdict.of(crossing is not None and abs(crossing / PREDICTED - 1) < CLOSE),
                remark="This is about unscaled counts: divided by 1 − e^−ε, the sample's error at "
                f"n = {UNITS[-1]:,} is {scaled / plain:.2f} times that of the unscaled one.",
            )
        ],
        plots=[
            Plot(
                svg=svg(chart),
                caption="An unscaled sample misses the share e^−ε of all units, so its error grows "
                "with n; noise does not. One-sided noise has half of Laplace's scale.",
            )
        ],
    )


def _crossing(results: Results) -> float | None:
    """Where the mean errors are equal, on a straight line between logarithms."""
    gap = np.array(
        [
            log(results.one(method=OSDP_RR.label, units=units, metric="L1").mean)
            - log(results.one(method=LAPLACE.label, units=units, metric="L1").mean)
            for units in UNITS
        ]
    )
    above = np.flatnonzero((gap[:-1] < 0) & (gap[1:] >= 0))
    if not above.size:
        return None
    place = int(above[0])
    part = -gap[place] / (gap[place + 1] - gap[place])
    return float(np.exp(log(UNITS[place]) + part * log(UNITS[place + 1] / UNITS[place])))


FIGURE = Figure(name="crossover", title="OsdpRR against Laplace", trials=_trials, section=_section)
