"""Raw associations to trajectories: the rule of the slots, real and odd files, refusals."""

from __future__ import annotations

import os
import zipfile
from collections import Counter
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onesided.datasets.policies import LeastBusy
from onesided.datasets.wifi import (
    REPUBLICA_ARCHIVE,
    REPUBLICA_MEMBER,
    republica_archive,
    republica_trajectories,
    trajectories,
)
from onesided.errors import InputError, OutputError, RequestError, SourceError

MIDNIGHT = datetime(2016, 3, 1)
Row = tuple[int, str, int]


def _trace(path: Path, rows: list[Row], **extra: list[Any]) -> Path:
    """A trace of (device, access point, minute after midnight)."""
    devices, aps, minutes = zip(*rows, strict=True)
    times = [MIDNIGHT + timedelta(minutes=minute) for minute in minutes]
    table = pa.table({"device": devices, "ap": aps, "ts": pa.array(times), **extra})
    pq.write_table(table, path)
    return path


def _run(folder: Path, rows: list[Row], **options: Any) -> list[dict[str, Any]]:
    out = folder / "out.parquet"
    trajectories(_trace(folder / "in.parquet", rows), out, overwrite=True, **options)
    return list(pq.read_table(out).to_pylist())


def _by_hand(rows: list[Row], slot_minutes: int) -> list[tuple[int, date, int, str]]:
    """The same rule in plain Python: distinct rows, the most frequent, the smallest name."""
    slots: dict[tuple[int, int], Counter[str]] = {}
    for device, ap, minute in set(rows):
        slots.setdefault((device, minute // slot_minutes), Counter())[ap] += 1
    return [
        (
            device,
            (MIDNIGHT + timedelta(minutes=slot * slot_minutes)).date(),
            slot % (24 * 60 // slot_minutes),
            min(seen, key=lambda ap: (-seen[ap], ap)),
        )
        for (device, slot), seen in sorted(slots.items())
    ]


def test_the_most_frequent_access_point_wins_its_slot(tmp_path: Path) -> None:
    rows = [(1, "b", 0), (1, "a", 3), (1, "b", 9), (1, "a", 10), (2, "c", 1439)]
    assert _run(tmp_path, rows) == [
        {"device": 1, "day": date(2016, 3, 1), "slot": 0, "ts": MIDNIGHT, "ap": "b"},
        {
            "device": 1,
            "day": date(2016, 3, 1),
            "slot": 1,
            "ts": MIDNIGHT + timedelta(minutes=10),
            "ap": "a",
        },
        {
            "device": 2,
            "day": date(2016, 3, 1),
            "slot": 143,
            "ts": MIDNIGHT + timedelta(minutes=1430),
            "ap": "c",
        },
    ]


def test_a_tie_goes_to_the_smallest_name_and_repeated_rows_count_once(tmp_path: Path) -> None:
    rows = [(1, "b", 0), (1, "b", 0), (1, "b", 0), (1, "a", 5)]
    assert [row["ap"] for row in _run(tmp_path, rows)] == ["a"]


@settings(max_examples=25, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from("Aab"), st.integers(0, 2 * 1440 - 1)),
        min_size=1,
        max_size=60,
    ),
    slot_minutes=st.sampled_from([10, 15, 720]),
)
def test_the_engine_agrees_with_the_rule_by_hand(
    rows: list[Row], slot_minutes: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    found = _run(tmp_path_factory.mktemp("law"), rows, slot_minutes=slot_minutes)
    assert [(row["device"], row["day"], row["slot"], row["ap"]) for row in found] == _by_hand(
        rows, slot_minutes
    )


def test_columns_may_have_any_name_and_devices_be_text(tmp_path: Path) -> None:
    table = pa.table({'m"ac': ["x"], "access point": [7], "when": [MIDNIGHT]})
    pcsv.write_csv(table, tmp_path / "in.csv")
    out = tmp_path / "out.csv"
    trajectories(tmp_path / "in.csv", out, device='m"ac', ap="access point", time="when")
    assert out.read_text().splitlines() == [
        "device,day,slot,ts,ap",
        "x,2016-03-01,0,2016-03-01 00:00:00,7",
    ]


def test_further_columns_come_along_where_they_are_constant(tmp_path: Path) -> None:
    rows: list[Row] = [(1, "a", 0), (1, "a", 1), (1, "b", 2)]
    source = _trace(tmp_path / "in.parquet", rows, room=["r", "r", None], day_part=["x", "y", "x"])
    out = tmp_path / "out.parquet"
    trajectories(source, out, keep={"place": "room"})
    assert pq.read_table(out)["place"].to_pylist() == ["r"]
    with pytest.raises(SourceError, match="day_part"):
        trajectories(source, tmp_path / "other.parquet", keep=["day_part"])
    assert not (tmp_path / "other.parquet").exists()


def test_days_are_cut_in_the_asked_zone(tmp_path: Path) -> None:
    late = pa.array([datetime(2016, 7, 1, 23, 30)], pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"device": [1], "ap": ["a"], "ts": late}), tmp_path / "in.parquet")
    for zone, expected in ((None, date(2016, 7, 1)), ("Europe/Berlin", date(2016, 7, 2))):
        trajectories(
            tmp_path / "in.parquet", tmp_path / "out.parquet", timezone=zone, overwrite=True
        )
        assert pq.read_table(tmp_path / "out.parquet")["day"].to_pylist() == [expected]


def test_the_output_is_never_replaced_unasked_and_nothing_is_left_behind(tmp_path: Path) -> None:
    source = _trace(tmp_path / "in.parquet", [(1, "a", 0)])
    (tmp_path / "out.parquet").write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        trajectories(source, tmp_path / "out.parquet")
    assert (tmp_path / "out.parquet").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"in.parquet", "out.parquet"}


@pytest.mark.parametrize("column", ["device", "ap", "ts"])
def test_empty_cells_are_told_to_the_steward(tmp_path: Path, column: str) -> None:
    table = pa.table({"device": [1, 2], "ap": ["a", "b"], "ts": [MIDNIGHT, MIDNIGHT]})
    index = table.column_names.index(column)
    first, _ = table[column].to_pylist()
    values = pa.array([first, None], table[column].type)
    pq.write_table(table.set_column(index, column, values), tmp_path / "in.parquet")
    with pytest.raises(SourceError, match=f"{column} is empty in some rows"):
        trajectories(tmp_path / "in.parquet", tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"slot_minutes": 7}, RequestError),
        ({"slot_minutes": 0}, RequestError),
        ({"device": "nobody"}, SourceError),
        ({"time": "ap"}, SourceError),
        ({"keep": {"slot": "ap"}}, RequestError),
        ({"timezone": "Europe/Berlin"}, RequestError),
        ({"memory_limit": "much"}, RequestError),
    ],
)
def test_requests_that_make_no_sense_are_refused(
    tmp_path: Path, options: dict[str, Any], error: type[InputError]
) -> None:
    source = _trace(tmp_path / "in.parquet", [(1, "a", 0)])
    with pytest.raises(error) as caught:
        trajectories(source, tmp_path / "out.parquet", **options)
    assert str(caught.value).count(". ") == 0
    assert {path.name for path in tmp_path.iterdir()} == {"in.parquet"}


def test_an_unknown_zone_is_refused(tmp_path: Path) -> None:
    times = pa.array([MIDNIGHT], pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"device": [1], "ap": ["a"], "ts": times}), tmp_path / "in.parquet")
    with pytest.raises(RequestError, match="Europe/Berlin"):
        trajectories(tmp_path / "in.parquet", tmp_path / "out.parquet", timezone="Nowhere")


@pytest.mark.parametrize("name", ["missing.parquet", "broken.parquet", "empty.parquet", "x.doc"])
def test_unreadable_sources_give_one_clear_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / "broken.parquet").write_text("secret,4711")
    (tmp_path / "x.doc").touch()
    schema = pa.schema({"device": pa.int64(), "ap": pa.string(), "ts": pa.timestamp("us")})
    pq.write_table(schema.empty_table(), tmp_path / "empty.parquet")
    with pytest.raises(SourceError) as caught:
        trajectories(tmp_path / name, tmp_path / "out.parquet")
    assert "4711" not in str(caught.value)


@pytest.mark.parametrize("out", ["out.txt", "missing/out.parquet"])
def test_an_impossible_output_is_refused(tmp_path: Path, out: str) -> None:
    source = _trace(tmp_path / "in.parquet", [(1, "a", 0)])
    with pytest.raises(OutputError):
        trajectories(source, tmp_path / out)


def test_without_the_conference_trace_the_way_out_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ONESIDED_DATA", str(tmp_path))
    assert republica_archive() is None
    with pytest.raises(SourceError, match="simulated building"):
        republica_trajectories(tmp_path / "out.parquet")


@pytest.mark.parametrize("damage", ["no archive", "another member"])
def test_a_damaged_archive_gives_one_clear_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, damage: str
) -> None:
    monkeypatch.setenv("ONESIDED_DATA", str(tmp_path))
    archive = tmp_path / REPUBLICA_ARCHIVE
    archive.parent.mkdir()
    archive.write_text("nothing")
    if damage == "another member":
        with zipfile.ZipFile(archive, "w") as packed:
            packed.writestr("../" + REPUBLICA_MEMBER, "")
    with pytest.raises(SourceError, match="damaged: fetch it again"):
        republica_trajectories(tmp_path / "out.parquet")


@pytest.mark.skipif(
    not os.environ.get("ONESIDED_DATA"), reason="ONESIDED_DATA names no data folder"
)
def test_the_conference_trace_has_its_known_figures(tmp_path: Path) -> None:
    republica_trajectories(tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.group_by(["device", "day"]).aggregate([]).num_rows == 14_341
    assert len(table["device"].unique()) == 6_727
    assert len(table["ap"].unique()) == 102
    assert len(table["room"].unique()) == 19
    policies = LeastBusy.of(table)
    expected = {6: 99.0, 17: 89.6, 28: 74.3, 44: 50.3, 65: 24.5, 81: 9.9, 101: 1.0}
    for k, percent in expected.items():
        assert round(100 * policies.first(k).share, 1) == percent
    wanted = (0.99, 0.9, 0.75, 0.5, 0.25, 0.1, 0.01)
    assert [policies.nearest(share).k for share in wanted] == list(expected)
