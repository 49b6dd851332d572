"""`onesided check`, end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onesided.cli import run
from support.visits import write_visits


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_visits(tmp_path, devices=40)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_misspelt_policy_is_seen_before_anything_is_published(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ["check", "visits.parquet", "--unit", "device,day", "--ledger", "visits.ledger"]
    assert run([*ask, "--policy", "room = 'Clinic'"]) == 1
    shown = capsys.readouterr().out
    assert "look at policy: 'Clinic' does not occur in room; did you mean 'clinic'?" in shown
    assert "sensitive" not in shown
    assert run([*ask, "--policy", "room = 'clinic'"]) == 0
    assert "Nothing else needs to be looked at." in capsys.readouterr().out
    assert run(["budget", "visits.ledger", "--verify"]) == 0


def test_secret_numbers_need_a_word_and_change_no_exit_code(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ["check", "visits.parquet", "--unit", "device,day", "--policy", "room = 'clinic'"]
    assert run([*ask, "--secret", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert 0 < shown["secret"]["sensitive"] < shown["units"]
    assert run([*ask, "--secret"]) == 0
    assert "steward's eyes alone" in capsys.readouterr().out
    never = ["check", "visits.parquet", "--unit", "device,day", "--policy", "FALSE"]
    assert run([*never, "--secret"]) == 0


def test_a_domain_is_held_against_the_data(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ["check", "visits.parquet", "--unit", "device,day", "--policy", "room = 'clinic'"]
    assert run([*ask, "--domain", "room=lab,attic"]) == 1
    assert "look at room: In its domain, but in no row: 'attic'." in capsys.readouterr().out


def test_for_whom_a_weighted_sample_stands_is_said_from_the_policys_text(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ["check", "visits.parquet", "--unit", "device,day"]
    assert run([*ask, "--policy", "room = 'clinic' OR NOT consent"]) == 0
    shown = capsys.readouterr().out
    assert "with weights by room a sample stands for those where room <> 'clinic'" in shown
    assert run([*ask, "--policy", "room = 'clinic' AND NOT consent", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["stands_for"] == []
