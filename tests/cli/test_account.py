"""plan, budget and data sets by name, end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onesided.cli import run
from support.ledgers import in_file
from support.visits import POLICY, write_visits

DESCRIPTION = f"""
[datasets.visits]
source = "visits.parquet"
unit = "device,day"
policy = "{POLICY}"
budget = 2
ledger = "visits.ledger"

[datasets.plain]
source = "visits.parquet"
unit = "rows"
policy = "{POLICY}"
"""
QUESTION = ["--by", "room", "--max-groups", "1", "--epsilon", "0.5"]
COUNT = ["count", "visits", *QUESTION, "--mechanism", "one-sided", "--domain", "room=lab,*"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a described data set."""
    write_visits(tmp_path, devices=40)
    (tmp_path / "onesided.toml").write_text(DESCRIPTION)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """The one sentence on standard error."""
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("onesided: ")
    assert shown.err.count("\n") == 1
    return shown.err


def test_a_data_set_is_asked_by_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*COUNT, "--json"]) == 0
    account = json.loads(capsys.readouterr().out)["receipt"]["account"]
    assert (account["spent"], account["budget"]) == ("0.5", "2")
    assert run(["sample", "visits", "--epsilon", "1", "--out", "sample.csv"]) == 0
    assert "spent 1.5 of 2" in capsys.readouterr().out


def test_a_description_can_lie_elsewhere(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = folder / "elsewhere"
    place.mkdir()
    text = DESCRIPTION.replace("visits.parquet", "../visits.parquet")
    (place / "other.toml").write_text(text.replace("datasets.visits]", "datasets.moved]"))
    config = ["--config", "elsewhere/other.toml"]
    assert run(["count", "moved", *COUNT[2:], *config]) == 0
    assert (place / "visits.ledger").exists()
    capsys.readouterr()
    assert run(["count", "visits", *COUNT[2:], *config]) == 2
    assert "describes no data set 'visits'" in said(capsys)


def test_options_come_before_the_description_unless_they_make_another_account(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in ("--policy", "--unit", "--ledger", "--name"):
        assert run([*COUNT, option, "room"]) == 2
        assert f"leave {option} out" in said(capsys)
    assert run([*COUNT, "--budget", "1"]) == 0
    assert "spent 0.5 of 1" in capsys.readouterr().out
    ask = ["count", "plain", *COUNT[2:], "--json"]
    assert run([*ask, "--ledger", "plain.ledger", "--budget", "3"]) == 0
    assert json.loads(capsys.readouterr().out)["receipt"]["account"]["budget"] == "3"
    assert run(ask) == 0
    assert json.loads(capsys.readouterr().out)["receipt"]["account"]["budget"] == "0.5"


def test_a_path_still_needs_its_policy(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["count", "visits.parquet", *QUESTION]) == 2
    assert "--policy" in said(capsys)
    ask = ["count", "visits.parquet", *COUNT[2:], "--policy", POLICY]
    assert run([*ask, "--unit", "device,day"]) == 0


def test_a_plan_is_free(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sample", "visits", "--epsilon", "1", "--out", "sample.csv"]) == 0
    capsys.readouterr()
    ask = ["plan", "visits", *QUESTION, "--domain", "room=lab,hall,*"]
    assert run([*ask, "--json", "--nonsensitive-share", "0.9"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["left"], plan["budget"], plan["groups"]) == ("1", "2", 3)
    costs = {each["mechanism"]: each["cost"] for each in plan["options"]}
    assert costs["rr"] == "0"
    assert costs["one-sided"] == "0.5"
    assert run(ask) == 0
    shown = capsys.readouterr().out
    assert "paid for at ε = 1" in shown
    assert "ε = 1 of 2" in shown
    assert run(["plan", "visits", "--by", "nowhere", "--epsilon", "1"]) == 2
    assert "no column" in said(capsys)


def test_a_ledger_is_shown_in_words(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(COUNT) == 0
    capsys.readouterr()
    for name in ("visits", "visits.ledger"):
        assert run(["budget", name]) == 0
        shown = capsys.readouterr().out
        assert "count by room (one-sided)" in shown
        assert "(P, 0.5)-OSDP" in shown
        assert "ε = 1.5 is left: about 3 more room histograms at ±" in shown
        assert "stored" in shown


def test_a_ledger_is_shown_exported_and_drawn(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(COUNT) == 0
    assert run(["sample", "visits", "--epsilon", "1", "--out", "sample.csv"]) == 0
    capsys.readouterr()
    assert run(["budget", "visits", "--verify", "--export", "audit.json", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    (account,) = answer["accounts"]
    assert (account["spent"], account["left"], account["spent_as_plain_sum"]) == (
        "1.5",
        "0.5",
        "1.5",
    )
    assert [charge["state"] for charge in account["charges"]] == ["stored", "stored"]
    audit = json.loads((folder / "audit.json").read_text())
    assert audit["head"] == answer["verified"]
    assert len(audit["receipts"]) == 2
    for ending, start in ((".svg", b"<svg"), (".html", b"<!doctype html>"), (".pdf", b"%PDF")):
        assert run(["budget", "visits", "--chart", f"account{ending}"]) == 0
        assert (folder / f"account{ending}").read_bytes().startswith(start)
    capsys.readouterr()
    assert run(["budget", "visits", "--chart", "account.svg"]) == 2
    assert "exists already" in said(capsys)
    assert run(["budget", "visits", "--chart", "account.gif"]) == 2
    assert ".svg, .png, .html, .pdf" in said(capsys)


def test_a_budget_is_raised_with_who_and_why(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(COUNT) == 0
    capsys.readouterr()
    who = ["--who", "Ada", "--why", "a second year"]
    assert (
        run(["budget", "visits", "--raise", "visits", "--to", "3", *who, "--chart", "a.svg"]) == 0
    )
    shown = capsys.readouterr().out
    assert "raised to 3 by Ada: a second year" in shown
    assert "ε = 2.5 is left" in shown
    for options, words in (
        (["--raise", "visits", "--to", "2", *who], "can only be raised"),
        (["--raise", "visits", "--to", "lots", *who], "finite number"),
        (["--raise", "other", "--to", "4", *who], "no account 'other'; it has visits"),
        (["--raise", "visits", "--to", "4"], "--who and --why"),
        (["--why", "x"], "--raise DATASET"),
    ):
        assert run(["budget", "visits", *options]) == 2
        assert words in said(capsys)


def test_a_ledger_that_was_changed_does_not_verify(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(COUNT) == 0
    capsys.readouterr()
    assert run(["budget", "visits", "--verify", "--json"]) == 0
    head = json.loads(capsys.readouterr().out)["verified"]
    anchor = f"{head['entries']}:{head['hash']}"
    assert run(["budget", "visits", "--anchor", anchor]) == 0
    capsys.readouterr()
    assert run(["budget", "visits", "--anchor", f"{head['entries']}:{'0' * 64}"]) == 1
    assert "noted elsewhere" in said(capsys)
    assert run(["budget", "visits", "--anchor", "yesterday"]) == 2
    assert "ENTRIES:HASH" in said(capsys)
    place = in_file(folder / "visits.ledger")
    place.tamper("UPDATE entries SET text = replace(text, '0.5', '0.4') WHERE kind = 'charge'")
    assert run(["budget", "visits", "--verify"]) == 1
    assert "does not verify" in said(capsys)
    ledger = folder / "visits.ledger"
    ledger.write_bytes(ledger.read_bytes()[:5000])
    assert run(["budget", "visits", "--verify"]) == 1
    assert "cut short" in said(capsys)


def test_what_is_no_ledger_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["budget", "nowhere.ledger"]) == 2
    assert "no ledger nowhere.ledger" in said(capsys)
    assert not (folder / "nowhere.ledger").exists()
    assert run(["budget", "plain"]) == 2
    assert "names no ledger" in said(capsys)
    (folder / "onesided.toml").write_text("[datasets")
    assert run(["budget", "visits.ledger"]) == 2
    assert "is not TOML" in said(capsys)


def test_every_kind_of_question_is_planned(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sql = "SELECT room, COUNT(DISTINCT device, day) FROM visits GROUP BY room"
    bounded = ["--by", "room", "--max-groups", "1"]
    amount = ["--column", "device", "--bound", "8", *bounded]
    for ask in (
        ["count", "visits", *bounded, "--epsilon", "1"],
        ["sum", "visits", *amount, "--epsilon", "1", "--nonnegative"],
        ["mean", "visits", *amount, "--error", "3"],
        ["sample", "visits", "--epsilon", "1"],
        ["sql", sql, "visits", "--max-groups", "1", "--error", "20"],
    ):
        assert run(["plan", *ask]) == 0
        assert "±" in capsys.readouterr().out
        assert run(["plan", *ask, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["budget"] == "2"
    assert run(["plan", "visits", *bounded]) == 2
    assert "either epsilon, or the error" in said(capsys)


def test_questions_of_a_file_share_a_budget(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sql = "SELECT room, COUNT(DISTINCT device, day) AS n FROM visits GROUP BY room"
    Path("questions.sql").write_text(f"-- error: 20\n{sql};\n{sql} ORDER BY room")
    ask = ["plan", "questions.sql", "--budget", "2", "--max-groups", "1"]
    more = ["--mechanism", "laplace", "--domain", "room=lab,hall,*"]
    assert run([*ask, *more]) == 0
    assert "of ε = 2" in capsys.readouterr().out
    assert run([*ask, *more, "--error", "0.1", "--json"]) == 1
    first, second = json.loads(capsys.readouterr().out)["questions"]
    assert first["epsilon"] is not None
    assert second["epsilon"] is None
    assert "is left" in second["reason"]
