"""`onesided quantile` and `onesided histogram`, end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onesided.cli import run

ASK = ["--unit", "rows", "--policy", "secret", "--epsilon", "9", "--budget", "9"]
CELLS = ["--column", "paid", "--bounds", "0,99"]


@pytest.fixture
def source(tmp_path: Path) -> list[str]:
    rows = pa.table({"paid": [*range(100)] * 20, "secret": [False] * 2_000})
    pq.write_table(rows, tmp_path / "visits.parquet")
    return [str(tmp_path / "visits.parquet"), "--ledger", str(tmp_path / "ledger")]


def test_other_quantiles_are_free_on_the_command_line(
    source: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for at in ("0.25,0.5", ".9"):
        assert run(["quantile", *source, *ASK, *CELLS, "--at", at, "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        for row, quantile in zip(answer["rows"], at.split(","), strict=True):
            assert row["quantile"] == float(quantile)
            assert abs(row["value"] - 100 * float(quantile)) <= 2
        assert answer["receipt"]["account"]["left"] == "0"


@pytest.mark.parametrize("at", ["2", "many", ""])
def test_what_is_no_quantile_is_refused(
    source: list[str], at: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["quantile", *source, *ASK, *CELLS, "--at", at]) == 2
    assert "uantile" in capsys.readouterr().err


def test_a_histogram_and_its_sums_are_one_release(
    source: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    edges = ["--column", "paid", "--edges", "0,10,50,100"]
    counts = []
    for more in ([], ["--cumulative"]):
        assert run(["histogram", *source, *ASK, *edges, *more, "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert [row["to"] for row in answer["rows"]] == [10, 50, 100]
        counts.append([row["count"] for row in answer["rows"]])
        assert answer["receipt"]["account"]["left"] == "0"
    assert counts[0] == pytest.approx([200, 800, 1000], abs=20)
    assert counts[1] == pytest.approx([200, 1000, 2000], abs=20)
    assert run(["histogram", *source, *ASK, "--column", "paid", "--edges", "9"]) == 2
