"""Where counts of a true sample become worse than Laplace noise."""

from __future__ import annotations

from math import exp, log

import numpy as np

from onesided.charts.comparison import Axes, Series, comparison, svg
from onesided.data.histogram import Floats
from onesided.experiments.figure import PaperFigure
from onesided.experiments.measures.histograms import CROSSOVER, CROSSOVER_METHODS, FLAT_BINS
from onesided.experiments.methods import LAPLACE, LOOKS, OSDP_RR, RR_SCALED
from onesided.experiments.setting import ReproductionSetting
from onesided.experiments.trial import Results, Trial
from onesided.report.claims import Claim, ClaimVerdict, Plot, Section, Spread

EPSILON = 0.1
UNITS = (50_000, 100_000, 150_000, 200_000, 220_000, 250_000, 300_000, 500_000, 1_000_000)
PREDICTED = 2 * FLAT_BINS * exp(EPSILON) / EPSILON
CLOSE = 0.05


def _trials(setting: ReproductionSetting) -> list[Trial]:
    return [
        Trial.of(
            CROSSOVER,
            units=units,
            epsilon=EPSILON,
            runs=setting.size.runs,
            seed=setting.seed,
        )
        for units in UNITS
    ]


def _section(setting: ReproductionSetting, results: Results) -> Section:
    names = [each.label for each in CROSSOVER_METHODS]
    panel = []
    for name in names:
        rows = [results.one(method=name, units=units, metric="L1") for units in UNITS]
        panel.append(
            Series(
                name=name,
                look=LOOKS[name],
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
    crossing = _crossing(results)
    scaled, plain = (
        results.one(method=each.label, units=UNITS[-1], metric="L1")
        for each in (RR_SCALED, OSDP_RR)
    )
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
                else f"the errors cross at n ≈ {crossing.mean:,.0f} "
                f"({crossing.low:,.0f}–{crossing.high:,.0f})",
                criterion=f"the mean crossing is within {CLOSE:.0%} of the predicted one",
                verdict=ClaimVerdict.of(
                    crossing is not None and abs(crossing.mean / PREDICTED - 1) < CLOSE
                ),
                remark="This is about unscaled counts: divided by 1 − e^−ε, the sample's error at "
                f"n = {UNITS[-1]:,} is {scaled.spread.over(plain.spread)} times that of the "
                "unscaled one.",
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


def _crossing(results: Results) -> Spread | None:
    """Where the errors of each run are equal, on a straight line between logarithms."""
    errors = {
        method: np.array(
            [results.one(method=method, units=units, metric="L1").values for units in UNITS]
        )
        for method in (OSDP_RR.label, LAPLACE.label)
    }
    gaps = np.log(errors[OSDP_RR.label]) - np.log(errors[LAPLACE.label])
    places = [_first_zero(gap) for gap in gaps.T]
    found = [place for place in places if place is not None]
    if len(found) < len(places):
        return None
    return Spread(float(np.mean(found)), min(found), max(found))


def _first_zero(gap: Floats) -> float | None:
    above = np.flatnonzero((gap[:-1] < 0) & (gap[1:] >= 0))
    if not above.size:
        return None
    place = int(above[0])
    part = -gap[place] / (gap[place + 1] - gap[place])
    return float(np.exp(log(UNITS[place]) + part * log(UNITS[place + 1] / UNITS[place])))


FIGURE = PaperFigure(
    name="crossover", title="OsdpRR against Laplace", trials=_trials, section=_section
)
