"""Columns that never leave: what they may decide, and everything that they may not be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.errors import RequestError
from support.people import people
from support.visits import visits

EXACT = 100_000  # an ε at which the noise is 0
POLICY = "name = 'name 3' OR room = 'clinic'"


def named(devices: int = 60) -> pa.Table:
    table = visits(devices=devices)
    names = [f"name {device}" for device in table["device"].to_pylist()]
    return table.append_column("name", pa.array(names)).append_column("size", table["device"])


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return named()


def opened(table: Any, **options: Any) -> osd.Dataset:
    arguments: dict[str, Any] = {
        "unit": "name,day",
        "policy": POLICY,
        "budget": 100 * EXACT,
        "name": "visits",
        "withhold": ["name", "size"],
    }
    return osd.open(table, **{**arguments, **options})


def test_a_sample_of_all_columns_leaves_them_out(table: pa.Table) -> None:
    with opened(table) as dataset:
        assert dataset.sample(1).to_arrow().column_names == table.column_names[:-2]


def test_they_decide_the_policy_and_the_filter_of_counts_and_sums(table: pa.Table) -> None:
    rows = [row for row in table.to_pylist() if row["name"] == "name 5"]
    hidden = {row["day"] for row in rows if row["room"] == "clinic"}
    kept = [row for row in rows if row["day"] not in hidden]
    with opened(table, policy="room = 'clinic' OR name = 'name 3'") as dataset:
        exact: dict[str, Any] = {"epsilon": EXACT, "yes": True}
        only = dataset.count(where="name = 'name 5'", mechanism="one-sided", **exact).to_arrow()
        none = dataset.count(where="name = 'name 3'", mechanism="one-sided", **exact).to_arrow()
        added = dataset.sum("device", where="name = 'name 5'", bound=1000, **exact).to_arrow()
    assert only["count"].to_pylist() == [len({row["day"] for row in kept})]
    assert none["count"].to_pylist() == [0]
    assert added["sum"].to_pylist() == [5 * len(kept)]


@pytest.mark.parametrize(
    "question",
    [
        lambda ds: ds.sample(1, columns=["room", "name"]),
        lambda ds: ds.sample(1, "name LIKE 'name 1%'"),
        lambda ds: ds.sample(1, policy=f"{POLICY} OR name = 'name 4'"),
        lambda ds: ds.count("name", epsilon=1),
        lambda ds: ds.count("bucket(size, 10)", epsilon=1, max_groups=1),
        lambda ds: ds.count(where="lower(name) LIKE 'a%'", epsilon=1, mechanism="rr"),
        lambda ds: ds.touches("room", "size > 3", epsilon=1, sampled=True),
        lambda ds: ds.touches("name", epsilon=1),
        lambda ds: ds.sum("size", bound=9, epsilon=1),
        lambda ds: ds.mean("size", bound=9, epsilon=1),
        lambda ds: ds.ngrams(2, by="name", order="ts", epsilon=1, max_groups=1),
        lambda ds: ds.ngrams(2, by="room", order="size", epsilon=1, max_groups=1),
        lambda ds: ds.sql("SELECT name, COUNT(*) FROM visits GROUP BY name", epsilon=1, max_rows=2),
        lambda ds: ds.sql("SELECT SUM(size) FROM visits", epsilon=1, bounds={"size": 9}),
        lambda ds: ds.sql(
            "SELECT AVG(size) FROM visits", epsilon=1, bounds={"size": 9}, max_rows=2
        ),
        lambda ds: ds.sql(
            "SELECT floor, COUNT(DISTINCT name, day) FROM visits JOIN who ON who.id = visits.size "
            "GROUP BY floor",
            epsilon=1,
        ),
        lambda ds: ds.run([{"ask": "count", "by": "name", "epsilon": 1}]),
        lambda ds: ds.plan("name", epsilon=1),
        lambda ds: ds.plan.sample(epsilon=1, columns=["name"]),
    ],
)
def test_every_other_use_is_refused_before_anything_is_paid(table: pa.Table, question: Any) -> None:
    with opened(table, public={"who": people(60)}) as dataset:
        with pytest.raises(RequestError, match=r"The column (name|size) never leaves"):
            question(dataset)
        assert not dataset.account_opened


def test_a_partition_column_cannot_be_withheld(table: pa.Table) -> None:
    with pytest.raises(RequestError, match="name never leaves"):
        opened(table, partition_by="name")


def test_what_has_the_same_values_is_withheld_too(table: pa.Table) -> None:
    lookups = {"people": {"source": people(60), "on": "device=id"}}
    for withhold in ("device", "people.id"):
        with opened(table, unit="device", lookups=lookups, withhold=withhold) as dataset:
            for column in ("device", "people.id"):
                with pytest.raises(RequestError, match=f"{column} never leaves"):
                    dataset.sample(1, columns=[column])
            assert (
                "people.team" in dataset.sample(1, columns=["people.team"]).to_arrow().schema.names
            )


class TestAccount:
    """Once withheld is withheld for good."""

    @pytest.fixture
    def files(self, tmp_path: Path, table: pa.Table) -> dict[str, Any]:
        pq.write_table(table, tmp_path / "visits.parquet")
        return {"table": tmp_path / "visits.parquet", "ledger": tmp_path / "visits.ledger"}

    def test_what_the_account_keeps_stays_withheld(self, files: dict[str, Any]) -> None:
        with opened(**files) as dataset:
            dataset.count(epsilon=1)
        with opened(**files, withhold=()) as dataset:
            assert "name" not in dataset.sample(1).to_arrow().schema.names
            with pytest.raises(RequestError, match="name never leaves"):
                dataset.count("name", epsilon=1)

    def test_more_can_be_withheld_at_an_opening(self, files: dict[str, Any]) -> None:
        with opened(**files, withhold=()) as dataset:
            assert "name" in dataset.sample(1).to_arrow().schema.names
        with opened(**files, withhold="name") as dataset:
            assert "name" not in dataset.sample(1).to_arrow().schema.names
