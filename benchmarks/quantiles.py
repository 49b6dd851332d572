"""How far off the ranks of quantiles are, beside the exponential mechanism and a tree of counts.

    python benchmarks/quantiles.py             (some minutes; ONESIDED_DATA names the histograms)
    python benchmarks/quantiles.py --seed 4

Columns are the histograms of DPBench, where they are at hand, and made ones with heavy tails, over
4,096 and 1,024 cells. Units are sensitive at random at each share. Three ways answer the same
quantiles at the same ε:

- ours: the look and what it chooses, as a session runs it;
- (a) the exponential mechanism over the same cells, ε divided by the number of quantiles;
- (b) a tree of counts with geometric noise, in which each node has 16 children, made consistent.

(a) and (b) protect every unit by ε when one is replaced. Prints the mean error of the rank in
units, and ours over the better of the two, a unit added to both.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from onesided.data import Histogram
from onesided.mechanisms.ranks import Ranks
from onesided.mechanisms.ranks_of_all import RanksOfAll
from onesided.randomness import Randomness, seeded
from onesided.session.questions.ranked import NONSENSITIVE_LOOK, SENSITIVE_LOOK, ways

SHARES = (0.99, 0.5, 0.1)
EPSILONS = (Fraction(1), Fraction(1, 10))
SETS = {"median": (0.5,), "3": (0.25, 0.5, 0.75), "9": tuple(each / 10 for each in range(1, 10))}
GOALS = {0.99: 0.5, 0.5: 0.8, 0.1: 1.1}
CHILDREN = 16
RUNS = 10

Counts = NDArray[np.int64]
Way = Callable[[Counts, Counts, Sequence[float], Fraction, Randomness], list[int]]


def ours(
    x: Counts, nonsensitive: Counts, at: Sequence[float], epsilon: Fraction, rng: Randomness
) -> list[int]:
    """As `RankedCounts` does it."""
    lost = int(rng.geometric(epsilon * NONSENSITIVE_LOOK, 1)[0])
    noise = int(rng.two_sided_geometric(epsilon * SENSITIVE_LOOK, 1)[0])
    seen = max(int(nonsensitive.sum()) - lost, 0)
    sensitive = max(int((x - nonsensitive).sum()) + noise, 0)
    rest = epsilon * (1 - SENSITIVE_LOOK - NONSENSITIVE_LOOK)
    found: list[tuple[Ranks | RanksOfAll, float]] = list(ways(len(x), 1, rest, seen, sensitive))
    way = min(found, key=lambda each: each[1])[0]
    data = Histogram(x, nonsensitive, total_public=False)
    return cells_of(way.measure(data, rest, rng).value, at)


def exponential(
    x: Counts, nonsensitive: Counts, at: Sequence[float], epsilon: Fraction, rng: Randomness
) -> list[int]:
    """(a): a cell with probability in proportion to e^(−ε·error of its rank / 2)."""
    high = np.cumsum(x)
    low = high - x
    chosen = []
    for each in at:
        rank = each * high[-1]
        error = np.maximum(np.maximum(low - rank, rank - high), 0.0)
        weights = np.exp(-float(epsilon) / len(at) / 2 * (error - error.min()))
        sums = np.cumsum(weights)
        coin = float(rng.below(1 << 53, 1)[0]) / 2**53
        chosen.append(int(np.searchsorted(sums, coin * sums[-1])))
    return chosen


def tree(
    x: Counts, nonsensitive: Counts, at: Sequence[float], epsilon: Fraction, rng: Randomness
) -> list[int]:
    """(b): noise of rate ε/(2·levels) on every node below the root, then least squares."""
    levels = [x]
    while len(levels[-1]) > CHILDREN:
        levels.append(levels[-1].reshape(-1, CHILDREN).sum(axis=1))
    rate = epsilon / (2 * len(levels))
    noisy = [each + rng.two_sided_geometric(rate, len(each)) for each in levels]
    best, variance = [noisy[0].astype(np.float64)], 1.0
    for each in noisy[1:]:
        below = best[-1].reshape(len(each), -1).sum(axis=1)
        summed = variance * CHILDREN
        best.append((summed * each + below) / (summed + 1))
        variance = summed / (summed + 1)
    top = best[-1]
    for each in reversed(best[:-1]):
        parts = each.reshape(len(top), -1)
        missing = (top - parts.sum(axis=1)) / parts.shape[1]
        top = (parts + missing[:, None]).reshape(-1)
    return cells_of(top, at)


def cells_of(counts: NDArray[np.float64], at: Sequence[float]) -> list[int]:
    """The cells of quantiles: the first whose sum reaches the rank."""
    sums = np.maximum.accumulate(np.cumsum(counts))
    return [min(int(np.searchsorted(sums, each * sums[-1])), len(sums) - 1) for each in at]


def rank_error(x: Counts, cells: Sequence[int], at: Sequence[float]) -> float:
    """The mean distance of q·n from the ranks that the cell has."""
    high = np.cumsum(x)
    errors = []
    for cell, each in zip(cells, at, strict=True):
        rank = each * high[-1]
        errors.append(max(high[cell] - x[cell] - rank, rank - high[cell], 0.0))
    return float(np.mean(errors))


def columns(dice: np.random.Generator) -> dict[str, Counts]:
    """Histograms by name."""
    found: dict[str, Counts] = {}
    folder = Path(os.environ.get("ONESIDED_DATA", "")) / "dpbench"
    for file in sorted((folder / "1d").glob("*.npy")):
        found[file.stem] = np.load(file).astype(np.int64).reshape(-1)
    made = {
        "lognormal": dice.lognormal(3, 1, 10_000) / 200,
        "pareto": (dice.pareto(1.2, 10_000) + 1) / 500,
        "earnings": dice.lognormal(10, 1.2, 100_000) / 1e6,
        "waiting": dice.exponential(0.1, 10_000),
        "even": dice.random(10_000),
    }
    for name, values in made.items():
        places = np.clip((values * 1024).astype(np.int64), 0, 1023)
        found[name] = np.bincount(places, minlength=1024).astype(np.int64)
    return found


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    dice, rng = np.random.default_rng(seed), seeded(seed)
    data = columns(dice)
    contestants: dict[str, Way] = {"ours": ours, "exponential": exponential, "tree": tree}
    print("quantiles  ε    share  ours  exponential  tree  ratios to the better: mean (by column)")
    for wanted, at in SETS.items():
        for epsilon in EPSILONS:
            for share in SHARES:
                ratios, sums = {}, dict.fromkeys(contestants, 0.0)
                for name, x in data.items():
                    errors = {}
                    for who, way in contestants.items():
                        each = []
                        for _ in range(RUNS):
                            seen = dice.binomial(x, share)
                            each.append(rank_error(x, way(x, seen, at, epsilon, rng), at))
                        errors[who] = float(np.mean(each))
                        sums[who] += errors[who] / len(data)
                    # Less than a unit is chance.
                    better = min(errors["exponential"], errors["tree"])
                    ratios[name] = (errors["ours"] + 1) / (better + 1)
                mean = float(np.exp(np.mean(np.log(list(ratios.values())))))
                told = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
                figures = "  ".join(f"{sums[who]:.1f}" for who in contestants)
                print(
                    f"{wanted:>6}  {float(epsilon):>4}  {share}  {figures}  "
                    f"{mean:.2f} (aim {GOALS[share]}): {told}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
