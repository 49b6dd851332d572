"""Bounds of totals that are found, beside the best in hindsight: `python benchmarks/totals.py`.

The sum of each column is asked with `bound="auto"`. The error of a bound is what it clips of the
units that are not sensitive, and the mean size of its noise. That of the bound that was found, at
what the look leaves of ε, stands beside the least of all bounds, at the whole ε.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pyarrow as pa

import onesided as osd
from onesided.mechanisms.sums import expected_sum_error
from onesided.session.questions.found_bounds import LOOK_SHARE

UNITS, SEEDS = 20_000, 3
LEFT = 1 - LOOK_SHARE


def columns(seed: int) -> Mapping[str, np.ndarray]:
    """Five columns with heavy tails."""
    dice = np.random.default_rng(seed)
    return {
        "log-normal, σ = 1": np.round(np.exp(dice.normal(3, 1, UNITS)), 2),
        "log-normal, σ = 2": np.round(np.exp(dice.normal(3, 2, UNITS)), 2),
        "exponential": np.round(dice.exponential(40, UNITS), 2),
        "Pareto, α = 2.5": np.round(10 * (1 + dice.pareto(2.5, UNITS)), 2),
        "Pareto, α = 1.5": np.round(10 * (1 + dice.pareto(1.5, UNITS)), 2),
    }


def error(values: np.ndarray, bound: float, epsilon: float) -> float:
    """What a bound clips of a sum, and its noise."""
    noise = expected_sum_error(Fraction(epsilon), ceiling=10**6, step=Fraction(bound) / 10**6, k=1)
    return float(np.maximum(values - bound, 0).sum()) + noise


def ratio(values: np.ndarray, seed: int, epsilon: float) -> tuple[float, float, float]:
    """The bound that was found, the best one, and the error of the one over that of the other."""
    sensitive = np.random.default_rng(seed).random(UNITS) < 0.3
    table = pa.table({"paid": values, "secret": sensitive})
    with osd.open(table, unit="rows", policy="secret", budget=100, rng=osd.seeded(seed)) as data:
        found = float(
            Fraction(
                data.sum("paid", bound="auto", epsilon=epsilon).receipt["error"]["bound"]["bound"]
            )
        )
    seen = values[~sensitive]
    ladder = [2.0 ** (half / 2) for half in range(-12, 60)]
    best = min(ladder, key=lambda bound: error(seen, bound, epsilon))
    return found, best, error(seen, found, float(LEFT) * epsilon) / error(seen, best, epsilon)


def main() -> None:
    print("| column | ε | bound found | best bound | error over the least |")
    print("|---|---|---|---|---|")
    for epsilon in (1.0, 0.1):
        for name in columns(0):
            runs = [ratio(columns(seed)[name], seed, epsilon) for seed in range(SEEDS)]
            found, best, over = (float(np.mean([run[place] for run in runs])) for place in range(3))
            print(f"| {name} | {epsilon:g} | {found:,.0f} | {best:,.0f} | {over:.2f} |")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
