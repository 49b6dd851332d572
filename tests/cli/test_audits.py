"""The commands `audit` and `attack`."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time

import pytest
from click.testing import CliRunner, Result

from onesided.cli.attacks import attack
from onesided.cli.audit import audit
from onesided.errors import CheckFailed, InputError, OutputError, RequestError


def run(command, *arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def test_a_sound_mechanism_passes_the_exact_audit():
    result = run(audit, "one-sided", "--method", "exact", "--json")
    assert result.exit_code == 0
    public = json.loads(result.stdout)
    assert not public["rejected"]
    assert {each["verdict"] for each in public["exact"][0]["findings"]} == {"verified"}
    assert public["runs"] is None


def test_a_broken_mechanism_is_a_failed_check(tmp_path: Path):
    chart = tmp_path / "audit.svg"
    result = run(audit, "all-ns", "--method", "exact", "--chart", str(chart))
    assert isinstance(result.exception, CheckFailed)
    assert result.exception.exit_code == 1
    assert "unbounded" in result.stdout or "inf" in result.stdout
    assert chart.read_text().startswith("<svg")


def test_pairs_may_be_given(tmp_path: Path):
    pairs = tmp_path / "pairs.json"
    before, after = {"all": [1], "nonsensitive": [0]}, {"all": [1], "nonsensitive": [1]}
    pairs.write_text(json.dumps([[before, after]]))
    arguments = ("--method", "runs", "--time", "2", "--workers", "1", "--pairs", str(pairs))
    result = run(audit, "suppress", *arguments, "--json")
    assert isinstance(result.exception, CheckFailed)
    assert json.loads(result.stdout)["runs"]["pairs_tried"] == 1


def test_the_time_is_that_of_the_whole_command():
    """Judged by CPU time: on the clock a busy machine may take any time."""
    before = process_time()
    result = run(audit, "dawa", "--time", "3", "--workers", "1", "--json")
    assert result.exit_code == 0
    assert process_time() - before < 3 * 1.2 + 2
    public = json.loads(result.stdout)
    assert public["exact_ran_out_of_time"] or public["exact"]


def test_what_was_cut_short_is_said():
    result = run(audit, "residual", "--time", "0.5", "--workers", "1")
    assert result.exit_code == 0
    assert "ran out" in result.stdout


@pytest.mark.parametrize("time", ["0", "-1", "nan", "inf"])
def test_a_time_that_makes_no_sense_is_refused(time: str):
    assert isinstance(run(audit, "one-sided", "--time", time).exception, RequestError)


@pytest.mark.parametrize("content", ["{", "[[1, 2]]", '[[{"all": [1]}, {"all": [1]}]]'])
def test_pairs_that_make_no_sense_are_refused(tmp_path: Path, content: str):
    pairs = tmp_path / "pairs.json"
    pairs.write_text(content)
    result = run(audit, "suppress", "--method", "runs", "--pairs", str(pairs))
    assert isinstance(result.exception, RequestError)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"all": [1, 2], "nonsensitive": [0, 0]}, {"all": [1], "nonsensitive": [1]}),
        ({"all": [1], "nonsensitive": [1]}, {"all": [1], "nonsensitive": [0]}),
        ({"all": [2], "nonsensitive": [0]}, {"all": [2], "nonsensitive": [2]}),
        ({"all": [2], "nonsensitive": [0]}, {"all": [1], "nonsensitive": [0]}),
    ],
    ids=["other bins", "a non-sensitive unit leaves", "two units", "one unit fewer"],
)
def test_pairs_that_are_no_neighbours_refute_nothing(tmp_path: Path, before, after):
    pairs = tmp_path / "pairs.json"
    pairs.write_text(json.dumps([[before, after]]))
    result = run(audit, "laplace", "--method", "runs", "--pairs", str(pairs))
    assert isinstance(result.exception, RequestError)
    assert "no neighbours" in str(result.exception)


def test_rows_cannot_be_given_as_histograms(tmp_path: Path):
    result = run(audit, "content-coins", "--pairs", str(tmp_path / "pairs.json"))
    assert isinstance(result.exception, RequestError)


def test_a_chart_that_cannot_be_written_is_refused_before_the_work(tmp_path: Path):
    chart = ("--chart", str(tmp_path / "missing" / "chart.svg"))
    assert isinstance(run(audit, "auto", *chart).exception, OutputError)
    assert isinstance(run(attack, *chart).exception, OutputError)


def test_attacks_say_what_was_claimed_and_what_was_measured(tmp_path: Path):
    chart = tmp_path / "attack.svg"
    result = run(attack, "--trials", "60", "--json", "--chart", str(chart))
    assert result.exit_code == 0
    scenes = json.loads(result.stdout)
    assert len(scenes) == 3
    independent = {each["release"]: each for each in next(iter(scenes.values()))}
    assert independent["Truman"]["measured"] == "unbounded"
    assert independent["OsdpRR, ε=1"]["within_bound"]
    assert chart.exists()


def test_an_attack_that_succeeds_is_a_failed_check():
    assert isinstance(run(attack, "--against", "All-NS", "--trials", "30").exception, CheckFailed)
    assert run(attack, "--against", "OsdpRR", "--trials", "30").exit_code == 0


def test_nobody_of_that_name():
    assert isinstance(run(attack, "--against", "nobody").exception, RequestError)


def test_an_attacker_who_knows_the_map(tmp_path: Path):
    chart = tmp_path / "building.svg"
    arguments = ("--map", "--people", "60", "--chart", str(chart))
    result = run(attack, *arguments)
    assert result.exit_code == 0
    assert "dead end" in result.stdout
    assert "smokers yard" in chart.read_text()
    again = run(attack, "--map", "--people", "60", "--json")
    assert [each["name"] for each in json.loads(again.stdout)][-1] == "dead end"
    assert isinstance(run(attack, "--map", "--people", "3").exception, InputError)
