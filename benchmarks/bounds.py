"""The bound on groups that is found, beside the best one with hindsight.

    python benchmarks/bounds.py             (about five minutes; ONESIDED_DATA names the trace)
    python benchmarks/bounds.py laplace     (these mechanisms alone)

Three tables: the Wi-Fi trace of re:publica by room, a simulated building by room and hour, and made
purchases by product with a heavy tail. For each ε and mechanism the mean error of a group, beside
the count of all units without any bound, is measured for a range of bounds. The bound is then found
from a sample at the same ε, and by a look at 2 to 10 % of ε. Prints the total error of what is
found over that of the best bound with hindsight, and what a plan expects beside what is measured.
"""

from __future__ import annotations

import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import onesided as osd
from onesided.data import Histogram
from onesided.data.units import Unit
from onesided.datasets.building import Building
from onesided.datasets.wifi import REPUBLICA_COLUMNS, REPUBLICA_MEMBER, republica_archive
from onesided.engine.base import CountQuery
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.language import Key, Predicate
from onesided.mechanisms.registry import mechanism
from onesided.randomness import seeded

EPSILONS = (Fraction(1, 10), Fraction(1, 2))
MECHANISMS = ("one-sided", "laplace", "auto")
RUNS = {"one-sided": 40, "laplace": 40, "auto": 4}
CHOICES = 3
"""So often is a bound found, each time with other coins and other noise."""
GOAL = 1.25


@dataclass(frozen=True)
class Case:
    """A table, its units and policy, and what is counted."""

    name: str
    table: pa.Table
    unit: tuple[str, ...]
    policy: str
    by: tuple[str, ...]
    domain: Mapping[str, Sequence[Any]]


def cases(folder: Path) -> Iterator[Case]:
    """The three tables; the trace only where it is there."""
    archive = republica_archive()
    if archive is not None:
        yield _republica(archive, folder)
    yield _building(folder)
    yield _purchases()


def _republica(archive: Path, folder: Path) -> Case:
    with zipfile.ZipFile(archive) as packed:
        file = packed.extract(REPUBLICA_MEMBER, folder)
    columns = {REPUBLICA_COLUMNS.device: "device", REPUBLICA_COLUMNS.keep["room"]: "room"}
    table = pyarrow.csv.read_csv(file).select(list(columns)).rename_columns(list(columns.values()))
    rooms = sorted(each for each in table.column("room").unique().to_pylist() if each)
    return Case("re:publica", table, ("device",), "room = 'raucherhof'", ("room",), {"room": rooms})


def _building(folder: Path) -> Case:
    Building.simulate(scale=0.005, seed=1).write(folder / "building")
    table = pq.read_table(folder / "building" / "visits.parquet")
    rooms = sorted(table.column("room").unique().to_pylist())
    policy = "kind = 'smokers yard' OR opted_out"
    by = ("room", "hour(ts)")
    return Case("building", table, ("device", "day"), policy, by, {"room": rooms})


def _purchases() -> Case:
    """4,000 customers; how many products they buy has a heavy tail, and few products sell well."""
    dice = seeded(11).generator()
    number = np.minimum(1 + dice.pareto(1.1, 4_000) * 2, 60).astype(int)
    popular = 1 / np.arange(1, 201)
    bought = [
        (customer, int(product), customer % 10 == 0)
        for customer, many in enumerate(number)
        for product in dice.choice(200, many, replace=False, p=popular / popular.sum())
    ]
    columns = zip(*bought, strict=True)
    table = pa.table(dict(zip(("customer", "product", "minor"), columns, strict=True)))
    domain = {"product": list(range(200))}
    return Case("purchases", table, ("customer",), "minor", ("product",), domain)


@dataclass(frozen=True)
class Truth:
    """The counts of a case: of all units without a bound, and as a mechanism sees them with one."""

    all: Mapping[tuple[Any, ...], int]
    bins: int
    bounded: Mapping[int, Histogram]

    @classmethod
    def of(cls, case: Case) -> Truth:
        """Counted by the engine for every bound that matters."""
        engine = DuckDBEngine(case.table, Unit(case.unit))
        try:
            keys = tuple(Key.parse(text).bind(engine.schema) for text in case.by)
            query = CountQuery(Predicate.parse(case.policy).bind(engine.schema), keys)
            whole = engine.count(query)
            names = [tuple(row.values()) for row in whole.keys.to_pylist()]
            truth = dict(zip(names, whole.all.tolist(), strict=True))
            places = {name: place for place, name in enumerate(names)}
            bins = max(len(names), _declared(case))
            tally = engine.count(replace(query, tally=True)).keys.column(0).to_pylist()
            bounded = {
                k: _placed(engine.count(replace(query, max_groups=k)), places, bins, k)
                for k in bounds(max(tally))
            }
        finally:
            engine.close()
        return cls(truth, bins, bounded)

    def errors(self, name: str, epsilon: Fraction, k: int, *, counted: bool = False) -> float:
        """The mean error of a group beside the count of all units, over several runs.

        - `counted`: beside what is counted within the bound.
        """
        data, chosen = self.bounded[k], mechanism(name)
        truth = np.zeros(self.bins)
        truth[: len(self.all)] = list(self.all.values())
        if counted:
            truth = data.all
        return float(
            np.mean(
                [
                    np.abs(chosen.release(data, epsilon=epsilon, rng=seeded(run)).value - truth)
                    for run in range(RUNS[name])
                ]
            )
        )


def bounds(most: int) -> list[int]:
    """Every bound up to 16, then each that is a tenth larger."""
    found = [1]
    while found[-1] < most:
        last = found[-1]
        found.append(min(most, last + 1 if last < 16 else max(last + 1, round(last * 1.1))))
    return found


def _declared(case: Case) -> int:
    """The number of bins; an hour is one of 24."""
    listed = prod(len(values) for values in case.domain.values())
    return listed * 24 ** sum(key.startswith("hour(") for key in case.by)


def _placed(found: Any, places: Mapping[tuple[Any, ...], int], bins: int, k: int) -> Histogram:
    whole, nonsensitive = np.zeros(bins, dtype=np.int64), np.zeros(bins, dtype=np.int64)
    for row, each, ours in zip(found.keys.to_pylist(), found.all, found.nonsensitive, strict=True):
        whole[places[tuple(row.values())]] = each
        nonsensitive[places[tuple(row.values())]] = ours
    return Histogram(whole, nonsensitive, k=k)


def found_bounds(case: Case, name: str, epsilon: Fraction, *, sampled: bool) -> list[int]:
    """The bounds that a session finds, from a sample at the same ε or by a look of its own."""
    found = []
    for run in range(CHOICES):
        with osd.open(
            case.table, unit=case.unit, policy=case.policy, budget=2 * epsilon, rng=seeded(run)
        ) as data:
            if sampled:
                data.sample(epsilon)
            plan = data.count(
                list(case.by),
                epsilon=epsilon,
                domain=case.domain,
                mechanism=name,
                max_groups="auto",
            )
            found.append(int(plan.error["bound"]["max_groups"]))
    return found


def expected(case: Case, name: str, epsilon: Fraction, k: int) -> float:
    """What a plan expects after a sample at the same ε, beside what is counted."""
    with osd.open(
        case.table, unit=case.unit, policy=case.policy, budget=epsilon, rng=seeded(1)
    ) as data:
        data.sample(epsilon)
        plan = data.plan(list(case.by), epsilon=epsilon, domain=case.domain, max_groups=k)
    (error,) = (row.error for row in plan.rows if row.mechanism == name)
    assert error is not None
    return error


def main(mechanisms: Sequence[str]) -> int:
    """Measure all cases, and print a row for each."""
    print(
        "table | mechanism | ε | best k: error | k = 1: error | expected of what is counted | "
        "measured | from a sample | by a look"
    )
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(Path(folder)):
            truth = Truth.of(case)
            for name, epsilon in product(mechanisms, EPSILONS):
                measured = {k: truth.errors(name, epsilon, k) for k in truth.bounded}
                best = min(measured, key=lambda k: measured[k])
                row = [case.name, name, f"{float(epsilon)}", f"{best}: {measured[best]:.4g}"]
                row.append(f"{measured[1]:.4g}")
                row.append(f"{expected(case, name, epsilon, best):.4g}")
                row.append(f"{truth.errors(name, epsilon, best, counted=True):.4g}")
                for sampled in (True, False):
                    chosen = found_bounds(case, name, epsilon, sampled=sampled)
                    ratios = [_at(measured, k) / measured[best] for k in chosen]
                    worst = max(worst, *ratios)
                    row.append(f"{chosen}: {np.mean(ratios):.2f}, at most {max(ratios):.2f}")
                print(" | ".join(row), flush=True)
    print(f"at most {worst:.2f}; the goal is {GOAL}")
    return 0 if worst <= GOAL else 1


def _at(measured: Mapping[int, float], k: int) -> float:
    """The error at a bound, or at the nearest one that was measured."""
    return measured[min(measured, key=lambda each: abs(each - k))]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or MECHANISMS))
