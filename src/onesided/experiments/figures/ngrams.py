"""Counts of 4-grams and 5-grams of access points."""

from __future__ import annotations

from onesided.charts.comparison import Axes, comparison, svg
from onesided.experiments.figure import PaperFigure, lines, numbers, percent, relabelled
from onesided.experiments.measures.trajectories import GRAM_BOUNDS, GRAMS, OUR_GRAM_BOUND
from onesided.experiments.methods import AUTO, ONE_SIDED, OSDP_RR, RESIDUAL, RR_SCALED
from onesided.experiments.setting import EPSILONS, SHARES, ReproductionSetting, Trace
from onesided.experiments.trial import Results, Row, Trial
from onesided.report.claims import Claim, ClaimVerdict, NumberTable, Plot, Section

LENGTHS = (4, 5)
SUPPORT, DOMAIN = "MRE support", "MRE domain"
PLACE = {SUPPORT: "over the n-grams that occur", DOMAIN: "over the whole domain"}
T1, T_BEST = "LM T1", "LM T*"
SAMPLED = ("All-NS", OSDP_RR.label, RR_SCALED.label)
OURS = (ONE_SIDED.label, RESIDUAL.label, AUTO.label)
METHODS = ("All-NS", OSDP_RR.label, T1, T_BEST, RR_SCALED.label, *OURS)
COMPARABLE = 2.0
ORDER_OF_MAGNITUDE = 10.0


def _trials(setting: ReproductionSetting) -> list[Trial]:
    return [
        Trial.of(
            GRAMS,
            trace=trace.value,
            n=n,
            runs=setting.size.runs,
            seed=setting.seed,
            scale=setting.size.scale,
        )
        for trace in setting.traces
        for n in LENGTHS
    ]


def _section(setting: ReproductionSetting, results: Results) -> Section:
    claims: list[Claim] = []
    plots: list[Plot] = []
    tables: list[NumberTable] = []
    public: list[str] = []
    for trace in setting.traces:
        for n in LENGTHS:
            rows = results.where(trace=trace.value, n=n)
            public.append(_facts(trace, n, rows))
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
        "by their expected error in closed form. " + " ".join(public),
        claims=claims,
        plots=plots,
        tables=tables,
        notes=[
            "The paper says that empty cells were counted. Over the whole domain OsdpRR's error is "
            "smaller than Laplace's by orders of magnitude, far more than the paper claims; the "
            "ratios that it claims look like those over the n-grams that occur. Both are given.",
            "OsdpRR is unscaled, as in the paper. Where the n-grams are rare, its error cannot "
            "exceed 1, because leaving everything out has MRE 1 over the support.",
            "Ours keep k = 1 n-gram of each device-day, as LM T1 does, and so lose to a sample of "
            "whole device-days, which needs no bound. dawa and dawaz would have to list every cell "
            "of the domain, up to 10¹⁰ of them, and are left out.",
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
    claims = [
        _best_bound(data, rows.where(metric=metric)),
        _comparable(data, shown, metric),
        _magnitude(data, shown),
    ]
    if metric == SUPPORT:  # over the domain the same ratio, as neither errs on empty cells
        claims.append(_price_of_sampling(data, shown))
    return claims


def _best_bound(data: str, rows: Results) -> Claim:
    found = {
        epsilon: {k: rows.one(method="LM", k=k, epsilon=epsilon) for k in GRAM_BOUNDS}
        for epsilon in EPSILONS
    }
    verdict = ClaimVerdict.of(
        *(min(by_k, key=lambda k: by_k[k].mean) == 1 for by_k in found.values())
    )
    return Claim(
        data=data,
        paper="the best truncation is k = 1",
        measured="\n".join(
            f"ε = {epsilon:g}: " + ", ".join(f"k = {k} {row}" for k, row in by_k.items())
            for epsilon, by_k in found.items()
        ),
        criterion="k = 1 has the least mean error of LM at both ε",
        verdict=verdict,
        remark=""
        if verdict is ClaimVerdict.HOLDS
        else "A larger k loses fewer n-grams and pays with noise.",
    )


def _comparable(data: str, shown: Results, metric: str) -> Claim:
    laplace, sample = _at(shown, T1, 1.0), _at(shown, OSDP_RR.label, 1.0, 0.5)
    ratio = laplace.spread.over(sample.spread)
    holds = 1 / COMPARABLE <= ratio.mean <= COMPARABLE
    return Claim(
        data=data,
        paper="at ε = 1 and ρ = 50 %, LM has an error comparable to OsdpRR's",
        measured=f"LM T1 {laplace}\nOsdpRR {sample}\n{ratio} times",
        criterion=f"the means differ by at most {COMPARABLE:g} times",
        verdict=ClaimVerdict.of(holds),
        remark=""
        if holds
        else "Laplace errs on every empty cell, a sample on none."
        if metric == DOMAIN
        else "Most n-grams are rare. There LM's relative error is about its mean noise, 2, while a "
        "sample that leaves out what is there errs by 1 at most; the fewer n-grams are common, "
        "the nearer both come to these numbers.",
    )


def _magnitude(data: str, shown: Results) -> Claim:
    laplace = _at(shown, T1, 0.01)
    ratios = {
        share: laplace.spread.over(_at(shown, OSDP_RR.label, 0.01, share).spread)
        for share in SHARES
    }
    worst = min(ratio.mean for ratio in ratios.values())
    return Claim(
        data=data,
        paper="at ε = 0.01, LM is an order of magnitude worse than OsdpRR",
        measured=f"LM T1 {laplace}; over OsdpRR:\n"
        + "\n".join(f"ρ = {percent(share)}: {ratio} times" for share, ratio in ratios.items()),
        criterion=f"at least {ORDER_OF_MAGNITUDE:g} times at every ρ",
        verdict=ClaimVerdict.of(*(ratio.mean >= ORDER_OF_MAGNITUDE for ratio in ratios.values())),
        remark="It is far more than the ten times of the paper."
        if worst > 2 * ORDER_OF_MAGNITUDE
        else "",
    )


def _price_of_sampling(data: str, shown: Results) -> Claim:
    ratios = {
        share: _at(shown, OSDP_RR.label, 1.0, share).spread.over(
            _at(shown, "All-NS", 1.0, share).spread
        )
        for share in (0.9, 0.75, 0.5)
    }
    verdict = ClaimVerdict.of(*(1 <= ratio.mean <= COMPARABLE for ratio in ratios.values()))
    return Claim(
        data=data,
        paper="All-NS has less error than OsdpRR, but not much less, at ρ = 90, 75, 50 %",
        measured="OsdpRR over All-NS at ε = 1:\n"
        + "\n".join(f"ρ = {percent(share)}: {ratio} times" for share, ratio in ratios.items()),
        criterion=f"from 1 to {COMPARABLE:g} times at each of these ρ",
        verdict=verdict,
        remark=""
        if verdict is ClaimVerdict.HOLDS
        else "All-NS errs by the sensitive units alone, a sample by the 37 % that it leaves out as "
        "well: where few n-grams pass a sensitive access point, that is most of its error.",
    )


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


FIGURE = PaperFigure(
    name="ngrams",
    title="4-grams and 5-grams",
    trials=_trials,
    section=_section,
    uses_traces=True,
)
