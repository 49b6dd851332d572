"""What people type wrong: each answer is one sentence that names the mend, and costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import onesided as osd
from onesided.cli import run
from onesided.ledger import open_ledger
from support.visits import POLICY, write_visits

LEDGER = "visits.ledger"
DATA = ["visits.parquet", "--unit", "device,day", "--policy", POLICY]
PAID = ["--epsilon", "1", "--ledger", LEDGER, "--budget", "5"]
ASK = [*DATA, *PAID]
BY_ROOM = ["--by", "room", "--max-groups", "2"]
SELECT = "SELECT room, COUNT(DISTINCT device, day) FROM data GROUP BY room"

#: What was typed, and the words of the answer that name the mend.
TYPED: dict[str, tuple[list[str], str]] = {
    "a command misspelt": (["cuont", *ASK], "did you mean count?"),
    "an option misspelt": (["count", *ASK, "--max-group", "2"], "--max-groups"),
    "no unit": (["count", "visits.parquet", "--policy", POLICY, *PAID], "--unit rows"),
    "no policy": (["count", "visits.parquet", "--unit", "device", *PAID], "--policy"),
    "no source": (["count", *PAID], "Name the data"),
    "no epsilon": (["count", *DATA], "'--epsilon'"),
    "no file": (["count", "visit.parquet", *ASK[1:]], "check the path"),
    "epsilon zero": (["count", *DATA, "--epsilon", "0"], "epsilon must be greater than 0"),
    "epsilon below zero": (["count", *DATA, "--epsilon", "-1"], "epsilon must be greater"),
    "epsilon in words": (["count", *DATA, "--epsilon", "one"], "epsilon must be a finite number"),
    "a decimal comma": (["count", *DATA, "--epsilon", "0,5"], "such as 0.5"),
    "a large epsilon": (["count", *DATA, *PAID, "--epsilon", "11"], "--yes"),
    "a budget of zero": (["count", *DATA, "--epsilon", "1", "--budget", "0"], "budget must be"),
    "a unit misspelt": (["count", *DATA, *PAID, "--unit", "devise"], "did you mean device?"),
    "a group misspelt": (["count", *ASK, "--by", "rom"], "did you mean room?"),
    "a group twice": (["count", *ASK, "--by", "room,room"], "once"),
    "no bound on groups": (["count", *ASK, "--by", "room"], "--max-groups"),
    "bound of nothing": (["count", *ASK, "--by", "room", "--max-groups", "0"], "from 1"),
    "a mechanism misspelt": (["count", *ASK, "--mechanism", "lapace"], "did you mean laplace?"),
    "one that is broken": (["count", *ASK, "--mechanism", "truman"], "not released"),
    "a column of a policy": (
        ["count", *ASK, "--policy", "rooms = 'clinic'"],
        "did you mean room?",
    ),
    "one equals sign too many": (["count", *ASK, "--policy", "room == = 'x'"], "not valid SQL"),
    "text and number": (["count", *ASK, "--policy", "room > 5"], "room"),
    "a function of SQL": (["count", *ASK, "--where", "length(room) > 3"], "page on policies"),
    "a keyword as a column": (["count", *ASK, "--where", "select = 1"], 'around it: "select"'),
    "a domain of no key": (["count", *ASK, *BY_ROOM, "--domain", "rom=a,b"], "did you mean room?"),
    "a domain without values": (["count", *ASK, *BY_ROOM, "--domain", "room"], "NAME=VALUE"),
    "a part that is none": (["count", *ASK, "--part", "day=2024-01-01"], "--partition-by"),
    "a partition that is none": (["count", *ASK, "--partition-by", "room"], "--partition-by"),
    "a sum of texts": (["sum", *ASK, "--column", "room", "--bound", "1"], "numbers"),
    "a sum without a column": (["sum", *ASK, "--bound", "1"], "'--column'"),
    "a bound in words": (["sum", *ASK, "--column", "device", "--bound", "much"], "bound"),
    "a sample to nowhere": (["sample", *ASK], "--out"),
    "a sample of no format": (["sample", *ASK, "--out", "x.xlsx"], "format"),
    "no such column": (
        ["sample", *ASK, "--columns", "rom", "--out", "x.csv"],
        "did you mean room?",
    ),
    "the source as output": (["sample", *ASK, "--out", "visits.parquet"], "visits.parquet"),
    "no SELECT": (["sql", "room", *ASK], "SELECT"),
    "a star": (["sql", "SELECT * FROM data", *ASK], "ask for a sample"),
    "units that are none": (["sql", SELECT.replace(", day", ""), *ASK], "device, day"),
    "another table": (["sql", SELECT.replace("data", "visit"), *ASK], "visits"),
    "a policy for another file": (["policy", "check", "rom = 'x'", "visits.parquet"], "room?"),
    "a data set by name": (["count", "visits", *PAID], "--policy"),
    "a bad memory limit": (["count", *ASK, "--memory-limit", "lots"], "memory limit"),
    "an old ledger": (["budget", "visit.ledger"], "no ledger visit.ledger"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_visits(tmp_path, devices=20)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spent(ledger: Path) -> float:
    if not ledger.exists():
        return 0
    book = open_ledger(ledger, create=False)
    try:
        return sum(float(account.balance().spent) for account in book.accounts())
    finally:
        book.close()


def is_one_sentence(text: str) -> bool:
    return "\n" not in text and text.endswith((".", "?", "!")) and "Traceback" not in text


@pytest.mark.parametrize("case", TYPED)
def test_what_was_typed_is_answered_with_its_mend(
    case: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed, mend = TYPED[case]
    before = {path.name for path in folder.iterdir()}
    assert run(typed) == 2
    told = capsys.readouterr()
    assert told.out == ""
    sentence = told.err.removeprefix("onesided: ").removesuffix("\n")
    assert is_one_sentence(sentence), sentence
    assert mend in sentence
    assert {path.name for path in folder.iterdir()} == before
    assert spent(folder / LEDGER) == 0


#: What was called, and the words of the answer that name the mend.
CALLED: dict[str, tuple[Callable[[Any], object], str]] = {
    "a keyword misspelt": (
        lambda data: data.count("room", epsilon=1, maxgroups=2),
        "did you mean max_groups?",
    ),
    "a keyword of a sum": (
        lambda data: data.sum("device", epsilon=1, bounds=5),
        "sum has no bounds (did you mean bound?)",
    ),
    "a parameter of no mechanism": (
        lambda data: data.count(epsilon=1, mechanism="laplace", wrokload=1),
        "laplace has no parameter wrokload",
    ),
    "no epsilon": (
        lambda data: data.count("room"),
        "count needs epsilon, such as count(…, epsilon=…)",
    ),
    "no bound": (lambda data: data.sum("device", epsilon=1), "sum needs bound, such as"),
    "by position": (lambda data: data.count("room", None, 1), "by name"),
    "a large epsilon": (lambda data: data.sample(20), "yes=True"),
    "a misspelt keyword of a statement": (
        lambda data: data.sql(SELECT, epsilon=1, max_group=2),
        "did you mean max_groups?",
    ),
    "a plan": (lambda data: data.plan("rom", epsilon=1), "did you mean room?"),
    "a check": (lambda data: data.check(secrets=True), "did you mean secret?"),
}


@pytest.mark.parametrize("case", CALLED)
def test_what_was_called_is_answered_with_its_mend(case: str, folder: Path) -> None:
    asked, mend = CALLED[case]
    with osd.open("visits.parquet", unit="device,day", policy=POLICY, budget=5) as data:
        with pytest.raises(osd.InputError) as caught:
            asked(data)
        assert is_one_sentence(str(caught.value)), caught.value
        assert mend in str(caught.value)
        assert data.budget.spent == 0


def test_a_value_that_is_nearly_declared_is_answered(folder: Path) -> None:
    domains = {"room": ["cafe", "clinic", "hall", "lab", "office"]}
    options = {"unit": "device,day", "policy": POLICY, "budget": 5, "domains": domains}
    with osd.open("visits.parquet", **options) as data:
        for where in ("room = 'caffe'", "room IN ('lab', 'Caffe')", "'caffe' <> room OR consent"):
            with pytest.raises(
                osd.InputError, match=r"no declared value of room \(did you mean cafe"
            ):
                data.sample(1, where=where)
        assert data.budget.spent == 0
        data.sample(1, where="room = 'attic'")  # like none of them: nothing is said


def test_a_unit_has_to_be_said(folder: Path) -> None:
    with pytest.raises(osd.InputError, match='unit="rows"'):
        osd.open("visits.parquet", policy=POLICY, budget=5)
    with pytest.raises(osd.InputError, match=r"open has no polcy \(did you mean policy\?\)"):
        osd.open("visits.parquet", polcy=POLICY, unit="rows")  # type: ignore[call-arg]


def test_a_large_epsilon_can_be_meant(folder: Path) -> None:
    assert run(["count", *DATA, "--epsilon", "11", "--yes"]) == 0
