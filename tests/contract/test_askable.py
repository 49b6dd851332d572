"""What an analyst may do with a data set: the same in the process and elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.data.askable import Askable
from onesided.data.cells import HistogramRelease, QuantileRelease
from onesided.data.described import DescriptionRelease
from onesided.data.release import QueryRelease, SampleRelease, TableRelease
from onesided.data.weighing.weighted import WeightedSample
from onesided.errors import (
    BudgetError,
    InputError,
    MechanismRefused,
    PolicyError,
    RequestError,
)
from onesided.language import Type
from support.serving import serving
from support.visits import POLICY, ROOMS, UNIT, visits

DOMAIN = {"room": [*ROOMS]}
DAY = date(2024, 1, 1)
SHORT: dict[str, Any] = {"max_groups": 4, "mechanism": "one-sided"}
UNITS = "COUNT(DISTINCT device, day)"


DESCRIBED = f"""
[server]
port = 0
deadlines = "off"

[server.limits]
requests_per_minute = 100000

[datasets.visits]
source = "visits.parquet"
unit = ["device", "day"]
policy = "{POLICY}"
budget = 1000
ledger = "visits.ledger"
partition_by = ["day"]

[datasets.visits.public]
rooms = "rooms.csv"
"""


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return visits(devices=20)


@pytest.fixture(scope="module", params=["in the process", "at a server"])
def dataset(
    request: pytest.FixtureRequest, table: pa.Table, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Askable]:
    """A data set with a budget that no test exhausts."""
    folder = tmp_path_factory.mktemp("described")
    pq.write_table(table, folder / "visits.parquet")
    rooms = {"room": list(ROOMS), "floor": [0, 1, 0, 2, 2]}
    pa.csv.write_csv(pa.table(rooms), folder / "rooms.csv")
    file = folder / "onesided.toml"
    file.write_text(DESCRIBED)
    if request.param == "in the process":
        with osd.load("visits", file) as found:
            yield found
        return
    with serving(file) as server:
        remote = osd.connect(f"{server.address}/visits", token=server.token("ann"))
        with remote:
            yield remote


def test_its_public_facts(dataset: Askable, table: pa.Table) -> None:
    assert dataset.name == "visits"
    assert dataset.units == len(table.group_by(list(UNIT)).aggregate([]))
    assert dataset.unit.columns == UNIT
    assert dataset.columns == tuple(table.column_names)
    assert dataset.types["ts"] is Type.TIMESTAMP
    assert dataset.public == {"rooms": {"room": Type.TEXT, "floor": Type.INTEGER}}
    assert POLICY.split(" OR ")[0] in dataset.policy.sql
    assert "visits" in repr(dataset)


def test_a_count(dataset: Askable) -> None:
    release = dataset.count(
        ["room", "hour(ts)"],
        "hour(ts) < 12",
        epsilon="1/2",
        mechanism="one-sided",
        max_groups=3,
        domain={"hour(ts)": [8, 9, 10]},
    )
    assert isinstance(release, TableRelease)
    assert release.table.column_names[:3] == ["room", "hour(ts)", "count"]
    assert release.receipt["request"]["by"] == ["room", "hour(ts)"]
    assert release.loss.epsilon == Fraction(1, 2)
    assert set(release.table.column("hour(ts)").to_pylist()) <= {8, 9, 10}


def test_a_repeat_is_free_and_the_same(dataset: Askable) -> None:
    question: dict[str, Any] = {"by": "room", "epsilon": "0.3", **SHORT}
    first = dataset.count(**question)
    spent = dataset.budget.spent
    assert dataset.count(**question).table == first.table
    assert dataset.budget.spent == spent
    dataset.count(**question, fresh=True)
    assert dataset.budget.spent == spent + Fraction(3, 10)


def test_what_was_released_is_listed(dataset: Askable) -> None:
    question: dict[str, Any] = {"by": "room", "epsilon": "0.7", **SHORT}
    release = dataset.count(**question, purpose="a test")
    (number,) = release.receipt["account"]["charges"]
    entry = next(each for each in dataset.releases if each.number == number)
    assert (entry.kind, entry.purpose, entry.snapshot) == ("count", "a test", 1)
    assert entry.loss == release.loss
    assert entry.question == release.receipt["request"]
    again = dataset.released(number)
    assert again.table == release.table
    assert again.receipt == release.receipt
    with pytest.raises(RequestError):
        dataset.released(10**9)


def test_a_sample(dataset: Askable, tmp_path: Path) -> None:
    dataset.check_writable(["device", "day"], tmp_path / "rows.csv")
    release = dataset.sample("0.5", "room <> 'hall'", ["device", "day", "room"])
    assert isinstance(release, SampleRelease)
    assert release.table.column_names == ["device", "day", "room"]
    assert {"clinic", "hall"}.isdisjoint(release.table.column("room").to_pylist())
    assert release.held.units is not None
    (path,) = release.write(tmp_path / "rows.csv")
    assert path.exists()
    (number,) = release.receipt["account"]["charges"]
    assert dataset.released(number).table == release.table


def test_a_sample_that_stands_for_everybody(dataset: Askable) -> None:
    asked: dict[str, Any] = {"stands_for": ["room"], "domain": DOMAIN, "noisy": True}
    columns = ["device", "day", "room"]
    plan = dataset.plan.sample("0.9", columns=columns, **asked)
    assert "laplace" in plan.stands_for[0]
    release = dataset.sample("0.9", columns=columns, **asked)
    assert isinstance(release, WeightedSample)
    assert release.table.column_names == [*columns, "weight"]
    assert release.margins["room"].num_rows == len(ROOMS)
    assert release.receipt["request"]["stands_for"] == ["room"]
    again = dataset.sample("0.9", columns=columns, **asked)
    assert (again.table, again.receipt) == (release.table, release.receipt)
    sample, count = map(dataset.released, release.receipt["account"]["charges"])
    assert isinstance(sample, SampleRelease)
    assert sample.weighted([count], noisy=True).table.column_names == release.table.column_names


def test_several_questions_at_once(dataset: Askable) -> None:
    select = f"SELECT room, {UNITS} AS n FROM data GROUP BY room"
    asked: list[dict[str, Any]] = [
        {"ask": "count", "name": "rooms", "by": "room", "epsilon": "0.31", **SHORT},
        {"ask": "sql", "query": select, "max_groups": 4},
        {"ask": "sample", "columns": ["device", "day"], "epsilon": Fraction(1, 3)},
    ]
    before = dataset.budget.spent
    answers = dataset.run(asked, epsilon="0.21", purpose="several")
    assert list(answers) == ["rooms", "sql-2", "sample-3"]
    assert [type(each) for each in answers.values()] == [TableRelease, QueryRelease, SampleRelease]
    assert dataset.budget.spent > before
    assert answers["rooms"].receipt["purpose"] == "several"
    spent = dataset.budget.spent
    again = dataset.run(asked, epsilon="0.21")
    assert [each.table for each in again.values()] == [each.table for each in answers.values()]
    assert dataset.budget.spent == spent
    for wrong in ({"ask": "cuont"}, {"ask": "count", "fresh": True}, {"ask": "count", "bye": 1}):
        with pytest.raises(RequestError):
            dataset.run([wrong], epsilon=1)


def test_sums_and_means(dataset: Askable) -> None:
    amount: dict[str, Any] = {"bound": 50, "max_groups": 2, "domain": DOMAIN}
    total = dataset.sum("device", "room", epsilon="0.5", nonnegative=True, grid=1, **amount)
    assert total.table.column_names[:2] == ["room", "sum"]
    mean = dataset.mean("device", "room", epsilon="0.5", max_rows=3, **amount)
    assert mean.table.column_names[:2] == ["room", "mean"]


def test_quantiles_and_histograms(dataset: Askable) -> None:
    found = dataset.quantile("device", 0.5, bounds=(0, 60), cells=10, epsilon=1, max_groups=1)
    assert isinstance(found, QuantileRelease)
    assert len(found.table) == 1
    assert len(found.at([0.1, 0.9])) == 2
    spent = dataset.budget.spent
    other = dataset.quantile(
        "device", [0.25, 0.75], bounds=(0, 60), cells=10, epsilon=1, max_groups=1
    )
    assert other.table.column("quantile").to_pylist() == [0.25, 0.75]
    assert dataset.budget.spent == spent, "all quantiles come from one release"
    cells = dataset.histogram("device", [0, 20, 40, 60], epsilon=1, max_groups=1)
    assert isinstance(cells, HistogramRelease)
    assert len(cells.table) == 3


def test_descriptions_and_cells_that_are_found(dataset: Askable) -> None:
    found = dataset.describe(["device", "room"], epsilon=2)
    assert isinstance(found, DescriptionRelease)
    assert [row["type"] for row in found] == ["integer", "text"]
    assert len(found.quantiles("device", [0.1, 0.9])) == 2
    spent = dataset.budget.spent
    assert dataset.describe(["device", "room"], epsilon=2).table == found.table
    assert dataset.budget.spent == spent
    assert len(dataset.quantile("device", 0.5, epsilon=1, max_groups=1).table) == 1
    assert len(dataset.histogram("device", epsilon=1, max_groups=1).table) >= 1


def test_numbers_of_values(dataset: Askable) -> None:
    found = dataset.distinct("room", "day", epsilon="0.5", max_values=2)
    assert found.receipt["kind"] == "distinct"
    assert dataset.plan.distinct("room", "day", epsilon="0.5", max_values=2).rows
    query = "SELECT COUNT(DISTINCT room) FROM data"
    assert len(dataset.sql(query, epsilon="0.5", max_values=2).table) == 1


def test_ngrams_and_touches(dataset: Askable) -> None:
    grams = dataset.ngrams(2, by="room", order="ts", epsilon=1, **SHORT)
    assert "count" in grams.table.column_names
    assert dataset.touches("room", epsilon="0.2").table.column_names[0] == "groups"


def test_a_select(dataset: Askable) -> None:
    release = dataset.sql(
        f"SELECT floor, {UNITS} AS n, SUM(device) AS s FROM visits JOIN rooms USING (room) "
        "WHERE room <> ? AND day >= ? GROUP BY floor ORDER BY n DESC",
        ["lab", DAY],
        epsilon=1,
        mechanism="one-sided",
        max_groups=2,
        bounds={"device": 60},
    )
    assert isinstance(release, QueryRelease)
    assert release.table.column_names == ["floor", "n", "s"]
    assert len(release.figures) == 2
    for figure in release.figures.values():
        assert "nonsensitive_at_least" in figure.table.column_names
    assert [figure.name for figure in release.shown().figures] == ["n", "s"]
    assert len(release.receipt["account"]["charges"]) == 2


def test_plans_cost_nothing_and_say_the_price(dataset: Askable) -> None:
    before = dataset.budget.spent
    counted = dataset.plan("room", epsilon="0.9", max_groups=3, domain=DOMAIN)
    assert counted.budget == dataset.budget.budget
    assert {row.mechanism for row in counted.rows} >= {"one-sided", "laplace", "auto", "rr"}
    asked: dict[str, Any] = {"epsilon": "0.9", "max_groups": 2}
    assert dataset.plan.sum("device", "room", bound=60, **asked).cost == Fraction(9, 10)
    aimed = dataset.plan.sum("device", bound=60, error=20, max_groups=2)
    assert aimed.rows[0].within(20)
    assert dataset.plan.mean("device", "room", bound=60, **asked).together is not None
    assert dataset.plan.quantile("device", bounds=(0, 60), cells=10, **asked).rows
    assert dataset.plan.ngrams(2, by="room", order="ts", **asked).rows
    selected = dataset.plan.sql(f"SELECT room, {UNITS} FROM data GROUP BY room", **asked)
    assert str(selected).startswith("figure")
    both = f"SELECT {UNITS} FROM data -- error: 20\n; SELECT room, {UNITS} FROM data GROUP BY room"
    allocation = dataset.plan.questions(both, budget=3, max_groups=2)
    assert allocation.ok
    assert allocation.cost <= allocation.budget == 3
    sampled = dataset.plan.sample(2, columns=["room"])
    assert (sampled.columns, sampled.fits) == (("room",), True)
    assert dataset.budget.spent == before


def test_parts_and_stricter_policies(dataset: Askable) -> None:
    stricter = f"({POLICY}) OR room = 'lab'"
    release = dataset.count("room", epsilon="0.4", **SHORT, part={"day": DAY}, policy=stricter)
    assert release.receipt["request"]["part"] == ["day", "DATE '2024-01-01'"]
    assert "lab" in release.receipt["policy"]["sql"]
    assert dataset.count("room", epsilon="0.4", **SHORT, policy=osd.Policy(stricter))


@pytest.mark.parametrize(
    ("question", "kind", "word"),
    [
        ({"by": "rom", "epsilon": 1}, InputError, "room"),
        ({"by": "room", "epsilon": 1}, RequestError, "max_groups"),
        ({"by": "room", "epsilon": 11, "max_groups": 1}, InputError, "yes=True"),
        ({"by": "room", "epsilon": 0, "max_groups": 1}, InputError, "greater than 0"),
        ({"by": "room", "epsilon": 1, "where": "room ="}, PolicyError, "valid SQL"),
        ({"by": "room", "epsilon": 1, "max_groups": 1, "mechanism": "lap"}, InputError, "laplace"),
        (
            {"by": "room", "epsilon": 1, "mechanism": "laplace", "max_groups": 1},
            InputError,
            "domain",
        ),
        ({"by": "room", "epsilon": 1, "mechanism": "suppress"}, MechanismRefused, "not released"),
        ({"by": "room", "epsilon": 1, "max_group": 1}, RequestError, "max_groups"),
    ],
)
def test_refusals_are_the_same_sentences(
    dataset: Askable, question: dict[str, Any], kind: type[Exception], word: str
) -> None:
    before = dataset.budget.spent
    with pytest.raises(kind, match=word):
        dataset.count(**question)
    assert dataset.budget.spent == before


def test_what_is_over_budget_costs_nothing(dataset: Askable) -> None:
    before = dataset.budget.spent
    with pytest.raises(BudgetError, match="nothing was spent"):
        dataset.count("room", epsilon=2000, max_groups=1, mechanism="one-sided", yes=True)
    assert dataset.budget.spent == before
    assert dataset.budget.left == dataset.budget.budget - before


def test_counts_that_were_released_stand_beside_samples(dataset: Askable) -> None:
    release = dataset.count("room", epsilon="0.6", **SHORT)
    assert any(each.table == release.table for each in dataset.counted(["room"]))
