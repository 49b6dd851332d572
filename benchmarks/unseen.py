"""Error of `auto` on histograms that nobody has looked at, beside the best others with hindsight.

    python benchmarks/unseen.py --seed 12      (a few minutes; any seed draws other histograms)

Eighteen kinds of histograms at four numbers of bins (made_histograms.py) and three ε. On each, the
mean relative error of `auto` is divided by the least mean error of sound ordinary DP (laplace,
dawa, privtree, ahp), and by that of the paper's six algorithms. Means of few runs differ by chance,
and the least of them is too small for that reason: cells beyond a goal are run again, more often.
Exits with 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from accuracy import (
    EPSILONS,
    MOSTLY_OPEN,
    PROCESSES,
    WIDTH,
    WORST_AGAINST_SOUND,
    WORST_MOSTLY_OPEN,
)
from made_histograms import Made, all_kinds
from rich.console import Console
from rich.table import Table

from onesided.experiments.methods import (
    AUTO,
    DAWA,
    LAPLACE,
    PAPER_DP,
    PAPER_OSDP,
    PAPER_SIX,
    Method,
    error_rows,
)
from onesided.experiments.trial import Results
from onesided.mechanisms.registry import mechanism
from onesided.randomness import seeded

Result = TypeVar("Result")

RUNS_AGAIN = 4
"""How many times as often a cell beyond a goal is run again."""

OTHER_DP = tuple(Method(name, mechanism(name)) for name in ("privtree", "ahp"))
SOUND_METHODS = (LAPLACE, DAWA, *OTHER_DP)
SOUND_DP = tuple(each.label for each in SOUND_METHODS)
METHODS = (*PAPER_DP, *PAPER_OSDP, DAWA, *OTHER_DP, AUTO)
NEGLIGIBLE = 1e-5
"""Smaller errors count as that of one bin in a hundred thousand that is wrong by one."""


@dataclass(frozen=True)
class Cell:
    """A histogram at one ε, released so often by every method."""

    made: Made
    epsilon: float
    runs: int
    seed: int


@dataclass(frozen=True)
class Found:
    """How many times the least error of others `auto` has in a cell."""

    cell: Cell
    against_sound: float
    against_six: float

    @property
    def is_beyond(self) -> bool:
        return self.beyond_sound or self.beyond_six

    @property
    def beyond_sound(self) -> bool:
        return self.against_sound > WORST_AGAINST_SOUND

    @property
    def beyond_six(self) -> bool:
        return self.cell.made.share >= MOSTLY_OPEN and self.against_six > WORST_MOSTLY_OPEN


def measure(cell: Cell) -> Found:
    rows = error_rows(
        METHODS,
        cell.made.histogram,
        cell.made.histogram.all,
        epsilons=(cell.epsilon,),
        runs=cell.runs,
        rng=seeded(cell.seed),
        labels={},
    )
    errors = {str(row.labels["method"]): row.mean for row in Results(rows).where(metric="MRE")}
    own = errors[AUTO.label]
    return Found(cell, _ratio(own, errors, SOUND_DP), _ratio(own, errors, PAPER_SIX))


def _ratio(own: float, errors: dict[str, float], among: Sequence[str]) -> float:
    return max(own, NEGLIGIBLE) / max(min(errors[each] for each in among), NEGLIGIBLE)


def all_cells(seed: int, runs: int) -> list[Cell]:
    """Every kind of histogram at every ε."""
    return [
        Cell(each, epsilon, runs, seed + place)
        for place, each in enumerate(all_kinds(seed))
        for epsilon in EPSILONS
    ]


def in_parallel(
    work: Callable[[Cell], Result], cells: list[Cell], console: Console
) -> list[Result]:
    """The results of `work` on each of the cells, in their order."""
    found = []
    context = multiprocessing.get_context("spawn")
    with console.status("measuring") as status, ProcessPoolExecutor(PROCESSES, context) as pool:
        for each in pool.map(work, cells):
            found.append(each)
            status.update(f"{len(found)} of {len(cells)} measured")
    return found


def again(found: list[Found], console: Console) -> list[Found]:
    """The same, with cells beyond a goal measured anew by more runs."""
    doubtful = [
        Cell(each.cell.made, each.cell.epsilon, RUNS_AGAIN * each.cell.runs, each.cell.seed + 1)
        for each in found
        if each.is_beyond
    ]
    anew = iter(in_parallel(measure, doubtful, console))
    return [next(anew) if each.is_beyond else each for each in found]


def summary(found: list[Found]) -> Table:
    table = Table(
        "ε",
        "histograms",
        "mean against sound DP",
        f"beyond {WORST_AGAINST_SOUND:g}",
        "worst",
        f"mean regret, share ≥ {MOSTLY_OPEN}",
        f"beyond {WORST_MOSTLY_OPEN:g}",
        "worst",
        title="Error of auto over the least of others with hindsight, geometric means",
    )
    for epsilon in EPSILONS:
        here = [each for each in found if each.cell.epsilon == epsilon]
        sound = [each.against_sound for each in here]
        six = [each.against_six for each in here if each.cell.made.share >= MOSTLY_OPEN]
        table.add_row(
            f"{epsilon:g}",
            str(len(here)),
            f"{np.exp(np.mean(np.log(sound))):.2f}",
            str(sum(each.beyond_sound for each in here)),
            f"{max(sound):.2f}",
            f"{np.exp(np.mean(np.log(six))):.2f}",
            str(sum(each.beyond_six for each in here)),
            f"{max(six):.2f}",
        )
    return table


def options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="auto on histograms that nobody has looked at.")
    parser.add_argument("--seed", type=int, required=True, help="which histograms are drawn")
    parser.add_argument("--runs", type=int, default=5, help="releases by each method; default: 5")
    return parser.parse_args(arguments)


def main() -> int:
    chosen = options()
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    cells = all_cells(chosen.seed, chosen.runs)
    found = again(in_parallel(measure, cells, console), console)
    console.print(summary(found))
    beyond = [each for each in found if each.is_beyond]
    for each in beyond:
        console.print(
            f"beyond a goal: {each.cell.made.name}, ε = {each.cell.epsilon:g}: "
            f"{each.against_sound:.2f} times the best sound DP, regret {each.against_six:.2f}",
            highlight=False,
        )
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
