"""The tour: a made-up building, a policy, a true sample, a histogram, and what they cost.

The page compares released counts with the true ones. Only a demonstration on made-up data can do
that: the truth is exactly what a release must not show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onesided.data.output import new_files
from onesided.data.private import PrivateDirectory
from onesided.data.release import Release
from onesided.data.units import Unit
from onesided.datasets.building import VISITS, Building
from onesided.datasets.floorplan import RoomKind
from onesided.datasets.policies import by_room_kind
from onesided.engine.base import CountQuery
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.errors import InputError, OutputError
from onesided.language import Key, Predicate
from onesided.loss import show
from onesided.report.page import Page
from onesided.session import Dataset, open_dataset

UNIT = ("device", "day")
BY = ("ap", "hour(ts)")
BUDGET = 3
SENSITIVE_KINDS = (RoomKind.SMOKERS_YARD, RoomKind.RESTROOM, RoomKind.CLINIC)
FROM_SAMPLE = "counted from the true sample, at no further cost"
ONE_SIDED = "one-sided histogram, ε = 1"
ORDINARY = "ordinary differential privacy, ε = 1"
MEAN_ERROR = "mean absolute error"
ROWS_SHOWN = 8
NO_CHARTS = 'The page has no charts: for these run pip install "onesided[charts]" and repeat.'

Step = Callable[[str], None]
Cells = dict[tuple[str, int], float]


@dataclass(frozen=True)
class Tour:
    """What the demonstration released, and how far each histogram is from the truth."""

    sample: Release
    counts: Release
    errors: Mapping[str, float]
    files: tuple[Path, ...]
    has_charts: bool


def run_demo(out: Path, *, scale: float = 0.02, seed: int = 7, step: Step = lambda _: None) -> Tour:
    """Simulate, publish and write `out`: sample, histogram, receipts and a page."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise OutputError(f"The folder {out} cannot be made; name another one.") from None
    building = Building.simulate(scale=scale, seed=seed)
    points = sorted(building.access_points().column("ap").to_pylist())
    policy = by_room_kind(SENSITIVE_KINDS) + " OR opted_out"
    with PrivateDirectory() as private:
        step("Simulating a building")
        building.write(private)
        visits = private / VISITS
        with open_dataset(visits, unit=UNIT, policy=policy, budget=BUDGET) as dataset:
            step("Publishing a true sample and histograms")
            sample = dataset.sample(epsilon=1)
            histograms = _histograms(dataset, points)
            facts = {
                "records": f"{dataset.units:,} device-days",
                "sensitive": f"a device-day with any row where {policy}",
                "spent in all": f"ε = {show(dataset.budget.spent)} of {BUDGET}",
            }
        step("Comparing with the truth, which only a demonstration may")
        truth = _truth(visits, policy)
    cells = [(ap, hour) for ap in points for hour in range(24)]
    errors = {
        name: sum(abs(_cells(release).get(cell, 0) - truth.get(cell, 0)) for cell in cells)
        / len(cells)
        for name, release in histograms.items()
    }
    counts = histograms[ONE_SIDED]
    charts = _charts(counts, errors)
    files = _written(out, sample, counts, _page(facts, sample, counts, errors, charts))
    return Tour(sample, counts, errors, files, has_charts=charts is not None)


def _histograms(dataset: Dataset, points: list[str]) -> dict[str, Release]:
    """The same question three times; the first answer comes from the sample and is free.

    The bounds on groups follow from the sample too: what noise adds, and what is left out.
    """
    question: dict[str, Any] = {"by": BY, "epsilon": 1, "domain": {"ap": points}}
    bounded = {**question, "max_groups": "auto"}
    return {
        FROM_SAMPLE: dataset.count(mechanism="rr", **question),
        ONE_SIDED: dataset.count(mechanism="auto", **bounded),
        ORDINARY: dataset.count(mechanism="laplace", **bounded),
    }


def _cells(release: Release) -> Cells:
    columns = release.table.to_pydict()
    keys = zip(*(columns[key] for key in BY), strict=True)
    return dict(zip(keys, columns["count"], strict=True))


def _truth(visits: Path, policy: str) -> Cells:
    """The true number of device-days by access point and hour, without a bound on groups."""
    engine = DuckDBEngine(visits, Unit(UNIT))
    try:
        keys = tuple(Key.parse(text).bind(engine.schema) for text in BY)
        counted = engine.count(CountQuery(Predicate.parse(policy).bind(engine.schema), keys))
    finally:
        engine.close()
    names = zip(*(column.to_pylist() for column in counted.keys.columns), strict=True)
    return dict(zip(names, counted.all.tolist(), strict=True))


def _charts(counts: Release, errors: Mapping[str, float]) -> tuple[str, str] | None:
    """The errors and the histogram as SVG; None where the extra `charts` is not installed."""
    try:
        from onesided.charts.findings import ComparedRow, compared_picture
    except InputError:
        return None
    compared = compared_picture(
        "Error of each access point × hour count",
        [ComparedRow(name, None, error, f"{error:.3g}") for name, error in errors.items()],
        names=("", MEAN_ERROR),
        axis=MEAN_ERROR,
    )
    return compared.svg(), counts.plot().svg()


def _page(
    facts: Mapping[str, str],
    sample: Release,
    counts: Release,
    errors: Mapping[str, float],
    charts: tuple[str, str] | None,
) -> str:
    page = Page("A building, published")
    page.paragraph(
        "A simulated building counts who is at which access point. Some records are sensitive; "
        "which ones they are is itself a secret. Everything below except the comparison with the "
        "truth could be published."
    )
    page.table(("", ""), facts.items())
    page.heading("How far the histograms are from the truth")
    page.table(("", MEAN_ERROR), errors.items())
    if charts is None:
        page.note(NO_CHARTS)
    else:
        page.figure(
            charts[0],
            "Mean absolute error per cell against the true count; shorter is better. Only a "
            "demonstration on made-up data can draw this.",
        )
    page.heading("The released histogram")
    told = (
        f"Released by the mechanism {counts.receipt['mechanism']}: {counts.receipt['noise']}. "
        f"It is a {counts.receipt.figure}, a bound that the sample has shown to err least."
    )
    if charts is None:
        page.paragraph(told)
        first = counts.table.slice(0, ROWS_SHOWN)
        page.table(first.column_names, zip(*first.to_pydict().values(), strict=True))
    else:
        page.figure(charts[1], told)
    page.heading("True records")
    shown = sample.table.slice(0, ROWS_SHOWN)
    page.paragraph(f"The first {ROWS_SHOWN} of {sample.table.num_rows:,} published rows.")
    page.table(shown.column_names, zip(*shown.to_pydict().values(), strict=True))
    page.heading("What is promised")
    for release in (sample, counts):
        page.paragraph(f"{release.kind.value}: {release.guarantee}")
    return page.html()


def _written(out: Path, sample: Release, counts: Release, page: str) -> tuple[Path, ...]:
    index = out / "index.html"
    with new_files([index], overwrite=True) as workspace:
        (workspace / index.name).write_text(page, encoding="utf-8")
    return (
        *sample.write(out / "sample.parquet", overwrite=True, receipt=True),
        *counts.write(out / "histogram.csv", overwrite=True, receipt=True),
        index,
    )
