"""A sample that stands for everybody, on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onesided.cli import run

DATA = ["--policy", "opted_out", "--unit", "rows", "--budget", "9"]
DOMAIN = ["--domain", "region=east,south,west"]


@pytest.fixture
def source(tmp_path: Path) -> str:
    rng = np.random.default_rng(1)
    place = rng.integers(0, 3, 900)
    out = rng.random(900) < 0.1 + 0.3 * place
    region = np.array(["east", "south", "west"])[place]
    pq.write_table(pa.table({"region": region, "opted_out": out}), tmp_path / "people.parquet")
    return str(tmp_path / "people.parquet")


def _said(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_one_command_pays_for_both(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, chart = tmp_path / "sample.csv", tmp_path / "sample.svg"
    asked = [*DATA, "--epsilon", "1", "--stands-for", "region", *DOMAIN]
    assert run(["plan", "sample", source, *asked]) == 0
    assert "region: 3 groups by laplace" in capsys.readouterr().out
    assert run(["sample", source, *asked, "--out", str(out), "--chart", str(chart)]) == 0
    shown = capsys.readouterr()
    assert "stands for" in shown.out
    assert "all 900 units" in shown.out
    assert "cost            ε = 1; " in shown.out
    assert shown.err == ""
    assert out.read_text().splitlines()[0] == '"region","opted_out","weight"'
    assert chart.read_text().startswith("<svg")
    receipt = json.loads((tmp_path / "sample.receipt.json").read_text())
    assert receipt["request"]["stands_for"] == ["region"]
    assert set(receipt["figures"]) == {"sample", "count by region"}


def test_files_of_two_releases_are_weighed(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = ["--policy", "opted_out", "--unit", "rows", "--ledger", str(tmp_path / "l.db")]
    ledger += ["--budget", "9", "--epsilon", "1"]
    sample, count = tmp_path / "sample.parquet", tmp_path / "count.csv"
    ask = ["--by", "region", "--mechanism", "laplace", *DOMAIN]
    assert run(["sample", source, *ledger, "--out", str(sample)]) == 0
    assert run(["count", source, *ledger, *ask, "--out", str(count)]) == 0
    capsys.readouterr()
    out = tmp_path / "weighted.parquet"
    assert run(["weigh", str(sample), str(count), "--out", str(out), "--json"]) == 0
    said = _said(capsys)
    assert said["written"] == [str(out), str(tmp_path / "weighted.receipt.json")]
    assert [each["group"] for each in said["margins"]["region"]] == ["east", "south", "west"]
    assert pq.read_table(out)["weight"].to_numpy().sum() == pytest.approx(900)
    assert run(["weigh", str(sample), str(count)]) == 0
    shown = capsys.readouterr().out
    assert "without weights" in shown
    assert "all 900 units" in shown


def test_what_cannot_be_weighed_is_said(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["weigh", source]) == 2
    assert "at least one" in capsys.readouterr().err
    assert run(["weigh", source, source]) == 2
    assert "receipt.json is missing" in capsys.readouterr().err
    beside = tmp_path / "people.receipt.json"
    beside.write_text('{"kind": "what"}')
    assert run(["weigh", source, source]) == 2
    assert "is no receipt of a release" in capsys.readouterr().err
    assert run(["weigh", source, source, "--out", source, "--overwrite"]) == 2
    assert "needed by this command" in capsys.readouterr().err


def test_a_file_of_questions_can_ask_for_it(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = tmp_path / "questions.toml"
    questions.write_text(
        "epsilon = 1\n[[questions]]\nask = 'sample'\nname = 'all'\nstands_for = ['region']\n"
        "domain = {region = ['east', 'south', 'west']}\n",
        encoding="utf-8",
    )
    out = tmp_path / "answers"
    assert run(["run", str(questions), source, *DATA, "--plan"]) == 0
    assert "region: 3 groups by laplace" in " ".join(capsys.readouterr().out.split())
    assert run(["run", str(questions), source, *DATA, "--out", str(out)]) == 0
    assert pq.read_table(out / "all.parquet").column_names[-1] == "weight"
