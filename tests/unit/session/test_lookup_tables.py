"""Secret tables beside the data: found by a key, bounded by a public rule, kept in the account."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.errors import InputError, LedgerError, PolicyError, RequestError, SourceError
from support.people import OPTED, is_sensitive, joined, people
from support.visits import DAYS, visits

EXACT = 100_000  # an ε at which the noise is 0
ON = {"on": "device=id"}
DOMAIN = {"day": [date(2024, 1, 1) + timedelta(days=day) for day in range(DAYS)]}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return visits(devices=100)


@pytest.fixture(scope="module")
def beside() -> pa.Table:
    return people(100)


def opened(table: Any, beside: Any, **options: Any) -> osd.Dataset:
    arguments: dict[str, Any] = {
        "unit": "device",
        "policy": OPTED,
        "budget": 100 * EXACT,
        "name": "visits",
        "lookups": {"people": {"source": beside, **ON}},
    }
    return osd.open(table, **{**arguments, **options})


def by_key(answer: pa.Table, key: str, figure: str) -> dict[Any, Any]:
    return dict(zip(*answer.select([key, figure]).to_pydict().values(), strict=True))


def open_devices(table: pa.Table, beside: pa.Table) -> set[int]:
    """The devices none of whose rows is sensitive."""
    whole = joined(table, beside)
    return {row["device"] for row in whole} - {r["device"] for r in whole if is_sensitive(r)}


def test_a_looked_up_column_decides_who_is_in_a_sample(table: pa.Table, beside: pa.Table) -> None:
    with opened(table, beside) as dataset:
        sample = dataset.sample(EXACT, yes=True).to_arrow()
    assert sample.column_names == table.column_names
    assert set(sample["device"].to_pylist()) == open_devices(table, beside)


def test_its_columns_are_in_a_sample_where_they_are_named(
    table: pa.Table, beside: pa.Table
) -> None:
    with opened(table, beside) as dataset:
        sample = dataset.sample(EXACT, columns=["device", "people.team"], yes=True).to_arrow()
    expected = {
        (row["device"], row["people.team"])
        for row in joined(table, beside)
        if row["device"] in open_devices(table, beside)
    }
    assert set(zip(*sample.to_pydict().values(), strict=True)) == expected


def test_its_columns_are_counted_by_summed_and_filtered(table: pa.Table, beside: pa.Table) -> None:
    kept = open_devices(table, beside)
    found = {r["device"]: r for r in joined(table, beside) if r["device"] in kept}
    with opened(table, beside) as dataset:
        counted = dataset.count(
            "people.team", "people.floor < 2", epsilon=EXACT, mechanism="one-sided", yes=True
        ).to_arrow()
        summed = dataset.sum("people.floor", bound=9000, epsilon=EXACT, yes=True).to_arrow()
        listed = dataset.sql(
            "SELECT people.team AS team, COUNT(DISTINCT device) AS n FROM visits "
            "WHERE people.floor < 2 GROUP BY people.team",
            epsilon=EXACT,
            mechanism="one-sided",
            yes=True,
        ).to_arrow()
    teams = Counter(r["people.team"] for r in found.values() if r["people.floor"] < 2)
    assert by_key(counted, "people.team", "count") == teams
    assert by_key(listed, "team", "n") == teams
    rows = [r for r in joined(table, beside) if r["device"] in kept]
    assert summed["sum"].to_pylist() == [sum(r["people.floor"] for r in rows)]


def test_the_columns_that_both_have_are_the_key(table: pa.Table, beside: pa.Table) -> None:
    renamed = beside.rename_columns(["device", *beside.column_names[1:]])
    with opened(table, beside, lookups={"people": renamed}) as dataset:
        assert dataset.count(epsilon=1).receipt["lookups"] == {
            "people": {
                "on": [["device", "device"]],
                "units_of_a_row": 1,
                "epsilon_of_a_row": "1",
            }
        }
    with pytest.raises(SourceError, match="no column in common"):
        opened(table, beside, lookups={"people": beside})


def test_a_key_that_names_two_rows_is_refused(table: pa.Table, beside: pa.Table) -> None:
    twice = pa.concat_tables([beside, beside.slice(4, 2)])
    with pytest.raises(SourceError, match="2 values of id stand in several rows"):
        opened(table, twice)


def test_rows_without_a_key_are_never_found(table: pa.Table, beside: pa.Table) -> None:
    unknown = pa.table({name: pa.nulls(2, kind.type) for name, kind in _fields(beside)})
    with opened(table, pa.concat_tables([beside, unknown])) as dataset:
        sample = dataset.sample(EXACT, columns=["device"], yes=True).to_arrow()
    assert set(sample["device"].to_pylist()) == open_devices(table, beside)


def _fields(table: pa.Table) -> list[tuple[str, pa.Field]]:
    return [(field.name, field) for field in table.schema]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"unit": "device,day"}, "make device the unit, or say with max_units"),
        ({"unit": "day"}, "no column of the unit's key"),
        ({"unit": "rows"}, "no column of the unit's key"),
        ({"lookups": {"people": {"source": None}}}, "either a source or a table"),
        ({"lookups": {"data": {"source": "people.parquet"}}}, "name of its own"),
        ({"lookups": {"visits": {"source": "people.parquet"}}}, "name of its own"),
        ({"lookups": {"a.b": {"source": "people.parquet"}}}, "without a dot"),
        ({"lookups": {"people": {"source": "x", "key": "id"}}}, "unknown key 'key'"),
        ({"lookups": {"people": {"source": "x", "max_units": 0}}}, "at least 1"),
        ({"policy": "people.opted"}, "no column people.opted"),
        ({"policy": "visits.consent"}, "without a table name"),
    ],
)
def test_what_cannot_be_is_refused(
    table: pa.Table, beside: pa.Table, options: dict[str, Any], words: str
) -> None:
    with pytest.raises((InputError, PolicyError, RequestError, SourceError), match=words):
        opened(table, beside, **options)


def test_a_key_of_another_type_is_refused(table: pa.Table, beside: pa.Table) -> None:
    with pytest.raises(SourceError, match=r"device is integer and people.team is text"):
        opened(table, beside, lookups={"people": {"source": beside, "on": "device=team"}})


class TestJoin:
    """In SQL a lookup table is joined by its key, and by nothing else."""

    def listed(self, dataset: osd.Dataset, join: str, **options: Any) -> dict[Any, int]:
        text = f"SELECT team, COUNT(DISTINCT device) AS n FROM visits {join} GROUP BY team"
        exact: dict[str, Any] = {"epsilon": EXACT, "mechanism": "one-sided", "yes": True}
        answer = dataset.sql(text, **exact, **options).to_arrow()
        return dict(zip(*answer.to_pydict().values(), strict=True))

    def test_an_inner_join_drops_what_is_not_found(self, table: pa.Table, beside: pa.Table) -> None:
        policy = "room = 'clinic'"
        clinic = {row["device"] for row in table.to_pylist() if row["room"] == "clinic"}
        found = {r["device"]: r for r in joined(table, beside) if r["device"] not in clinic}
        inside = Counter(r["people.team"] for r in found.values() if r["people.id"] is not None)
        whole = Counter(r["people.team"] for r in found.values())
        assert inside[None] < whole[None]
        with opened(table, beside, policy=policy) as dataset:
            by_key = "ON visits.device = people.id"
            assert self.listed(dataset, f"JOIN people {by_key}") == inside
            assert self.listed(dataset, "INNER JOIN people AS p ON p.id = visits.device") == inside
            assert self.listed(dataset, f"LEFT JOIN people {by_key}") == whole

    @pytest.mark.parametrize(
        ("join", "words"),
        [
            ("JOIN people ON visits.device = people.floor", "joined by its key alone"),
            ("JOIN people", "Say by which columns"),
            ("CROSS JOIN people", "by which columns people"),
            ("RIGHT JOIN people ON visits.device = people.id", "RIGHT JOIN is not allowed"),
            ("JOIN folk ON visits.device = folk.id", "not declared"),
        ],
    )
    def test_other_joins_are_refused(
        self, table: pa.Table, beside: pa.Table, join: str, words: str
    ) -> None:
        with opened(table, beside) as dataset, pytest.raises(InputError, match=words):
            self.listed(dataset, join)


class TestManyUnits:
    """One row that decides over several units: a public rule says over how many."""

    def bounded(self, table: Any, beside: Any, most: int = 2, **options: Any) -> osd.Dataset:
        lookups = {"people": osd.LookupTable(source=beside, on="device=id", max_units=most)}
        given = {"unit": "device,day", "domains": DOMAIN, "lookups": lookups, **options}
        return opened(table, beside, **given)

    def test_no_more_units_of_a_person_are_in_anything(
        self, table: pa.Table, beside: pa.Table
    ) -> None:
        with self.bounded(table, beside) as dataset:
            sample = dataset.sample(EXACT, yes=True).to_arrow()
            counted = dataset.count(
                "day", epsilon=EXACT, mechanism="one-sided", yes=True
            ).to_arrow()
        units = set(zip(sample["device"].to_pylist(), sample["day"].to_pylist(), strict=True))
        assert max(Counter(device for device, _ in units).values()) == 2
        assert sum(counted["count"].to_pylist()) == len(units)

    def test_the_rule_looks_at_keys_alone(self, table: pa.Table, beside: pa.Table) -> None:
        """Which units are there, and what is said of them, changes nothing for the others."""
        days = defaultdict(set)
        for options in ({}, {"policy": "room = 'clinic'"}):
            for part in (table, table.slice(0, len(table) // 2)):
                with self.bounded(part, beside, **options) as dataset:
                    sample = dataset.sample(EXACT, yes=True).to_arrow()
                for device, day in zip(sample["device"], sample["day"], strict=True):
                    days[device.as_py()].add(day.as_py())
        assert max(map(len, days.values())) == 2

    def test_every_day_is_chosen_about_as_often(self, table: pa.Table, beside: pa.Table) -> None:
        many = visits(devices=2000, rows_a_unit=3)
        with self.bounded(many, beside, policy="FALSE") as dataset:
            sample = dataset.sample(EXACT, yes=True).to_arrow()
        units = set(zip(sample["device"].to_pylist(), sample["day"].to_pylist(), strict=True))
        shares = [n / len(units) for n in Counter(day for _, day in units).values()]
        assert len(shares) == DAYS
        assert all(abs(share - 1 / DAYS) < 0.03 for share in shares)

    def test_the_receipt_says_what_a_row_costs(self, table: pa.Table, beside: pa.Table) -> None:
        with self.bounded(table, beside, 3) as dataset:
            release = dataset.count(epsilon="0.5")
            assert release.receipt["lookups"]["people"] == {
                "on": [["device", "id"]],
                "units_of_a_row": 3,
                "epsilon_of_a_row": "1.5",
            }
            assert "at most 3 of them: a factor of at most e^1.5" in release.guarantee

    def test_the_number_of_units_stands_for_no_total(
        self, table: pa.Table, beside: pa.Table
    ) -> None:
        """All units are counted at the opening, and fewer are in the groups."""
        with opened(table, beside) as dataset:
            whole = dataset.count("people.floor", epsilon=1, mechanism="one-sided", use_n=True)
        with self.bounded(table, beside) as dataset:
            assert dataset.units == len(set(zip(*table.select(["device", "day"]), strict=True)))
            bounded = dataset.count("people.floor", epsilon=1, mechanism="one-sided", use_n=True)
        assert whole.receipt["epsilon"]["extended_osdp"] is None
        assert bounded.receipt["epsilon"]["extended_osdp"] is not None

    @pytest.mark.parametrize("domains", [{}, {"day": [date(2024, 1, 1), "*"]}])
    def test_it_needs_all_declared_values(
        self, table: pa.Table, beside: pa.Table, domains: dict[str, Any]
    ) -> None:
        with pytest.raises(SourceError, match="list the possible values of day"):
            self.bounded(table, beside, domains=domains)

    def test_units_beyond_the_declared_ones_are_left_out(
        self, table: pa.Table, beside: pa.Table
    ) -> None:
        few = {"day": DOMAIN["day"][:2]}
        with self.bounded(table, beside, 2, domains=few, policy="FALSE") as dataset:
            sample = dataset.sample(EXACT, yes=True).to_arrow()
        assert set(sample["day"].to_pylist()) == set(few["day"])

    def test_computed_parts_of_a_key_can_be_declared(
        self, table: pa.Table, beside: pa.Table
    ) -> None:
        options = {"unit": "device,date(ts)", "domains": {"date(ts)": DOMAIN["day"]}}
        with self.bounded(table, beside, **options) as dataset:
            sample = dataset.sample(EXACT, yes=True).to_arrow()
        with self.bounded(table, beside) as dataset:
            assert sample.num_rows == dataset.sample(EXACT, yes=True).to_arrow().num_rows


class TestAccount:
    """What a ledger keeps of a lookup."""

    @pytest.fixture
    def files(self, tmp_path: Path, table: pa.Table, beside: pa.Table) -> dict[str, Any]:
        pq.write_table(table, tmp_path / "visits.parquet")
        pq.write_table(beside, tmp_path / "people.parquet")
        return {
            "table": str(tmp_path / "visits.parquet"),
            "beside": str(tmp_path / "people.parquet"),
            "ledger": tmp_path / "l.ledger",
        }

    def test_the_same_continues(self, files: dict[str, Any]) -> None:
        with opened(**files) as dataset:
            first = dataset.sample(1)
        with opened(**files) as dataset:
            again = dataset.sample(1)
            assert dataset.budget.spent == 1
        assert again.to_arrow().equals(first.to_arrow())

    @pytest.mark.parametrize(
        "lookups",
        [
            {},
            {"folk": {"on": "device=id"}},
            {"people": {"on": "device=floor"}},
        ],
    )
    def test_another_declaration_is_another_account(
        self, files: dict[str, Any], table: pa.Table, lookups: dict[str, Any]
    ) -> None:
        with opened(**files, policy="room = 'clinic'") as dataset:
            dataset.count(epsilon=1)
        unique = people(100).slice(0, 3)
        pq.write_table(unique, files["beside"])
        given = {name: {"source": files["beside"], **more} for name, more in lookups.items()}
        with (
            opened(**files, policy="room = 'clinic'", lookups=given) as dataset,
            pytest.raises(LedgerError, match="another declaration of its lookup tables"),
        ):
            dataset.count(epsilon=1)

    def test_other_columns_are_refused(self, files: dict[str, Any], beside: pa.Table) -> None:
        with opened(**files) as dataset:
            dataset.count(epsilon=1)
        pq.write_table(beside.append_column("more", beside["id"]), files["beside"])
        with pytest.raises(SourceError, match="There were 4 columns"):
            opened(**files)

    def test_a_changed_row_is_another_snapshot(
        self, files: dict[str, Any], beside: pa.Table
    ) -> None:
        with opened(**files) as dataset:
            assert dataset.count(epsilon=1).receipt["snapshot"] == 1
        changed = beside.set_column(2, "floor", pa.array([5] * len(beside), pa.int64()))
        pq.write_table(changed, files["beside"])
        with opened(**files) as dataset:
            assert dataset.count(epsilon=1).receipt["snapshot"] == 2

    def test_a_change_while_it_is_open_is_noticed(
        self, files: dict[str, Any], beside: pa.Table
    ) -> None:
        with opened(**files) as dataset:
            dataset.count(epsilon=1)
            pq.write_table(beside.slice(1), files["beside"])
            with pytest.raises(SourceError, match="changed since it was opened"):
                dataset.count(epsilon=2)

    def test_the_statement_says_what_a_row_costs(self, files: dict[str, Any]) -> None:
        from onesided.ledger import open_ledger
        from onesided.session import statements

        lookups = {"people": {"source": files["beside"], **ON, "max_units": 2}}
        options = {"unit": "device,day", "domains": DOMAIN, "lookups": lookups}
        with opened(**files, **options) as dataset:
            dataset.count(epsilon=1)
        ledger = open_ledger(files["ledger"])
        try:
            (statement,) = statements(ledger)
            assert ledger.verify().ok
        finally:
            ledger.close()
        assert "at most 2 of them: a factor of at most e^2" in statement.promise
