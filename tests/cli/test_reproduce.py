"""`onesided reproduce`: exit codes, stand-ins, and one sentence for what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onesided.cli import run


def test_without_published_data_a_stand_in_is_used_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONESIDED_DATA", "")
    missing = tmp_path / "nowhere"
    arguments = ["reproduce", "table2", "--quick", "--data", str(missing), "--out", str(tmp_path)]
    assert run([*arguments, "--json"]) == 0
    captured = capsys.readouterr()
    (verdict,) = json.loads(captured.out)["verdicts"]
    assert verdict["verdict"] == "cannot be tested"
    assert "stand-in" in verdict["data"]
    assert "is no folder" in captured.err
    assert "stand in for" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    "place",
    ["dpbench/1d/adult.npy", "republica13/republica13-wlan-data.csv.zip"],
)
def test_a_damaged_file_is_one_sentence(
    place: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ONESIDED_DATA", "")
    damaged = tmp_path / "data" / place
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"not what it should be")
    out = tmp_path / "out"
    assert run(["reproduce", "--quick", "--data", str(tmp_path / "data"), "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"{damaged.name} is damaged" in error
    assert not (out / "report.html").exists()


def test_an_interrupted_run_says_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("onesided.experiments.reproduce.reproduce", interrupted)
    assert run(["reproduce", "table1", "--quick", "--out", str(tmp_path / "out")]) == 130
    assert "the same command goes on" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONESIDED_DATA", "")
    taken = tmp_path / "taken"
    taken.write_text("a file")
    assert run(["reproduce", "table2", "--quick", "--out", str(taken)]) == 2
    assert f"The folder {taken} cannot be made" in capsys.readouterr().err
    assert taken.read_text() == "a file"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [(["table3"], "choose from table1"), (["table1", "--all"], "not both")],
)
def test_what_cannot_be_reproduced_is_refused(
    arguments: list[str], word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["reproduce", *arguments, "--out", str(tmp_path / "out")]) == 2
    assert word in capsys.readouterr().err
