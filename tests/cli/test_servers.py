"""Commands whose SOURCE is a data set at a server: all that an analyst may do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from onesided.cli import run
from onesided.ledger.desk import PersonRole
from support.serving import ServerAtWork, describe, serving

UNITS = "COUNT(DISTINCT (device, day))"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerAtWork]:
    folder = tmp_path_factory.mktemp("served")
    with serving(describe(folder, seconds=None, budget=100)) as at_work:
        yield at_work


@pytest.fixture
def source(server: ServerAtWork, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ONESIDED_TOKEN", server.token("ann"))
    return f"{server.address}/visits"


@pytest.mark.parametrize(
    "words",
    [
        "count SOURCE --by room --max-groups 4 --mechanism laplace",
        "sum SOURCE --column device --bound 60 --by room --max-groups 2",
        "mean SOURCE --column device --bound 60 --max-rows 3 --max-groups 2 --by room",
        "quantile SOURCE --column device --bounds 0,60 --cells 10 --max-groups 1",
        "distinct SOURCE --column room --max-values 2",
        "plan SOURCE --by room --max-groups 4",
        "plan sum SOURCE --column device --bound 60 --max-groups 2 --by room",
        "plan sample SOURCE",
    ],
)
def test_a_question_is_asked_at_the_server(
    source: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [source if word == "SOURCE" else word for word in words.split()]
    assert run([*arguments, "--epsilon", "0.5", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    if words.startswith("plan"):
        assert answer["budget"] == "100"
    else:
        assert answer["receipt"]["asked_by"] == "ann"
        assert answer["rows"]


def test_a_sample_is_written(source: str, tmp_path: Path) -> None:
    out = tmp_path / "rows.parquet"
    asked = ["sample", source, "--columns", "room,day", "--epsilon", "0.5", "--out", str(out)]
    assert run(asked) == 0
    assert pq.read_table(out).column_names == ["room", "day"]
    assert json.loads(out.with_suffix(".receipt.json").read_text())["asked_by"] == "ann"


def test_a_sample_that_stands_for_everybody(source: str, tmp_path: Path) -> None:
    out = tmp_path / "rows.parquet"
    rooms = "room=cafe,clinic,hall,lab,office"
    asked = ["sample", source, "--columns", "room,device,day", "--epsilon", "1", "--out", str(out)]
    assert run([*asked, "--stands-for", "room", "--domain", rooms, "--noisy"]) == 0
    assert pq.read_table(out).column_names[-1] == "weight"


def test_several_questions_from_a_file(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("questions.toml").write_text(
        'epsilon = 0.4\n[[questions]]\nname = "rooms"\nask = "count"\nby = "room"\nmax_groups = 4\n'
        '[[questions]]\nask = "sample"\ncolumns = ["room", "day"]\n'
    )
    assert run(["run", "questions.toml", source, "--out", "answers"]) == 0
    assert Path("answers/rooms.csv").exists()
    assert "answers.html" in capsys.readouterr().out
    assert run(["run", "questions.toml", source, "--plan"]) == 2
    assert "one question at a time" in capsys.readouterr().err


def test_a_select_and_its_plan(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    query = f"SELECT room, {UNITS} AS n FROM visits GROUP BY room"
    options = ["--epsilon", "0.5", "--max-groups", "4", "--mechanism", "laplace"]
    assert run(["plan", "sql", query, source, *options]) == 0
    assert run(["sql", query, source, *options]) == 0
    assert "ε = 0.5" in capsys.readouterr().out
    assert run(["sql", "SELECT MAX(device) FROM visits", source, *options]) == 2
    Path("questions.sql").write_text(f"-- error: 30\nSELECT {UNITS} FROM visits;")
    assert run(["plan", "questions.sql", source, "--budget", "2"]) == 0


def test_the_account(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["count", source, "--epsilon", "0.25", "--where", "room <> 'lab'"]) == 0
    capsys.readouterr()
    assert run(["budget", source, "--json"]) == 0
    (account,) = json.loads(capsys.readouterr().out)["accounts"]
    assert account["budget"] == "100"
    assert account["charges"][-1]["asked_by"] == "ann"
    assert run(["budget", source]) == 0
    assert "by you" in capsys.readouterr().out


def test_the_token_may_stand_in_a_file(
    source: str, server: ServerAtWork, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("ONESIDED_TOKEN")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = tmp_path / "token"
    file.write_text(server.token("bob"))
    file.chmod(0o600)
    asked = ["plan", source, "--epsilon", "1", "--by", "room", "--max-groups", "1"]
    assert run(asked) == 2
    assert run([*asked, "--token-file", str(file)]) == 0
    file.chmod(0o644)
    assert run([*asked, "--token-file", str(file)]) == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("count SOURCE --epsilon 1 --policy TRUE", "has said --policy already"),
        ("count SOURCE --epsilon 1 --ledger a.ledger", "has said --ledger already"),
        ("count SOURCE --epsilon 1 --data-version 2", "has said --data-version already"),
        ("count SOURCE --epsilon 1 --lookup a=b.csv", "has said --lookup already"),
        ("budget SOURCE --verify", "has said --verify already"),
        ("check SOURCE", "data that you hold yourself"),
        ("snapshot SOURCE", "data that you hold yourself"),
        ("count SOURCE --epsilon 1 --by room", "max-groups"),
        ("count SOURCE --epsilon 200 --yes", "budget"),
        ("count SOURCE/elsewhere --epsilon 1", "nothing at this address"),
        ("count http://example.org/visits --epsilon 1", "use https"),
        ("count visits.parquet --epsilon 1 --token-file token", "SOURCE at a server"),
    ],
)
def test_what_is_refused_says_why(
    source: str, words: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run([word.replace("SOURCE", source) for word in words.split()])
    assert code == (3 if sentence == "budget" else 2)
    assert sentence in capsys.readouterr().err


def test_an_auditor_asks_nothing(
    source: str,
    server: ServerAtWork,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ONESIDED_TOKEN", server.token("eva", PersonRole.AUDITOR))
    assert run(["budget", source]) == 0
    assert run(["count", source, "--epsilon", "1"]) == 2
    assert "auditor" in capsys.readouterr().err
