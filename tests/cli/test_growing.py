"""Data that grow: states, series and runs by part, from the command."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.cli import run
from onesided.errors import RequestError
from onesided.ledger import Balance, open_ledger
from support.nights import Nights, command


@pytest.fixture
def nights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Nights:
    monkeypatch.chdir(tmp_path)
    nights = Nights(tmp_path)
    nights.begin()
    return nights


def rows(nights: Nights, name: str) -> list[dict[str, str]]:
    with (nights.folder / "published" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def balance(nights: Nights) -> Balance:
    ledger = open_ledger(nights.folder / "visits.ledger", create=False)
    (account,) = ledger.accounts()
    found = account.balance()
    ledger.close()
    return found


def test_a_part_is_charged_once_while_the_data_grow(
    nights: Nights, capsys: pytest.CaptureFixture[str]
) -> None:
    first = nights.grow(0)
    assert run([*command(first), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    second = nights.grow(1)
    assert run([*command(first), "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert told["answers"] == again["answers"]
    assert run([*command(second), "--json"]) == 0
    parts = [each.charge.spending.part for each in balance(nights).charges]
    assert len(parts) == 4
    assert len(set(parts)) == 2
    for name in ("rooms", "devices"):
        assert {row["day"] for row in rows(nights, name)} == {str(first), str(second)}
    assert [row["room"] for row in rows(nights, "rooms")] == 2 * ["cafe", "clinic", "hall", "lab"]


def test_another_question_of_the_same_name_is_refused(
    nights: Nights, capsys: pytest.CaptureFixture[str]
) -> None:
    day = nights.grow(0)
    (nights.folder / "published").mkdir()
    (nights.folder / "published" / "rooms.csv").write_text('"day","room"\n')
    assert run(command(day)) != 0
    assert "other columns" in capsys.readouterr().err
    (nights.folder / "published" / "rooms.csv").unlink()
    assert run(command(day)) == 0  # and nothing more is paid


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--series", "published"], "say --part"),
        (["--as-of", "2026-01-02"], "--as-of goes with --part"),
        (["--part", "day=yesterday", "--as-of", "tomorrow"], "2026-01-31"),
        (["--part", "room=lab"], "partition-by"),
    ],
    ids=str,
)
def test_what_makes_no_series_is_refused(
    words: list[str], said: str, nights: Nights, capsys: pytest.CaptureFixture[str]
) -> None:
    nights.grow(0)
    assert run(["run", "nightly.toml", *words]) != 0
    assert said in capsys.readouterr().err


def test_a_plan_of_a_part_is_free(nights: Nights, capsys: pytest.CaptureFixture[str]) -> None:
    day = nights.grow(0)
    assert run([*command(day), "--plan"]) == 0
    assert "charged all or none" in capsys.readouterr().out
    assert not balance(nights).charges


def test_a_new_state_is_told_with_what_is_stale(
    nights: Nights, capsys: pytest.CaptureFixture[str]
) -> None:
    day = nights.grow(0)
    assert run(command(day)) == 0
    shutil.copytree(nights.folder / "visits", nights.folder / "old")
    nights.grow(1)
    late = nights.folder / "visits" / f"day={day}" / "late.parquet"
    pq.write_table(
        pa.table({"device": pa.array([99, 1], pa.int64()), "room": ["lab", "hut"]}), late
    )
    capsys.readouterr()
    assert run(["snapshot", "visits", "--before", "old", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(each["number"], each["releases"], each["current"]) for each in told["states"]] == [
        (1, 2, False),
        (2, 0, True),
    ]
    assert told["grown"] == {"appended": 31, "changed": 1, "gone": 0, "late": 1}
    assert run(["snapshot", "visits", "--before", "old"]) == 0
    shown = capsys.readouterr().out
    for words in ("2 (now)", "2 answers are of earlier states", "31 came, 1 changed", "secret"):
        assert words in shown
    with osd.load("visits") as dataset:
        assert [each.number for each in dataset.snapshots] == [1, 2]
        assert dataset.snapshots[-1].current


def test_questions_that_name_a_part_themselves_take_no_other(nights: Nights) -> None:
    nights.grow(0)
    with osd.load("visits") as dataset, pytest.raises(RequestError, match="A part is said"):
        dataset.run(
            [{"ask": "count", "epsilon": 0.1, "part": {"day": "2026-01-01"}}],
            part={"day": "2026-01-01"},
        )
