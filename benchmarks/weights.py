"""What weights from released counts change in figures that nobody asked for.

    python benchmarks/weights.py                 (a few minutes; --runs 3 for a look)
    python benchmarks/weights.py --out weights   (also the table as weights.md)
    python benchmarks/weights.py --chart docs/weights.svg     (the picture of docs/weights.md alone)

The data are people of other programs' collections and are not in this repository. `fair` and
`randhie` are read where statsmodels is installed, `HI` and `VietNamI` where pydataset is, and the
re:publica trace where ONESIDED_DATA has it. What is missing is said and left out.

Who opts out is drawn: by the columns of the margins, by an outcome outside them, or, at
re:publica, by having been in the smokers' yard. The plain sample gets all of ε, and every unit in
it counts alike. Ours gets 0.7 of ε, and the margins the rest, as `Dataset.sample(stands_for=…)`
divides it. ε is such that the expected noise is the stated share of a mean cell.

Errors are those of one-way tables of columns that were not asked for, of all two-way tables, and of
the means of all columns with numbers, in standard deviations. Printed are geometric means of our
error over the plain one. Exits with 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import sys
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from io import BytesIO
from itertools import combinations
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

import onesided as osd
from onesided.datasets.wifi import REPUBLICA_MEMBER, republica_archive
from onesided.mechanisms.noise import two_sided_mean_size, two_sided_variance
from onesided.randomness import Randomness, seeded
from onesided.session.standing import SAMPLE_SHARE
from onesided.weights import Margin, calibrated

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
RUNS = 20
NOISES = (0.015, 0.06)
MARGINS, OUTCOME, AS_MARGIN, YARD = "margins", "outcome", "outcome as a margin", "the yard"
YARD_ROOM = "raucherhof"
GOALS = {
    (MARGINS, "two-way"): 0.40,
    (MARGINS, "means"): 0.15,
    (OUTCOME, "two-way"): 0.75,
    (AS_MARGIN, "two-way"): 0.45,
}
WORSE, MOST_WORSE = 1.1, 0.03
RAKING_GOAL, SPEED_GOAL = 0.6, 1.5
FIGURES = ("one-way", "two-way", "means")


@dataclass(frozen=True)
class People:
    """A data set: `margins` are asked for, `others` are not.

    - `numbers`: of which means are taken; the first one is the outcome.
    - `yard`: who opts out by having been somewhere; None elsewhere.
    """

    name: str
    margins: Mapping[str, Codes]
    others: Mapping[str, Codes]
    numbers: Mapping[str, Floats]
    yard: NDArray[np.bool_] | None = None

    @property
    def units(self) -> int:
        return len(next(iter(self.margins.values())))


@dataclass(frozen=True)
class Errors:
    """Mean errors of the figures of each kind."""

    by_kind: Mapping[str, float]

    @classmethod
    def of(cls, people: People, chosen: Codes, weights: Floats) -> Errors:
        """Of the figures that the units `chosen` give with these weights."""
        n = people.units
        columns = {**people.margins, **people.others}

        def table(*parts: Codes) -> float:
            code = np.zeros(n, dtype=np.int64)
            for part in parts:
                code = code * (int(part.max()) + 1) + part
            size = int(code.max()) + 1
            estimate = np.bincount(code[chosen], weights, minlength=size)
            return float(np.abs(estimate - np.bincount(code, minlength=size)).sum() / n)

        means = [
            abs(float(weights @ each[chosen]) / max(weights.sum(), 1e-9) - each.mean()) / each.std()
            for each in people.numbers.values()
        ]
        return cls(
            {
                "one-way": float(np.mean([table(each) for each in people.others.values()])),
                "two-way": float(
                    np.mean([table(*two) for two in combinations(columns.values(), 2)])
                ),
                "means": float(np.mean(means)),
            }
        )


def binned(values: Floats, most: int) -> Codes:
    """Few values as they are, many in groups of about the same size."""
    distinct = np.unique(values)
    if len(distinct) <= most:
        return np.searchsorted(distinct, values).astype(np.int64)
    cuts = np.unique(np.quantile(values, np.linspace(0, 1, most + 1)[1:-1]))
    return np.unique(np.searchsorted(cuts, values, side="right"), return_inverse=True)[1]


def made(
    name: str, table: pa.Table, margins: Sequence[str], others: Sequence[str], out: Sequence[str]
) -> People:
    """People of a table, without rows that lack a value."""
    whole = table.select([*dict.fromkeys([*margins, *others, *out])]).drop_null()

    def codes(column: str) -> Codes:
        values = whole[column]
        if pa.types.is_string(values.type):
            return values.combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
        return binned(values.to_numpy().astype(np.float64), 8)

    return People(
        name,
        {each: codes(each) for each in margins},
        {each: codes(each) for each in others},
        {
            each: whole[each].to_numpy().astype(np.float64)
            for each in (*out, *margins, *others)
            if not pa.types.is_string(whole[each].type)
        },
    )


def folder_of(package: str) -> Path | None:
    """Where a package is installed, without importing it."""
    spec = find_spec(package)
    places = None if spec is None else spec.submodule_search_locations
    return Path(next(iter(places))) if places else None


def from_statsmodels() -> Iterator[People]:
    """`fair` and `randhie`."""
    folder = folder_of("statsmodels")
    if folder is None:
        print("statsmodels is not installed: fair and randhie are left out")
        return
    fair = pa.csv.read_csv(folder / "datasets" / "fair" / "fair.csv")
    yield made(
        "fair",
        fair,
        ("age", "rate_marriage", "religious", "educ", "children"),
        ("occupation", "occupation_husb"),
        ("yrs_married", "affairs"),
    )
    visits = pa.csv.read_csv(folder / "datasets" / "randhie" / "src" / "randhie.csv")
    yield made(
        "randhie",
        visits,
        ("site", "plan", "female", "num", "educdec"),
        ("year", "black", "child", "hlthg"),
        ("mdvis", "linc", "xage"),
    )


def from_pydataset() -> Iterator[People]:
    """`HI` and `VietNamI`."""
    folder = folder_of("pydataset")
    if folder is None:
        print("pydataset is not installed: HI and VietNamI are left out")
        return
    with tarfile.open(folder / "resources.tar.gz") as archive:

        def read(name: str) -> pa.Table:
            found = archive.extractfile(f"resources/rdata/csv/Ecdat/{name}.csv")
            assert found is not None
            return pa.csv.read_csv(BytesIO(found.read()))

        yield made(
            "HI",
            read("HI"),
            ("education", "race", "region", "kids618", "experience"),
            ("hhi", "whi", "kidslt6"),
            ("whrswk", "husby"),
        )
        yield made(
            "VietNamI",
            read("VietNamI"),
            ("age", "sex", "married", "educ", "insurance"),
            ("illness", "injury", "pharvis"),
            ("lnhhexp", "illdays", "actdays"),
        )


def from_republica() -> Iterator[People]:
    """Days of devices at re:publica."""
    archive = republica_archive()
    if archive is None:
        print("ONESIDED_DATA has no re:publica trace: it is left out")
        return
    with ZipFile(archive) as packed:
        rows = pa.csv.read_csv(BytesIO(packed.read(REPUBLICA_MEMBER)))
    moment = rows["Zeit"].cast(pa.timestamp("ms", "UTC"))
    day, hour = pc.day(moment).to_numpy(), pc.hour(moment).to_numpy()
    unit = rows["fortlaufende Gerätenummer"].to_numpy() * 32 + day
    _, first, of_row = np.unique(unit, return_index=True, return_inverse=True)
    room = rows["Raum"].combine_chunks().dictionary_encode()
    place, names = room.indices.to_numpy(), room.dictionary.to_pylist()
    been = np.zeros((len(first), len(names)), dtype=np.bool_)
    been[of_row, place] = True
    seen = np.bincount(of_row).astype(np.float64)
    earliest, latest = np.full(len(first), 24), np.zeros(len(first), dtype=np.int64)
    np.minimum.at(earliest, of_row, hour)
    np.maximum.at(latest, of_row, hour)
    stages = sorted(range(len(names)), key=lambda each: -been[:, each].sum())
    yard = names.index(YARD_ROOM)
    busy = [each for each in stages if each != yard][:6]
    yield People(
        "re:publica",
        {
            "day": binned(day[first].astype(np.float64), 8),
            "earliest": binned(earliest.astype(np.float64), 8),
            "latest": binned(latest.astype(np.float64), 8),
            "rooms": binned(been.sum(axis=1).astype(np.float64), 8),
            names[busy[0]]: been[:, busy[0]].astype(np.int64),
        },
        {names[each]: been[:, each].astype(np.int64) for each in busy[1:]},
        {"seen": np.log1p(seen), "hours": (latest - earliest).astype(np.float64)},
        been[:, yard],
    )


def opted_out(people: People, model: str, rng: Randomness) -> NDArray[np.bool_]:
    """Who is sensitive: about half of the people, or those who were in the yard."""
    if model == YARD:
        assert people.yard is not None
        return people.yard
    dice = rng.generator()
    if model == MARGINS:
        columns = [(each - each.mean()) / each.std() for each in people.margins.values()]
        effects = dice.normal(0, 1, len(columns))
        score = sum(own * each for own, each in zip(effects, columns, strict=True))
        score = 1.5 * score / score.std()
    else:
        outcome = next(iter(people.numbers.values()))
        score = 1.5 * (outcome - outcome.mean()) / outcome.std()
    chance = 1 / (1 + np.exp(-(score - np.median(score))))
    return np.asarray(dice.random(people.units) < chance)


def asked(people: People, model: str) -> list[Codes]:
    """The columns of the margins."""
    found = list(people.margins.values())
    if model == AS_MARGIN:
        found.append(binned(next(iter(people.numbers.values())), 8))
    return found


def epsilon_for(people: People, columns: Sequence[Codes], noise: float) -> Fraction:
    """The ε at which the noise is this share of a mean cell."""
    cells = float(np.mean([int(each.max()) + 1 for each in columns]))
    share = float(1 - SAMPLE_SHARE)
    return Fraction(2 * len(columns) * cells / (share * people.units * noise)).limit_denominator(
        1000
    )


def kept(open_units: Codes, epsilon: Fraction, rng: Randomness) -> Codes:
    """A sample of the units that are not sensitive."""
    return open_units[rng.generator().random(len(open_units)) < -np.expm1(-float(epsilon))]


def margins_of(
    columns: Sequence[Codes], chosen: Codes, epsilon: Fraction, rng: Randomness
) -> list[Margin]:
    """Counts of all units, each at its share of `epsilon`, with the groups of the sample."""
    rate = epsilon / (2 * len(columns))
    found = []
    for each, own in zip(columns, rng.spawn(len(columns)), strict=True):
        truth = np.bincount(each)
        noisy = (truth + own.two_sided_geometric(rate, len(truth))).astype(np.float64)
        found.append(Margin.of_one_cell(noisy, two_sided_variance(rate), each[chosen]))
    return found


def compared(people: People, model: str, noise: float, run: int) -> tuple[Errors, Errors]:
    """The errors of the plain sample and of ours."""
    choosing, first, second, counting = seeded(run).spawn(4)
    columns = asked(people, model)
    epsilon = epsilon_for(people, columns, noise)
    open_units = np.flatnonzero(~opted_out(people, model, choosing))
    plain = kept(open_units, epsilon, first)
    flat = np.full(len(plain), people.units / max(len(plain), 1))
    drawn = kept(open_units, epsilon * SAMPLE_SHARE, second)
    margins = margins_of(columns, drawn, epsilon - epsilon * SAMPLE_SHARE, counting)
    weights = calibrated(margins, len(drawn), float(people.units)).weights
    return Errors.of(people, plain, flat), Errors.of(people, drawn, weights)


def raked(margins: Sequence[Margin], units: int, total: float) -> Floats:
    """Weights that meet one margin after the other, as if counts were exact."""
    weights = np.full(units, total / units)
    for _ in range(30):
        for each in margins:
            cell = each.pattern - 1
            aim = np.maximum(each.counted, 0.5)
            sums = np.bincount(cell, weights, minlength=len(aim))
            weights = weights * (aim / np.maximum(sums, 1e-9))[cell]
    return weights


def beside_raking(people: People, run: int) -> float:
    """Our error of two-way tables over that of raking: ten margins at ε = 0.1."""
    choosing, drawing, counting = seeded(run).spawn(3)
    columns = [*people.margins.values(), *people.others.values()]
    listed = {*people.margins, *people.others}
    columns += [binned(each, 8) for name, each in people.numbers.items() if name not in listed]
    epsilon = Fraction(1, 10)
    open_units = np.flatnonzero(~opted_out(people, MARGINS, choosing))
    drawn = kept(open_units, epsilon * SAMPLE_SHARE, drawing)
    margins = margins_of(columns[:10], drawn, epsilon - epsilon * SAMPLE_SHARE, counting)
    ours = calibrated(margins, len(drawn), float(people.units)).weights
    theirs = raked(margins, len(drawn), float(people.units))
    first, second = (Errors.of(people, drawn, each).by_kind["two-way"] for each in (ours, theirs))
    return first / second


def better_from(people: People, noise: float, run: int) -> float:
    """From how many one-way tables on the sample is better than noisy counts of each at its share.

    Noise of a count at ε/F has the mean size 2F/ε, so that F is where both errors are equal.
    """
    _, ours = compared(people, MARGINS, noise, run)
    epsilon = epsilon_for(people, asked(people, MARGINS), noise)
    cells = float(np.mean([int(each.max()) + 1 for each in people.others.values()]))
    return ours.by_kind["one-way"] * people.units / (cells * two_sided_mean_size(epsilon / 2))


def speed() -> float:
    """Seconds of CPU for a million units and five margins."""
    dice = seeded(1).generator()
    columns = [dice.integers(0, size, 1_000_000) for size in (2, 8, 12, 20, 50)]
    columns = [np.append(each, np.zeros(200_000, dtype=np.int64)) for each in columns]
    margins = margins_of(columns, np.arange(1_000_000), Fraction(1, 10), seeded(2))
    start = time.process_time()
    calibrated(margins, 1_000_000, 1_200_000.0)
    return time.process_time() - start


def geometric(values: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(np.maximum(values, 1e-9)))))


def measured(everybody: Sequence[People], runs: int) -> tuple[list[str], bool]:
    """The lines of the report, and whether every goal is met."""
    lines = [f"Data sets: {', '.join(f'{each.name} ({each.units:,})' for each in everybody)}.", ""]
    lines += [
        "| noise of a mean cell | opting out depends on | data sets | one-way tables not asked |"
    ]
    lines[-1] += " two-way | means | more than 10 % worse |"
    lines.append("|---|---|---|---|---|---|---|")
    met = True
    for noise in NOISES:
        for model in (MARGINS, OUTCOME, AS_MARGIN, YARD):
            chosen = [each for each in everybody if model != YARD or each.yard is not None]
            if not chosen:
                continue
            ratios: dict[str, list[float]] = {kind: [] for kind in FIGURES}
            for people in chosen:
                for run in range(runs):
                    plain, ours = compared(people, model, noise, run)
                    for kind in FIGURES:
                        ratios[kind].append(ours.by_kind[kind] / max(plain.by_kind[kind], 1e-9))
            means = {kind: geometric(found) for kind, found in ratios.items()}
            worse = float(np.mean(np.array(ratios["two-way"]) > WORSE))
            cells = " | ".join(f"{means[kind]:.2f}" for kind in FIGURES)
            lines.append(f"| {noise:.1%} | {model} | {len(chosen)} | {cells} | {worse:.0%} |")
            print(lines[-1], flush=True)
            if noise == NOISES[0]:
                met &= worse <= MOST_WORSE
                met &= all(
                    means[kind] <= goal for (where, kind), goal in GOALS.items() if where == model
                )
    raking = geometric([beside_raking(each, run) for each in everybody for run in range(runs)])
    tables = [better_from(each, NOISES[0], run) for each in everybody for run in range(runs)]
    seconds = speed()
    met &= raking <= RAKING_GOAL and seconds <= SPEED_GOAL
    lines += [
        "",
        f"Ten margins at ε = 0.1: {raking:.2f} of raking's error of two-way tables.",
        f"Better than noisy counts from {np.quantile(tables, 0.1):.0f} to "
        f"{np.quantile(tables, 0.9):.0f} one-way tables on (median {np.median(tables):.0f}).",
        f"One million units and five margins: {seconds:.2f} s of CPU.",
    ]
    return lines, bool(met)


def chart(target: Path) -> None:
    """What weights change, for made people of whom the old and those in the south opt out more."""
    dice = seeded(1).generator()
    age, place = dice.integers(18, 90, 20_000), dice.integers(0, 4, 20_000)
    regions = ["east", "north", "south", "west"]
    leaving = dice.random(20_000) < 0.1 + 0.5 * (age > 59) + 0.35 * (place == 2)
    people = pa.table({"age": age, "region": np.array(regions)[place], "opted_out": leaving})
    domain = {"bucket(age, 10)": list(range(10, 90, 10)), "region": regions}
    with osd.open(people, unit="rows", policy="opted_out", budget=1, rng=seeded(2)) as dataset:
        sample = dataset.sample(1, stands_for=[*domain], domain=domain)
        sample.plot().write(target)


SOURCES: tuple[Callable[[], Iterator[People]], ...] = (
    from_statsmodels,
    from_pydataset,
    from_republica,
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--chart", type=Path)
    given = parser.parse_args()
    if given.chart is not None:
        chart(given.chart)
        return 0
    everybody = [people for source in SOURCES for people in source()]
    if not everybody:
        print("No data set is at hand; nothing was measured.")
        return 0
    lines, met = measured(everybody, given.runs)
    print("\n".join(lines))
    if given.out is not None:
        given.out.mkdir(parents=True, exist_ok=True)
        (given.out / "weights.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("Every goal is met." if met else "A goal is missed.")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
