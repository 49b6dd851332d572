"""Error of our mechanisms beside the best of the paper's six with hindsight.

    python benchmarks/accuracy.py --out accuracy      (about ten minutes)
    python benchmarks/accuracy.py --quick             (two runs, three shares, ε = 1)

Seven histograms of DPBench, two opt-in policies (Close, Far), seven non-sensitive shares and three
ε. Regret is an error over the least mean error of the paper's six on the same histograms, so below
1 is better than the best of them. With `--out`, the folder gets `accuracy.md` (regrets),
`accuracy.csv` (errors) and `accuracy.svg`. Exits with 1 where a goal is missed; goals about means
over shares are judged where all these shares were measured.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from onesided.charts.comparison import Axes, Series, comparison, svg
from onesided.data import Histogram
from onesided.datasets.dpbench import ONE_DIMENSIONAL, Origin, load_1d
from onesided.experiments.measures.histograms import POLICIES
from onesided.experiments.methods import (
    AUTO,
    DAWA,
    DAWAZ,
    LAPLACE,
    PAPER_DP,
    PAPER_OSDP,
    RESIDUAL,
    error_rows,
)
from onesided.experiments.regrets import mean_regrets, regrets
from onesided.experiments.setting import SHARES
from onesided.experiments.trial import Results, Row
from onesided.randomness import seeded

EPSILONS = (1.0, 0.1, 0.01)
METRICS = ("MRE", "Rel50", "Rel95", "L1")
MOSTLY_OPEN = 0.25
QUICK_SHARES = (0.99, 0.5, 0.1)
PROCESSES = 2
WIDTH = 120
"""Columns of the printed table where the output is no terminal."""

SEED = 7

BY_POLICY = (*PAPER_OSDP, DAWAZ, RESIDUAL, AUTO)
WHATEVER_THE_POLICY = (*PAPER_DP, DAWA)
SOUND_DP = (LAPLACE, DAWA)
METHODS = tuple(each.label for each in (*WHATEVER_THE_POLICY, *BY_POLICY))
POLICY_NAMES = tuple(policy.name for policy in POLICIES)


@dataclass(frozen=True)
class Grid:
    """What is measured."""

    shares: tuple[float, ...]
    epsilons: tuple[float, ...]
    runs: int


@dataclass(frozen=True)
class Task:
    """One data set under one policy and share; no policy stands for ordinary DP."""

    dataset: str
    grid: Grid
    seed: int
    policy: str | None = None
    share: float = 0.0

    def rows(self) -> list[Row]:
        """The errors of all methods that this task is about."""
        counts = load_1d(self.dataset).counts
        drawing, noise = seeded(self.seed).spawn(2)
        others = np.zeros_like(counts)
        labels: dict[str, str | int | float | bool] = {"dataset": self.dataset}
        if self.policy is not None:
            policy = next(each for each in POLICIES if each.name == self.policy)
            others = policy.sample(counts, self.share, drawing)
            labels |= {"policy": self.policy, "share": self.share}
        return error_rows(
            WHATEVER_THE_POLICY if self.policy is None else BY_POLICY,
            Histogram(counts, others),
            counts,
            epsilons=self.grid.epsilons,
            runs=self.grid.runs,
            rng=noise,
            labels=labels,
        )


@dataclass(frozen=True)
class Goal:
    """The mean regret for MRE that `auto` must reach over all shares from `least_share` on."""

    epsilon: float
    least_share: float
    most: float


GOALS = (Goal(1.0, MOSTLY_OPEN, 0.90), Goal(1.0, 0, 1.30), Goal(0.1, 0, 1.25), Goal(0.01, 0, 1.35))
WORST_MOSTLY_OPEN = 2.5
"""`auto` must not have a greater regret on any data set at a share of a quarter or more."""

WORST_AGAINST_SOUND = 2.0
"""`auto` must nowhere have a greater error than this multiple of the best sound ordinary DP."""


@dataclass(frozen=True)
class Check:
    """A goal, what was reached, and whether that is enough."""

    what: str
    reached: float
    most: float

    @property
    def missed(self) -> bool:
        return self.reached > self.most

    def __str__(self) -> str:
        verdict = "MISSED" if self.missed else "met"
        return f"auto, {self.what}: {self.reached:.2f}, goal {self.most:.2f}: {verdict}"


def tasks(grid: Grid) -> list[Task]:
    names = [shape.name for shape in ONE_DIMENSIONAL]
    places: list[tuple[str, str | None, float]] = [
        (name, policy, share) for share in grid.shares for name in names for policy in POLICY_NAMES
    ]
    places += [(name, None, 0.0) for name in names]
    return [
        Task(name, grid, SEED + number, policy, share)
        for number, (name, policy, share) in enumerate(places)
    ]


def measured(grid: Grid, progress: Callable[[str], None]) -> Results:
    work = tasks(grid)
    parts = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(PROCESSES, mp_context=context) as pool:
        for rows in pool.map(Task.rows, work):
            parts.append(rows)
            progress(f"{len(parts)} of {len(work)} measured")
    return Results.joined(parts)


def regret_rows(results: Results, grid: Grid, metric: str, epsilon: float) -> Results:
    """The mean over data sets and policies, one row per method and share."""
    return mean_regrets(
        results, epsilon=epsilon, metric=metric, policies=POLICY_NAMES, shares=grid.shares
    )


def table_rows(results: Results, grid: Grid) -> tuple[list[str], list[list[str]]]:
    """The regrets of every metric, ε and method by share, and their means."""
    header = ["metric", "ε", "method", *map(str, grid.shares), f"≥ {MOSTLY_OPEN}", "all"]
    rows = []
    for metric in METRICS:
        for epsilon in grid.epsilons:
            found = regret_rows(results, grid, metric, epsilon)
            for method in METHODS:
                by_share = {
                    float(row.labels["share"]): row.mean for row in found.where(method=method)
                }
                figures = [by_share.get(share, float("nan")) for share in grid.shares]
                shown = [*figures, _mean(by_share, MOSTLY_OPEN), _mean(by_share, 0)]
                text = ["–" if np.isnan(figure) else f"{figure:.2f}" for figure in shown]
                rows.append([metric, f"{epsilon:g}", method, *text])
    return header, rows


def _mean(by_share: dict[float, float], least_share: float) -> float:
    chosen = [regret for share, regret in by_share.items() if share >= least_share]
    return float(np.mean(chosen)) if chosen else float("nan")


def checks(results: Results, grid: Grid) -> list[Check]:
    """What `auto` has reached of its goals."""
    found = []
    for epsilon in grid.epsilons:
        rows = regret_rows(results, grid, "MRE", epsilon).where(method=AUTO.label)
        by_share = {float(row.labels["share"]): row.mean for row in rows}
        for goal in GOALS:
            wanted = {share for share in SHARES if share >= goal.least_share}
            if goal.epsilon == epsilon and wanted <= by_share.keys():
                what = f"ε = {epsilon:g}, shares ≥ {goal.least_share:g}, mean regret"
                found.append(Check(what, _mean(by_share, goal.least_share), goal.most))
        what = f"ε = {epsilon:g}, worst regret on one data set at a share ≥ {MOSTLY_OPEN}"
        found.append(Check(what, _worst_mostly_open(results, grid, epsilon), WORST_MOSTLY_OPEN))
        what = f"ε = {epsilon:g}, worst ratio to the best sound ordinary DP"
        found.append(Check(what, _worst_against_sound(results, epsilon), WORST_AGAINST_SOUND))
    return found


def _worst_mostly_open(results: Results, grid: Grid, epsilon: float) -> float:
    """The largest mean regret of `auto` for any data set, policy and share of a quarter or more."""
    return max(
        row.mean
        for share in grid.shares
        if share >= MOSTLY_OPEN
        for policy in POLICY_NAMES
        for row in regrets(
            results, epsilon=epsilon, metric="MRE", policy=policy, share=share
        ).where(method=AUTO.label)
    )


def _worst_against_sound(results: Results, epsilon: float) -> float:
    """The largest of `auto`'s mean errors over the least one of ordinary DP on the same data."""
    here = results.where(metric="MRE", epsilon=epsilon)
    ratios = []
    for row in here.where(method=AUTO.label):
        same = here.where(dataset=row.labels["dataset"])
        ratios.append(row.mean / min(same.one(method=each.label).mean for each in SOUND_DP))
    return max(ratios)


def chart(results: Results, grid: Grid, subtitle: str) -> str:
    """Mean regret for MRE by share, one panel for each ε."""
    panels = {}
    for epsilon in grid.epsilons:
        found = regret_rows(results, grid, "MRE", epsilon)
        panels[f"ε = {epsilon:g}"] = [
            _series(method, found.where(method=method)) for method in METHODS
        ]
    axes = Axes(x="non-sensitive share", y="mean regret for MRE", reference=1.0)
    return svg(comparison(panels, axes, title="Regret against the paper's six", subtitle=subtitle))


def _series(method: str, rows: Results) -> Series:
    return Series(
        name=method,
        x=[f"{row.labels['share']:g}" for row in rows],
        y=[row.mean for row in rows],
        low=[row.low for row in rows],
        high=[row.high for row in rows],
    )


def write(folder: Path, results: Results, grid: Grid, subtitle: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    header, rows = table_rows(results, grid)
    lines = [f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows)]
    heading = f"# Mean regret against the best of the paper's six\n\n{subtitle}.\n\n"
    (folder / "accuracy.md").write_text(heading + "\n".join(lines) + "\n", encoding="utf-8")
    (folder / "accuracy.svg").write_text(chart(results, grid, subtitle), encoding="utf-8")
    names = ("dataset", "policy", "share", "epsilon", "method", "metric")
    with (folder / "accuracy.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*names, "mean", "least", "greatest"])
        for row in results:
            labels = [row.labels.get(name, "") for name in names]
            writer.writerow([*labels, row.mean, row.low, row.high])


def show(console: Console, results: Results, grid: Grid) -> None:
    """The regrets for MRE; the written table has the other metrics too."""
    header, rows = table_rows(results, grid)
    table = Table(*header[1:], title="Mean regret for MRE; 1 is the best of the paper's six")
    for metric, *cells in rows:
        if metric == "MRE":
            table.add_row(*cells, end_section=cells[1] == METHODS[-1])
    console.print(table)


def options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Regret against the best of the paper's six.")
    parser.add_argument("--runs", type=int, default=10, help="releases by each method; default: 10")
    parser.add_argument("--quick", action="store_true", help="two runs, three shares, ε = 1")
    parser.add_argument("--out", type=Path, help="folder for the table and the chart")
    return parser.parse_args(arguments)


def main() -> int:
    chosen = options()
    grid = (
        Grid(QUICK_SHARES, EPSILONS[:1], 2) if chosen.quick else Grid(SHARES, EPSILONS, chosen.runs)
    )
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    real = all(load_1d(shape.name).source is Origin.DPBENCH for shape in ONE_DIMENSIONAL)
    origin = "DPBench-1D" if real else "made histograms, stand-ins for DPBench-1D"
    with console.status("measuring") as status:
        results = measured(grid, status.update)
    show(console, results, grid)
    found = checks(results, grid)
    for check in found:
        console.print(str(check), highlight=False)
    if chosen.out is not None:
        subtitle = f"{origin}, policies Close and Far, {grid.runs} runs; 1 is the best of the six"
        write(chosen.out, results, grid, subtitle)
    console.print(f"Data: {origin}.")
    return 1 if any(check.missed for check in found) else 0


if __name__ == "__main__":
    sys.exit(main())
