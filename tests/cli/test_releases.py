"""The commands that publish, end to end: what they write, and what they say to bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onesided.cli import run
from support.visits import POLICY, all_units, sensitive_units, visits, write_visits

UNIT = ["--unit", "device,day"]
ASK = ["--policy", POLICY, *UNIT, "--epsilon", "1"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_visits(tmp_path, devices=100)


def test_a_sample_is_written_with_its_receipt(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sample.parquet"
    assert run(["sample", str(source), *ASK, "--out", str(out)]) == 0
    table, rows = pq.read_table(source), pq.read_table(out)
    kept = all_units(rows)
    assert kept
    assert kept.isdisjoint(sensitive_units(table))
    receipt = json.loads((tmp_path / "sample.receipt.json").read_text())
    assert receipt["epsilon"]["osdp"] == "1"
    shown = capsys.readouterr()
    assert "(P, 1)-OSDP" in shown.out
    assert f"released   {len(kept):,} units in {len(rows):,} rows\n" in shown.out
    assert shown.err == ""


def test_counts_are_shown_or_written(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ["count", str(source), *ASK, "--by", "room,bucket(device, 50)", "--max-groups", "2"]
    assert run([*ask, "--mechanism", "one-sided"]) == 0
    assert "bucket(device, 50)" in capsys.readouterr().out
    out = tmp_path / "counts.csv"
    assert run([*ask, "--out", str(out), "--json", "--mechanism", "one-sided"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["written"] == [str(out), str(tmp_path / "counts.receipt.json")]
    assert out.read_text().startswith('"room"')


def test_the_default_mechanism_answers(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    domain = ["--domain", "room=cafe,hall,lab,*"]
    assert run(["count", str(source), *ASK, "--by", "room", "--max-groups", "1", *domain]) == 0
    assert "auto" in capsys.readouterr().out


def test_a_ledger_keeps_the_account_between_commands(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    account = ["--ledger", str(tmp_path / "visits.ledger"), "--budget", "1.5"]
    first, second, third = (tmp_path / f"{name}.parquet" for name in "abc")
    ask = ["sample", str(source), *ASK, *account, "--json"]
    assert run([*ask, "--out", str(first)]) == 0
    assert run([*ask, "--out", str(second)]) == 0
    assert first.read_bytes() == second.read_bytes()
    capsys.readouterr()
    ask[ask.index("--epsilon") + 1] = "2"
    assert run([*ask, "--out", str(third)]) == 3
    assert "budget" in capsys.readouterr().err
    assert not third.exists()


def one_sentence(text: str) -> bool:
    """One line with one message, and nothing of a traceback."""
    return text.startswith("onesided: ") and text.count("\n") == 1 and "Traceback" not in text


def bad_files(folder: Path) -> None:
    """Sources that cannot be opened."""
    table = visits(devices=5)
    pq.write_table(table.slice(0, 0), folder / "empty.parquet")
    holes = pa.array([None, *table.column("device").to_pylist()[1:]], pa.int32())
    pq.write_table(table.set_column(0, "device", holes), folder / "holes.parquet")
    (folder / "broken.parquet").write_bytes(b"PAR1 not really PAR1")
    reserved = table.rename_columns(["device", "day", "ts", "room", "osd_x"])
    pq.write_table(reserved, folder / "reserved.parquet")
    (folder / "notes.pdf").write_text("x")


BAD = {
    "missing file": (["nowhere.parquet"], ASK, 2, "no file"),
    "unknown format": (["notes.pdf"], ASK, 2, "Parquet or CSV"),
    "broken file": (["broken.parquet"], ASK, 2, "cannot be read"),
    "empty table": (["empty.parquet"], ASK, 2, "empty"),
    "NULL keys": (["holes.parquet"], ASK, 2, "NULL in the unit key"),
    "reserved name": (["reserved.parquet"], ["--policy", "room = 'x'", *ASK[2:]], 2, "reserved"),
    "unknown column": (None, ["--policy", "rooom = 'x'", *ASK[2:]], 2, "no column"),
    "unknown unit": (None, [*ASK, "--unit", "phone"], 2, "no column"),
    "syntax error": (None, ["--policy", "room = = 1", *ASK[2:]], 2, ""),
    "subquery": (None, ["--policy", "device IN (SELECT 1)", *ASK[2:]], 2, ""),
    "random": (None, ["--policy", "random() < 0.5", *ASK[2:]], 2, "random"),
    "types": (None, ["--policy", "room > 5", *ASK[2:]], 2, ""),
    "zero": (None, [*ASK, "--epsilon", "0"], 2, "greater than 0"),
    "negative": (None, [*ASK, "--epsilon", "-1"], 2, "greater than 0"),
    "no number": (None, [*ASK, "--epsilon", "lots"], 2, "number"),
    "not finite": (None, [*ASK, "--epsilon", "inf"], 2, "number"),
    "over budget": (None, [*ASK, "--budget", "0.5"], 3, "budget"),
    "output exists": (None, [*ASK, "--out", "visits.parquet"], 2, "exists already"),
    "output format": (None, [*ASK, "--out", "x.xlsx"], 2, "format"),
    "output folder": (None, [*ASK, "--out", "no/x.csv"], 2, "written"),
    "memory limit": (None, [*ASK, "--memory-limit", "lots"], 2, "memory limit"),
    "columns": (None, [*ASK, "--columns", "room,room"], 2, "once"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_costs_nothing_and_says_one_sentence(
    case: str,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    bad_files(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    names, options, code, word = BAD[case]
    out = [] if "--out" in options else ["--out", "out.parquet"]
    account = [] if code == 3 else ["--ledger", "visits.ledger", "--budget", "5"]
    assert run(["sample", *(names or [source.name]), *options, *out, *account]) == code
    shown = capsys.readouterr()
    assert one_sentence(shown.err), shown.err
    assert word in shown.err
    assert shown.out == ""
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("policy", ["TRUE", "FALSE", "room = 'nowhere'"])
def test_what_is_sensitive_shows_in_no_message(
    policy: str, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sample.csv"
    assert run(["sample", str(source), "--policy", policy, *ASK[2:], "--out", str(out)]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    told = shown.out.replace(policy, POLICY).splitlines()
    assert told[2].startswith("released   ")  # how much was released is no secret
    assert [*told[1:2], *told[3:]] == [
        "figure     rows of a sample of non-sensitive units",
        "mechanism  rr",
        "promise    " + _promise(),
        "cost       ε = 1; spent 1 of 1, left 0 (in memory only; forgotten at the end)",
    ]


def _promise() -> str:
    return (
        "(P, 1)-OSDP: replacing one sensitive record (device, day) by any other makes no outcome "
        f"more than e^1 times likelier. Sensitive is where {POLICY}, or NULL."
    )


def test_help_and_version_load_no_engine() -> None:
    program = (
        "import sys; from onesided.cli import run; code = run(sys.argv[1:]); "
        "heavy = {'numpy', 'duckdb', 'pyarrow', 'sqlglot', 'rich'} & set(sys.modules); "
        "sys.exit(code or len(heavy))"
    )
    for arguments in (["--help"], ["--version"], ["count", "--help"], ["policy", "--help"]):
        answer = subprocess.run(
            [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
        )
        assert answer.returncode == 0, answer.stdout + answer.stderr


def test_the_command_is_installed_and_pipes_stay_quiet(source: Path, tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("onesided")
    answer = subprocess.run(
        [command, "sample", source, *ASK, "--out", tmp_path / "s.csv"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "80"},
    )
    assert answer.returncode == 0
    assert answer.stderr == ""
    assert subprocess.run([command, "nonsense"], capture_output=True, check=False).returncode == 2
