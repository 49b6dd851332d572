"""True samples: no sensitive row ever leaves, and the rest is kept by the coin alone."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.data.files import ROW_GROUP_ROWS
from onesided.data.units import Unit
from onesided.engine.base import Coins, SampleQuery
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.errors import OutputError, RequestError
from onesided.language import Predicate
from onesided.randomness import coin, coin_threshold
from support.statistics import CONTROL_FACTOR, agrees, binomial_p_value
from support.visits import POLICY, UNIT, all_units, rows, sensitive_units, visits, write_visits

KEY = "0123456789abcdef" * 2


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return visits()


def drawn(source: object, epsilon: Fraction, unit: tuple[str, ...] = UNIT) -> pa.Table:
    """The sample under a fixed key, as the engine hands it over."""
    engine = DuckDBEngine(source, Unit(unit))
    try:
        policy = Predicate.parse(POLICY).bind(engine.schema)
        columns = tuple(engine.schema)
        query = SampleQuery(policy, Coins(KEY, epsilon), columns)
        return pa.Table.from_batches(engine.sample(query), engine.output_schema(columns))
    finally:
        engine.close()


def test_sensitive_units_never_leave_and_kept_ones_leave_whole(table: pa.Table) -> None:
    sample = osd.open(table, unit=UNIT, policy=POLICY, budget=1).sample(1).table
    kept = all_units(sample)
    assert kept.isdisjoint(sensitive_units(table))
    source = Counter(tuple(row.values()) for row in rows(table))
    released = Counter(tuple(row.values()) for row in rows(sample))
    wanted = Counter({row: times for row, times in source.items() if (row[0], row[1]) in kept})
    assert released == wanted


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 2), Fraction(1, 10)])
def test_the_share_of_kept_units_is_binomial(epsilon: Fraction) -> None:
    units = 40_000
    people = pa.table({"id": range(units), "room": ["hall"] * units, "consent": [True] * units})
    kept = len(drawn(people, epsilon, ("id",)))
    assert agrees(binomial_p_value(kept, units, -math.expm1(-float(epsilon))))
    too_generous = -math.expm1(-float(CONTROL_FACTOR * epsilon))
    assert not agrees(binomial_p_value(kept, units, too_generous))


def test_each_coin_is_the_keyed_hash_of_the_unit(table: pa.Table) -> None:
    threshold = coin_threshold(Fraction(1))
    epoch = pd.Timestamp("1970-01-01").date()
    expected = {
        (device, day)
        for device, day in all_units(table) - sensitive_units(table)
        if coin(KEY, f"{device}|{(day - epoch).days}") < threshold
    }
    assert all_units(drawn(table, Fraction(1))) == expected


def test_single_rows_are_named_by_position_and_keep_their_order(table: pa.Table) -> None:
    numbered = table.append_column("id", pa.array(range(len(table))))
    sample = drawn(numbered, Fraction(1), ())
    ids = sample.column("id").to_pylist()
    assert ids == sorted(ids)
    assert all(row["room"] != "clinic" and row["consent"] is True for row in rows(sample))
    possible = sum(row["room"] != "clinic" and row["consent"] is True for row in rows(table))
    assert agrees(binomial_p_value(len(ids), possible, -math.expm1(-1)))


def test_rows_with_equal_content_have_coins_of_their_own() -> None:
    twins = pa.table({"room": ["hall"] * 2000, "consent": [True] * 2000})
    assert 0 < len(drawn(twins, Fraction(1), ())) < 2000


def test_a_larger_epsilon_contains_the_smaller_sample(table: pa.Table) -> None:
    small, large = drawn(table, Fraction(1, 2)), drawn(table, Fraction(2))
    assert all_units(small) < all_units(large)


def test_files_frames_and_globs_give_the_same_sample(table: pa.Table, tmp_path: Path) -> None:
    path = write_visits(tmp_path)
    pq.write_table(table.slice(0, 3000), tmp_path / "part-1.parquet")
    pq.write_table(table.slice(3000), tmp_path / "part-2.parquet")
    pa.csv.write_csv(table, tmp_path / "visits.csv")
    wanted = drawn(table, Fraction(1))
    sources: list[object] = [
        str(path),
        str(tmp_path / "part-*.parquet"),
        table.to_pandas(),
        pl.from_arrow(table),
        str(tmp_path / "visits.csv"),
    ]
    for source in sources:
        sample = drawn(source, Fraction(1))
        assert sample.to_pylist() == wanted.to_pylist()


def test_row_units_of_several_files_are_told_apart(table: pa.Table, tmp_path: Path) -> None:
    half = len(table) // 2
    for name, part in (("a", table.slice(0, half)), ("b", table.slice(half))):
        pq.write_table(part, tmp_path / f"{name}.parquet", row_group_size=500)
    both = drawn(str(tmp_path / "*.parquet"), Fraction(1), ())
    alone = drawn(str(tmp_path / "a.parquet"), Fraction(1), ())
    assert both.slice(0, len(alone)).to_pylist() == alone.to_pylist()
    assert len(both) > len(alone)


def test_where_and_columns_choose_from_the_kept_units(table: pa.Table) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY, budget=1) as dataset:
        whole = dataset.sample(1).table
        part = dataset.sample(1, where="room = 'lab'", columns=["room", "device"]).table
        assert dataset.budget.spent == 1
    wanted = sorted(row["device"] for row in rows(whole) if row["room"] == "lab")
    assert part.column_names == ["room", "device"]
    assert sorted(part.column("device").to_pylist()) == wanted


def test_the_same_ledger_gives_the_same_sample_and_tops_up(tmp_path: Path) -> None:
    path = write_visits(tmp_path)
    ledger = tmp_path / "visits.ledger"

    def sample(epsilon: object) -> tuple[set[object], Fraction]:
        with osd.open(path, unit=UNIT, policy=POLICY, budget=2, ledger=ledger) as dataset:
            units = all_units(dataset.sample(epsilon).table)
            return units, dataset.budget.spent

    first, spent = sample(1)
    assert spent == 1
    assert sample(1) == (first, 1)
    larger, spent = sample("1.5")
    assert first < larger
    assert spent == Fraction(3, 2)


def test_a_fresh_sample_has_other_coins_and_pays_again(table: pa.Table) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY, budget=2) as dataset:
        first = all_units(dataset.sample(1).table)
        assert all_units(dataset.sample(1, fresh=True).table) != first
        assert dataset.budget.spent == 2


def test_written_files_have_fixed_row_groups_and_nothing_of_the_source(tmp_path: Path) -> None:
    many = pa.table({"id": range(400_000)}, metadata={"secret": "source"})
    source = tmp_path / "many.parquet"
    pq.write_table(many, source, row_group_size=7000)
    release = osd.open(str(source), policy="id < 10", budget=20, unit="rows").sample(20, yes=True)
    release.write(tmp_path / "out.parquet")
    meta = pq.read_metadata(tmp_path / "out.parquet")
    sizes = [meta.row_group(index).num_rows for index in range(meta.num_row_groups)]
    assert sizes[:-1] == [ROW_GROUP_ROWS] * (len(sizes) - 1)
    assert b"secret" not in (meta.metadata or {})


@pytest.mark.parametrize("ending", ["csv", "arrow", "parquet"])
def test_a_release_is_written_in_each_format(table: pa.Table, tmp_path: Path, ending: str) -> None:
    release = osd.open(table, unit=UNIT, policy=POLICY, budget=1).sample(1)
    out = tmp_path / f"sample.{ending}"
    assert release.write(out, receipt=True) == (out, tmp_path / "sample.receipt.json")
    read = {
        "csv": lambda: pa.csv.read_csv(out),
        "arrow": lambda: pa.ipc.open_file(out).read_all(),
        "parquet": lambda: pq.read_table(out),
    }[ending]()
    assert len(read) == len(release.table)
    with pytest.raises(OutputError, match="exists already"):
        release.write(out)


def test_a_policy_in_python_fails_closed(table: pa.Table) -> None:
    def policy(row: dict[str, object]) -> object:
        if row["consent"] is None:
            raise ValueError("no answer")
        return row["room"] == "clinic" or not row["consent"]

    frame = table.to_pandas()
    with osd.open(frame, unit=UNIT, policy=policy, budget=1) as dataset:
        kept = all_units(dataset.sample(1).table)
    assert kept
    assert kept.isdisjoint(sensitive_units(table))


def test_a_policy_in_python_needs_a_table_in_memory(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="in memory"):
        osd.open(str(write_visits(tmp_path)), unit=UNIT, policy=lambda row: False)


@pytest.mark.parametrize("policy", ["TRUE", "FALSE", "room = 'nowhere'"])
def test_a_policy_that_decides_everything_behaves_like_any_other(
    table: pa.Table, policy: str
) -> None:
    sample = osd.open(table, unit=UNIT, policy=policy, budget=1).sample(1)
    assert sample.table.column_names == table.column_names
    assert (len(sample.table) == 0) == (policy == "TRUE")
