"""`--chart` on every command that answers."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onesided.cli import run

ASK = ["--unit", "rows", "--policy", "age < 18", "--ledger", "v.ledger", "--budget", "90"]
EPSILON = ["--epsilon", "1"]
AMOUNT = ["--column", "paid", "--bound", "9", "--by", "room"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = 600
    table = {
        "room": [f"room {each % 5}" for each in range(rows)],
        "hour": [each % 24 for each in range(rows)],
        "paid": [each % 9 for each in range(rows)],
        "age": [30] * rows,
    }
    pq.write_table(pa.table(table), "v.parquet")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "ending"),
    [
        (["count", "v.parquet", *ASK, *EPSILON, "--by", "room"], "png"),
        (["count", "v.parquet", *ASK, *EPSILON, "--by", "room,hour"], "html"),
        (["sum", "v.parquet", *ASK, *EPSILON, *AMOUNT], "pdf"),
        (["mean", "v.parquet", *ASK, *EPSILON, *AMOUNT], "svg"),
        (
            [
                *("sql", "SELECT room, COUNT(*) AS n, AVG(paid) AS m FROM data GROUP BY room"),
                *("v.parquet", *ASK, *EPSILON, "--bound", "paid=9"),
            ],
            "svg",
        ),
        (["plan", "v.parquet", *ASK, *EPSILON, "--by", "room"], "svg"),
        (["plan", "mean", "v.parquet", *ASK, *EPSILON, *AMOUNT], "svg"),
        (["attack", "--trials", "20"], "pdf"),
    ],
)
def test_a_command_draws_its_answer(command: list[str], ending: str, folder: Path) -> None:
    chart = folder / f"chart.{ending}"
    assert run([*command, "--chart", str(chart)]) == 0
    starts = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "html": b"<!doctype html>"}
    assert chart.read_bytes().startswith(starts[ending])


def test_a_sample_is_held_against_what_was_counted(folder: Path) -> None:
    sample = ["sample", "v.parquet", *ASK, *EPSILON]
    assert run([*sample, "--out", "a.csv", "--chart", "alone.svg"]) == 0
    assert "Units in the sample by room" in Path("alone.svg").read_text()
    assert run(["count", "v.parquet", *ASK, *EPSILON, "--by", "room"]) == 0
    assert run([*sample, "--out", "b.csv", "--chart", "beside.svg"]) == 0
    assert "Make-up of the sample by room" in Path("beside.svg").read_text()


def test_a_chart_is_refused_before_the_charge(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count = ["count", "v.parquet", *ASK, *EPSILON, "--by", "room"]
    Path("there.svg").touch()
    for name in ("x.bmp", "there.svg", "missing/x.svg", "v.parquet"):
        assert run([*count, "--chart", name]) == 2
    assert run([*count, "--out", "c.csv", "--chart", "c.csv"]) == 2
    assert run(["sample", "v.parquet", *ASK, *EPSILON, "--into", "t", "--chart", "t.svg"]) == 2
    assert not Path("v.ledger").exists()
    capsys.readouterr()
    assert run([*count, "--chart", "there.svg", "--overwrite"]) == 0
    assert "there.svg" in capsys.readouterr().out
