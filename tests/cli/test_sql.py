"""`onesided sum`, `mean` and `sql`, end to end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from onesided.cli import run
from support.payments import ROOMS, payments
from support.visits import POLICY

ACCOUNT = ["--policy", POLICY, "--unit", "device,day", "--epsilon", "1"]
SUM = ["--column", "paid", "--bound", "25", "--grid", "0.25", "--by", "room", "--max-groups", "3"]
COUNT = "SELECT room, COUNT(DISTINCT device, day) AS n FROM visits GROUP BY room ORDER BY n DESC"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    pq.write_table(payments(devices=100), tmp_path / "visits.parquet")
    pyarrow.csv.write_csv(ROOMS, tmp_path / "rooms.csv")
    return "visits.parquet"


def answer(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    shown = capsys.readouterr()
    assert shown.err == ""
    content: dict[str, Any] = json.loads(shown.out)
    return content


def test_sums_are_shown_or_written(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["sum", source, *ACCOUNT, *SUM, "--nonnegative"]) == 0
    shown = capsys.readouterr()
    assert "at_least" in shown.out
    assert "(P, 1)-OSDP" in shown.out
    assert shown.err == ""
    out = tmp_path / "sums.csv"
    assert run(["sum", source, *ACCOUNT, *SUM, "--where", "room <> 'lab'", "--out", str(out)]) == 0
    assert "lab" not in out.read_text()
    receipt = json.loads((tmp_path / "sums.receipt.json").read_text())
    assert receipt["request"]["bound"] == "25"
    assert receipt["epsilon"]["osdp"] == "1"


def test_means_of_units_and_of_rows(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mean", source, *ACCOUNT, *SUM, "--json"]) == 0
    units = answer(capsys)
    assert run(["mean", source, *ACCOUNT, *SUM, "--max-rows", "2", "--json"]) == 0
    rows = answer(capsys)
    assert set(units["rows"][0]) >= {"room", "mean", "sum", "count"}
    assert rows["receipt"]["request"]["max_rows"] == 2
    assert units["receipt"]["mechanism"] == "one-sided-mean"


def test_a_statement_is_answered(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--max-groups", "3", "--mechanism", "one-sided"]
    assert run(["sql", COUNT, source, *ACCOUNT, *options]) == 0
    assert "(P, 1)-OSDP" in capsys.readouterr().out
    text = (
        "SELECT building, COUNT(*) AS n, SUM(paid) FROM data JOIN rooms USING (room) "
        "WHERE hour(ts) > 7 GROUP BY building HAVING n > 10"
    )
    more = ["--max-rows", "3", "--bound", "paid=25", "--grid", "paid=0.25"]
    public = ["--public", "rooms=rooms.csv", "--nonnegative", "paid"]
    assert run(["sql", text, source, *ACCOUNT, *options, *more, *public, "--json"]) == 0
    content = answer(capsys)
    assert [row["building"] for row in content["rows"]] == ["A", "B"]
    assert set(content["receipt"]["figures"]) == {"count(*)", "sum(paid)"}
    assert content["receipt"]["account"]["cost"] == "1"


def test_a_described_data_set_is_called_by_its_name(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "onesided.toml").write_text(
        "[datasets.trips]\n"
        f'source = "{source}"\nunit = ["device", "day"]\npolicy = "{POLICY}"\nbudget = 1\n'
        '[datasets.trips.public]\nrooms = "rooms.csv"\n'
    )
    text = (
        "SELECT building, COUNT(DISTINCT device, day) FROM trips JOIN rooms USING (room) GROUP BY 1"
    )
    options = ["--epsilon", "1", "--max-groups", "2", "--mechanism", "one-sided", "--json"]
    assert run(["sql", text, "trips", *options]) == 0
    assert len(answer(capsys)["rows"]) == 2


BAD = {
    "sum without max-groups": (["sum", "visits.parquet", *ACCOUNT, *SUM[:-2]], 2, "--max-groups"),
    "sum of texts": (["sum", "visits.parquet", *ACCOUNT, *SUM, "--column", "room"], 2, "numbers"),
    "uneven grid": (["sum", "visits.parquet", *ACCOUNT, *SUM, "--grid", "0.3"], 2, "whole number"),
    "over budget": (["mean", "visits.parquet", *ACCOUNT, *SUM, "--budget", "0.5"], 3, "budget"),
    "output format": (["mean", "visits.parquet", *ACCOUNT, *SUM, "--out", "x.pdf"], 2, "format"),
    "no SELECT": (["sql", "DROP TABLE visits", "visits.parquet", *ACCOUNT], 2, "SELECT"),
    "another table": (["sql", "SELECT COUNT(*) FROM x", "visits.parquet", *ACCOUNT], 2, "visits"),
    "rows": (["sql", "SELECT COUNT(*) FROM visits", "visits.parquet", *ACCOUNT], 2, "--max-rows"),
    "bound": (["sql", COUNT, "visits.parquet", *ACCOUNT, "--bound", "paid"], 2, "NAME=VALUE"),
    "public": (["sql", COUNT, "visits.parquet", *ACCOUNT, "--public", "r=no.csv"], 2, "no file"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_costs_nothing_and_says_one_sentence(
    case: str, source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, code, word = BAD[case]
    before = sorted(tmp_path.rglob("*"))
    assert run(arguments) == code
    shown = capsys.readouterr()
    assert shown.err.startswith("onesided: ")
    assert shown.err.count("\n") == 1
    assert word in shown.err
    assert shown.out == ""
    assert sorted(tmp_path.rglob("*")) == before
