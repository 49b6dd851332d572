"""Counts of 4-grams and 5-grams of access points."""

from __future__ import annotations

from onesided.charts import Axes, comparison, svg
from onesided.experiments.figure import Figure, lines, numbers, relabelled
from onesided.experiments.measures.trajectories import GRAM_BOUNDS, OUR_GRAM_BOUND
from onesided.experiments.methods import AUTO, ONE_SIDED, OSDP_RR, RESIDUAL, RR_SCALED
from onesided.experiments.setting import EPSILONS, Setting, Trace
from onesided.experiments.trial import Measure, Results, Row, Trial
from onesided.report.claims import Claim, Plot, Section, Table, Verdict

LENGTHS = (4, 5)
SUPPORT, DOMAIN = "MRE support", "MRE domain"
PLACE = {SUPPORT: "over the n-grams that occur", DOMAIN: "over the whole domain"}
T1, T_BEST = "LM T1", "LM T*"
SAMPLED = ("All-NS", OSDP_RR.label, RR_SCALED.label)
OURS = (ONE_SIDED.label, RESIDUAL.label, AUTO.label)
METHODS = ("All-NS", OSDP_RR.label, T1, T_BEST, RR_SCALED.label, *OURS)
COMPARABLE = 2.0
ORDER_OF_MAGNITUDE = 10.0


def _trials(setting: Setting) -> list[Trial]:
    return [
        Trial.of(
            Measure.NGRAMS,
            trace=trace.value,
            n=n,
            runs=setting.size.runs,
            seed=setting.seed,
            scale=setting.size.scale,
        )
        for trace in setting.traces
        for n in LENGTHS
    ]


def _section(setting: Setting, results: Results) -> Section:
    claims: list[Claim] = []
    plots: list[Plot] = []
    tables: list[Table] = []
    facts: list[str] = []
    for trace in setting.traces:
        for n in LENGTHS:
            rows = results.where(trace=trace.value, n=n)
            facts.append(_facts(trace, n, rows))
            for metric in (SUPPORT, DOMAIN):
                shown = _shown(rows, metric)
                claims += _claims(f"{trace.title}, {n}-grams, {PLACE[metric]}", rows, shown, metric)
                plots.append(_plot(trace, n, metric, shown))
                tables += [
                    numbers(
                        f"MRE {PLACE[metric]}, {trace.title}, {n}-grams, ε = {epsilon:g}: mean "
                        "(least–greatest run)",
                        shown.where(epsilon=epsilon),
                        METHODS,
                        "share",
                        "ρ",
                    )
                    for epsilon in EPSILONS
                ]
    return Section(
        name=FIGURE.name,
        title=FIGURE.title,
        setting="Distinct device-days with each n-gram of access points in consecutive slots. "
        f"LM T1 keeps k = 1 n-gram of each device-day and adds noise of scale 2k/ε; LM T* takes "
        f"the best k of {', '.join(map(str, GRAM_BOUNDS))} with hindsight, which is not private. "
        "OsdpRR and All-NS need no bound. Ours (one-sided, residual, auto) have the contribution "
        f"bound k = {OUR_GRAM_BOUND} and find the n-grams through their noise. Empty cells enter "
        "by their expected error in closed form. " + " ".join(facts),
        claims=claims,
        plots=plots,
        tables=tables,
        notes=[
            "The paper says that empty cells were counted. Over the whole domain OsdpRR's error is "
            "smaller than Laplace's by orders of magnitude, far more than the paper claims; the "
            "ratios that it claims look like those over the n-grams that occur. Both are given.",
            "OsdpRR is unscaled, as in the paper. Where the n-grams are rare, its error cannot "
            "exceed 1, because leaving everything out has MRE 1 over the support.",
        ],
    )


def _facts(trace: Trace, n: int, rows: Results) -> str:
    support, domain, widest = (
        rows.one(metric=name).mean for name in ("support", "domain", "widest")
    )
    return (
        f"{trace.title}: {support:,.0f} {n}-grams occur of {domain:.3g}, and a device-day has up "
        f"to {widest:.0f}."
    )


def _shown(rows: Results, metric: str) -> Results:
    """The rows of one chart, with the two Laplace lines named."""
    picked: list[Row] = []
    for epsilon in EPSILONS:
        here = rows.where(metric=metric, epsilon=epsilon)
        for method in (*SAMPLED, *OURS):
            picked += here.where(method=method).rows
        picked += relabelled(here.where(method="LM", k=1), method=T1).rows
        picked += relabelled([_best_truncation(here)], method=T_BEST).rows
    return Results(picked)


def _best_truncation(rows: Results) -> Row:
    return min((rows.one(method="LM", k=k) for k in GRAM_BOUNDS), key=lambda row: row.mean)


def _claims(data: str, rows: Results, shown: Results, metric: str) -> list[Claim]:
    best = {
        epsilon: _best_truncation(rows.where(metric=metric, epsilon=epsilon)).labels["k"]
        for epsilon in EPSILONS
    }

    def ratio(epsilon: float, method: str, other: str, share: float) -> float:
        here = shown.where(epsilon=epsilon)
        rows_ = [here.where(method=name) for name in (method, other)]
        means = [
            found.one(share=share).mean if "share" in found.rows[0].labels else found.rows[0].mean
            for found in rows_
        ]
        return means[0] / means[1]

    even = ratio(1.0, T1, "OsdpRR", 0.5)
    worse = {share: ratio(0.01, T1, "OsdpRR", share) for share in (0.99, 0.5, 0.01)}
    loss = {share: ratio(1.0, "OsdpRR", "All-NS", share) for share in (0.9, 0.75, 0.5)}
    claims = [
        Claim(
            data=data,
            paper="the best truncation is k = 1",
            measured=", ".join(f"ε = {epsilon:g}: k = {k}" for epsilon, k in best.items()),
            verdict=Verdict.of(*(k == 1 for k in best.values())),
            remark="A larger k loses fewer n-grams and pays with noise."
            if any(k != 1 for k in best.values())
            else "",
        ),
        Claim(
            data=data,
            paper="at ε = 1 and ρ = 50 %, LM has an error comparable to OsdpRR's",
            measured=f"LM T1 {_at(shown, T1, 1.0)}, OsdpRR {_at(shown, 'OsdpRR', 1.0, 0.5)}: "
            f"{even:.3g} times",
            verdict=Verdict.of(1 / COMPARABLE <= even <= COMPARABLE),
            remark=f"Comparable means within {COMPARABLE:g} times."
            + ("" if metric == SUPPORT else " Laplace errs on every empty cell, a sample on none."),
        ),
        Claim(
            data=data,
            paper="at ε = 0.01, LM is an order of magnitude worse than OsdpRR",
            measured=f"LM T1 {_at(shown, T1, 0.01)}; over OsdpRR at ρ = 99, 50, 1 %: "
            f"{', '.join(f'{value:.3g}' for value in worse.values())} times",
            verdict=Verdict.of(*(value >= ORDER_OF_MAGNITUDE for value in worse.values())),
            remark="At least ten times counts as holding; it is far more."
            if min(worse.values()) > 2 * ORDER_OF_MAGNITUDE
            else "At least ten times counts as holding.",
        ),
    ]
    if metric == SUPPORT:  # over the domain the same ratio, as neither errs on empty cells
        claims.append(
            Claim(
                data=data,
                paper="All-NS has less error than OsdpRR, but not much less, at ρ = 90, 75, 50 %",
                measured=f"OsdpRR over All-NS at ε = 1: "
                f"{', '.join(f'{value:.3g}' for value in loss.values())} times",
                verdict=Verdict.of(*(1 <= value <= COMPARABLE for value in loss.values())),
                remark=f"Not much means at most {COMPARABLE:g} times.",
            )
        )
    return claims


def _at(shown: Results, method: str, epsilon: float, share: float | None = None) -> Row:
    here = shown.where(method=method, epsilon=epsilon)
    return here.rows[0] if share is None else here.one(share=share)


def _plot(trace: Trace, n: int, metric: str, shown: Results) -> Plot:
    chart = comparison(
        {
            f"ε = {epsilon:g}": lines(shown.where(epsilon=epsilon), METHODS, "share")
            for epsilon in EPSILONS
        },
        Axes(x="share of non-sensitive device-days ρ", y="MRE (ratio)"),
        title=f"{n}-grams {PLACE[metric]}, {trace.title}",
        subtitle="mean of the runs; bars from least to greatest run",
    )
    return Plot(
        svg=svg(chart),
        caption="Level lines are ordinary DP, which sees no policy; LM T* lies on LM T1 where the "
        "best k is 1.",
    )


FIGURE = Figure(
    name="ngrams",
    title="4-grams and 5-grams",
    trials=_trials,
    section=_section,
    uses_traces=True,
)
