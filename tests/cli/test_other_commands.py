"""policy, mechanisms, simulate, trajectories and demo, end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from onesided.cli import run
from support.visits import write_visits


def test_policy_check_prints_the_canonical_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_visits(tmp_path, devices=5)
    assert run(["policy", "check", "ROOM='x'  or  consent", "--schema", str(source)]) == 0
    assert "room = 'x' OR consent" in capsys.readouterr().out
    assert run(["policy", "check", "now() > ts"]) == 2


@pytest.mark.parametrize(
    ("first", "second", "code", "answer"),
    [
        ("age <= 17", "age <= 20", 0, "yes"),
        ("age <= 20", "age <= 17", 1, "no"),
        ("name LIKE 'a%'", "name LIKE 'b%'", 1, "not proven"),
    ],
)
def test_policy_relaxes_answers_with_its_exit_code(
    first: str, second: str, code: int, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["policy", "relaxes", first, second, "--json"]) == code
    shown = json.loads(capsys.readouterr().out)
    assert shown["relaxes"] == answer
    assert ("counterexample" in shown) == (answer == "no")


def test_mechanisms_are_listed_with_their_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mechanisms", "--json"]) == 0
    listed = {each["name"]: each["kind"] for each in json.loads(capsys.readouterr().out)}
    assert listed["one-sided"] == "sound"
    assert set(listed.values()) == {"sound", "idealised", "broken"}


def test_simulate_and_trajectories_make_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    building = tmp_path / "building"
    assert run(["simulate", "--scale", "0.002", "--out", str(building)]) == 0
    visits, out = building / "visits.parquet", tmp_path / "days.parquet"
    assert run(["trajectories", str(visits), "--out", str(out), "--keep", "room=room"]) == 0
    assert pq.read_schema(out).names == ["device", "day", "slot", "ts", "ap", "room"]
    capsys.readouterr()
    assert run(["trajectories", str(visits), "--out", str(out)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert run(["trajectories", str(visits), "--out", str(out), "--slot", "7"]) == 2
    assert run(["simulate", "--scale", "0", "--out", str(building)]) == 2


def test_the_demo_writes_its_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "demo"
    assert run(["demo", "--out", str(out), "--scale", "0.003", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {Path(path).name for path in answer["written"]} == {
        "sample.parquet",
        "sample.receipt.json",
        "histogram.csv",
        "histogram.receipt.json",
        "index.html",
    }
    page = (out / "index.html").read_text()
    assert page.count("<svg") == 2
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page
