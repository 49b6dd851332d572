"""Lookup tables and withheld columns on the command line and in files of descriptions."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.cli import run
from onesided.errors import SourceError
from support.people import OPTED, people
from support.visits import visits

DAYS = "2024-01-01,2024-01-02,2024-01-03,2024-01-04,2024-01-05"
ASK = ["visits.parquet", "--unit", "device", "--policy", OPTED, "--lookup", "people=people.parquet"]
KEY = ["--on", "device=id"]
DESCRIBED = f"""
[datasets.visits]
source = "visits.parquet"
unit = "device,day"
policy = "{OPTED}"
budget = 2
withhold = ["device"]

[datasets.visits.domains]
day = {json.dumps(DAYS.split(","))}

[datasets.visits.lookups.people]
source = "people.parquet"
on = "device=id"
max_units = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    table = visits(devices=60)
    mail = [f"p{device}@example.org" for device in table["device"].to_pylist()]
    pq.write_table(table.append_column("mail", pa.array(mail)), tmp_path / "visits.parquet")
    pq.write_table(people(60), tmp_path / "people.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_count_by_a_looked_up_column(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["count", *ASK, *KEY, "--by", "people.team", "--epsilon", "1", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["receipt"]["lookups"]["people"]["on"] == [["device", "id"]]


def test_a_sample_leaves_out_what_is_withheld(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    withheld = ["--withhold", "mail,device", "--epsilon", "1"]
    assert run(["plan", "sample", *ASK, *KEY, *withheld]) == 0
    assert "day, ts, room, consent\n" in capsys.readouterr().out
    assert run(["sample", *ASK, "--on", "people:device=id", *withheld, "--out", "s.parquet"]) == 0
    assert pq.read_schema("s.parquet").names == ["day", "ts", "room", "consent"]


def test_check_proposes_what_to_withhold(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", *ASK, *KEY]) == 1
    assert "to keep them in: --withhold mail" in capsys.readouterr().out
    assert run(["check", *ASK, *KEY, "--withhold", "mail"]) == 0


def test_a_plan_says_what_a_row_costs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "onesided.toml").write_text(DESCRIBED)
    assert run(["plan", "visits", "--by", "room", "--epsilon", "1"]) == 0
    said = "a row of people decides over up to 3 units, at 3 times ε"
    assert said in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--on", "folk:id"], "--on takes NAME:VALUE"),
        ([*KEY, *KEY], "says something of people twice"),
        (["--max-units", "many"], "--max-units takes a whole number"),
        ([*KEY, "--lookup", "people"], "--lookup takes NAME=VALUE"),
        ([], "no column in common"),
    ],
)
def test_what_is_not_understood_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], more: list[str], words: str
) -> None:
    assert run(["count", *ASK, *more, "--epsilon", "1"]) != 0
    assert words in " ".join(capsys.readouterr().err.split())


def test_an_output_never_replaces_a_lookup(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["sample", *ASK, *KEY, "--epsilon", "1", "--out", "people.parquet"]) != 0
    assert pq.read_table("people.parquet").equals(people(60))


def test_a_file_describes_lookups_and_what_is_withheld(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "onesided.toml").write_text(DESCRIBED)
    with osd.load("visits") as dataset:
        assert "device" not in dataset.sample(1).to_arrow().column_names
        assert dataset.count(epsilon=1).receipt["lookups"]["people"]["units_of_a_row"] == 3
    for option in (["--lookup", "people=people.parquet"], ["--withhold", "room"]):
        assert run(["count", "visits", *option, "--epsilon", "1"]) != 0
        assert "leave --" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("max_units = true", "whole numbers"),
        ("key = 'id'", "not with key"),
        ("on = 3", "list of column names"),
    ],
)
def test_a_mistake_in_a_file_is_said(folder: Path, line: str, words: str) -> None:
    key = line.split()[0]
    rest = [each for each in DESCRIBED.splitlines() if not each.startswith(f"{key} = ")]
    (folder / "onesided.toml").write_text("\n".join([*rest, line]))
    with pytest.raises(SourceError, match=words):
        osd.load("visits")
