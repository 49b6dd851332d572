"""How well `auto` chooses: its error beside that of the best of its own candidates with hindsight.

    python benchmarks/choice.py --seed 12      (ten minutes; any seed draws other histograms)

On made histograms (made_histograms.py), after each probe every candidate is run on the data, not
only the chosen one. The difference between the chosen one and the best one is the price of choosing
by what a probe tells. The difference between the best one and the best sound ordinary DP is the
price of the probe and of the candidates themselves. Beside both stands the error of measuring every
bin, without regard to the probe.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from accuracy import EPSILONS, WIDTH, WORST_AGAINST_SOUND
from rich.console import Console
from rich.table import Table
from unseen import NEGLIGIBLE, SOUND_METHODS, Cell, all_cells, in_parallel

from onesided.data.metrics import mre
from onesided.experiments.methods import error_rows
from onesided.experiments.trial import Results
from onesided.loss import rational
from onesided.mechanisms.auto import Auto
from onesided.mechanisms.auto.candidates import AllBins, candidates
from onesided.mechanisms.auto.probe import ProbePlan
from onesided.mechanisms.base import PublicShape
from onesided.randomness import seeded


@dataclass(frozen=True)
class Judged:
    """Mean errors in a cell, none smaller than what is negligible."""

    epsilon: float
    chosen: float
    best_candidate: float
    all_bins: float
    sound_dp: float


def judge(cell: Cell) -> Judged:
    choosing, others = seeded(cell.seed).spawn(2)
    data, epsilon = cell.made.histogram, rational(cell.epsilon)
    public, auto = PublicShape.of(data), Auto()
    plan = ProbePlan(public, epsilon)
    tried = [form for each in candidates(plan) for form in each.forms]
    errors, chosen = np.zeros((cell.runs, len(tried))), []
    for run in range(cell.runs):
        probe = auto.probe(data, epsilon, choosing)
        choice = auto.choose(probe, public, epsilon, choosing)
        chosen.append(tried.index(choice.candidate))
        for place, each in enumerate(tried):
            value = replace(choice, candidate=each).measure(data, choosing).value
            errors[run, place] = mre(data.all, value)
    rows = error_rows(
        SOUND_METHODS,
        data,
        data.all,
        epsilons=(cell.epsilon,),
        runs=cell.runs,
        rng=others,
        labels={},
    )
    found = (
        errors[np.arange(cell.runs), chosen].mean(),
        errors.mean(axis=0).min(),
        errors[:, tried.index(AllBins(plan))].mean(),
        min(row.mean for row in Results(rows).where(metric="MRE")),
    )
    return Judged(cell.epsilon, *(max(float(each), NEGLIGIBLE) for each in found))


def summary(found: list[Judged]) -> Table:
    table = Table(
        "ε",
        "histograms",
        "chosen over best candidate",
        "all bins over best candidate",
        *(
            f"beyond {WORST_AGAINST_SOUND:g} × sound DP: {which}"
            for which in ("chosen", "best candidate", "all bins")
        ),
        title="Errors of what auto chooses, of its best candidate with hindsight, and of all bins",
    )
    for epsilon in EPSILONS:
        here = [each for each in found if each.epsilon == epsilon]
        table.add_row(
            f"{epsilon:g}",
            str(len(here)),
            f"{_mean_ratio(here, lambda each: each.chosen / each.best_candidate):.2f}",
            f"{_mean_ratio(here, lambda each: each.all_bins / each.best_candidate):.2f}",
            str(_beyond(here, lambda each: each.chosen)),
            str(_beyond(here, lambda each: each.best_candidate)),
            str(_beyond(here, lambda each: each.all_bins)),
        )
    return table


def _mean_ratio(found: list[Judged], ratio: Callable[[Judged], float]) -> float:
    """Geometric."""
    return float(np.exp(np.mean([np.log(ratio(each)) for each in found])))


def _beyond(found: list[Judged], error: Callable[[Judged], float]) -> int:
    return sum(error(each) > WORST_AGAINST_SOUND * each.sound_dp for each in found)


def options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="How well auto chooses among its candidates.")
    parser.add_argument("--seed", type=int, required=True, help="which histograms are drawn")
    parser.add_argument(
        "--runs", type=int, default=4, help="probes, and releases by each; default: 4"
    )
    return parser.parse_args(arguments)


def main() -> int:
    wanted = options()
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    cells = all_cells(wanted.seed, wanted.runs)
    console.print(summary(in_parallel(judge, cells, console)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
