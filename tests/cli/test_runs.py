"""`onesided run`: a file of questions, all or none, one report."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from onesided.cli import run
from support.visits import POLICY, write_visits

QUESTIONS = """
epsilon = 0.5
purpose = "yearbook"

[[questions]]
name = "rooms"
ask = "count"
by = "room"
max_groups = 4
mechanism = "one-sided"

[[questions]]
name = "rows"
ask = "sample"
epsilon = 1
"""
DATA = ["visits.parquet", "--unit", "device,day", "--policy", POLICY]
LEDGER = ["--ledger", "v.ledger", "--budget", "2"]
ASK = ["run", "questions.toml", *DATA, *LEDGER]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_visits(tmp_path, devices=40)
    (tmp_path / "questions.toml").write_text(QUESTIONS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_answers_are_written_with_one_report(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*ASK, "--out", "answers", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    names = ["rooms.csv", "rooms.receipt.json", "rows.parquet", "rows.receipt.json", "answers.html"]
    assert told["written"] == [f"answers/{name}" for name in names]
    receipts = [each["receipt"] for each in told["answers"].values()]
    assert [each["account"]["cost"] for each in receipts] == ["0.5", "1"]
    assert receipts[0]["purpose"] == "yearbook"
    page = (folder / "answers" / "answers.html").read_text()
    for part in ("rooms", "<svg", "cafe", "(P, 0.5)-OSDP", "ε = 1.5", "of 2"):
        assert part in page
    rows = pq.read_table(folder / "answers" / "rows.parquet")
    assert f"{len(rows) - 40:,} more rows" in page


def test_asking_again_is_free_and_gives_the_same(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*ASK, "--out", "one"]) == 0
    assert run([*ASK, "--out", "two"]) == 0
    for name in ("rooms.csv", "rows.parquet", "answers.html"):
        assert (folder / "one" / name).read_bytes() == (folder / "two" / name).read_bytes()
    assert "spent 1.5 of 2" in capsys.readouterr().out
    assert run([*ASK, "--out", "two"]) == 2
    assert "exists already" in capsys.readouterr().err


def test_answers_are_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", "questions.toml", *DATA]) == 0
    shown = capsys.readouterr().out
    for part in ("rooms: count of units", "rows: rows of a sample", "spent 1.5 of 1.5"):
        assert part in shown


def test_a_plan_is_free(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*ASK, "--plan", "--out", "answers"]) == 0
    shown = capsys.readouterr().out
    assert "±" in shown
    assert "about" in shown
    assert "ε = 1.5" in shown
    assert not (folder / "answers").exists()
    assert run([*ASK, "--plan", "--json"]) == 0
    assert [each["name"] for each in json.loads(capsys.readouterr().out)["questions"]] == [
        "rooms",
        "rows",
    ]


def test_all_or_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", "questions.toml", *DATA, "--ledger", "v.ledger", "--budget", "1"]) == 3
    assert "nothing was spent" in capsys.readouterr().err
    assert run(["budget", "v.ledger", "--json"]) == 0
    (account,) = json.loads(capsys.readouterr().out)["accounts"]
    assert account["spent"] == "0"


def test_the_file_may_name_the_data_set(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "onesided.toml").write_text(
        f'[datasets.visits]\nsource = "visits.parquet"\nunit = "device,day"\npolicy = "{POLICY}"\n'
    )
    (folder / "named.toml").write_text('dataset = "visits"\n' + QUESTIONS)
    assert run(["run", "named.toml", "--plan"]) == 0
    assert "rooms" in capsys.readouterr().out
