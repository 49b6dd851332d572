"""Data sets by name: what a description file may say, and the one sentence for what it may not."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import onesided as osd
from onesided.errors import InputError, SourceError
from onesided.session.description import _KEYS, descriptions
from support.visits import POLICY, UNIT, write_visits

GOOD = f"""
[datasets.visits]
source = "visits.parquet"
unit = ["device", "day"]
policy = "{POLICY}"
budget = 0.5
ledger = "visits.ledger"
partition_by = "day"

[datasets.visits.domains]
room = ["cafe", "hall", "*"]
"weekday(day)" = "days.txt"
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "onesided.toml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_visits(tmp_path, devices=40)
    (tmp_path / "days.txt").write_text("1\n2\n3\n")
    return tmp_path


def test_a_data_set_opens_by_name_from_anywhere(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = write(folder, GOOD)
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    with osd.load("visits", file=file) as dataset:
        assert dataset.name == "visits"
        assert dataset.unit.columns == UNIT
        assert dataset.policy == osd.Policy(POLICY)
        release = dataset.count("room", epsilon="0.25", max_groups=1, mechanism="laplace")
        days = dataset.count("weekday(day)", epsilon="0.25", mechanism="laplace")
        assert dataset.budget.left == 0
    assert release.table.column("room").to_pylist() == ["cafe", "hall", None]
    assert days.table.column("weekday(day)").to_pylist() == [1, 2, 3]
    assert (folder / "visits.ledger").exists()


def test_the_usual_file_is_the_one_in_the_working_directory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, GOOD)
    monkeypatch.chdir(folder)
    with osd.load("visits", rng=osd.seeded(1)) as dataset:
        dataset.count("room", epsilon="0.25", max_groups=1, mechanism="one-sided")
    with osd.load("visits") as dataset:
        assert dataset.budget.spent == Fraction(1, 4)


def test_a_name_of_its_own_and_addresses_stay_as_they_are(tmp_path: Path) -> None:
    text = """
    [datasets.a]
    table = "public.visits"
    unit = "id,date(ts)"
    connection = "postgresql://host/db"
    policy = "TRUE"
    ledger = "postgresql://host/ledger"
    name = "another"
    version = "2024-05"
    memory_limit = "1GB"
    statement_timeout = 30
    public = { rooms = "rooms.csv" }
    """
    arguments = descriptions(write(tmp_path, text))["a"].arguments
    assert arguments == {
        "table": "public.visits",
        "connection": "postgresql://host/db",
        "policy": "TRUE",
        "ledger": "postgresql://host/ledger",
        "name": "another",
        "version": "2024-05",
        "memory_limit": "1GB",
        "statement_timeout": 30.0,
        "public": {"rooms": str(tmp_path / "rooms.csv")},
        "unit": "id,date(ts)",
    }


HEAD = '[datasets.visits]\nsource = "visits.parquet"\npolicy = "TRUE"\nunit = "rows"\n'
BAD = {
    "no TOML": ("[datasets", "is not TOML"),
    "nothing": ("", "must hold tables"),
    "another table": ("[data.visits]\nsource = 'x'", "must hold tables"),
    "no table": ("[datasets]\nvisits = 3", "must be a table"),
    "unknown key": (HEAD + "polcy = 'TRUE'", "unknown key 'polcy'"),
    "source": ("[datasets.visits]\nsource = 3\npolicy = 'TRUE'", "source of visits must be a text"),
    "empty text": ("[datasets.visits]\nsource = ''\npolicy = 'TRUE'", "must be a text"),
    "unit": (HEAD.replace('"rows"', "[1, 2]"), "list of column names"),
    "no unit": (HEAD.replace('unit = "rows"', ""), "needs a unit"),
    "budget": (HEAD + "budget = 'lots'", "number above 0"),
    "budget below 0": (HEAD + "budget = -1", "number above 0"),
    "budget of a date": (HEAD + "budget = 2024-01-01", "number above 0"),
    "public": (HEAD + "public = 'rooms.csv'", "table of paths"),
    "timeout": (HEAD + "statement_timeout = 0", "number of seconds"),
    "domains": (HEAD + "domains = 3", "table of lists"),
    "domain": (HEAD + "domains = {room = 3}", "must be a text"),
    "domain file": (HEAD + "domains = {room = 'nowhere.txt'}", "names of files"),
    "no policy": ("[datasets.visits]\nsource = 'x'", "needs a policy"),
    "no source": (
        "[datasets.visits]\nunit = 'rows'\npolicy = 'TRUE'",
        "either a source or a table",
    ),
    "both": (HEAD + "table = 'visits'", "either a source or a table"),
    "another name": (HEAD.replace("visits]", "other]"), "no data set 'visits'; it has other"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_description_says_one_sentence(folder: Path, case: str) -> None:
    text, word = BAD[case]
    before = sorted(folder.iterdir())
    file = write(folder, text)
    with pytest.raises(SourceError) as caught:
        osd.load("visits", file)
    assert word in str(caught.value)
    assert "\n" not in str(caught.value)
    assert sorted(folder.iterdir()) == sorted([*before, file])


def test_a_missing_or_unreadable_file_says_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no file"):
        osd.load("visits", tmp_path / "nowhere.toml")
    with pytest.raises(InputError, match="cannot be read"):
        osd.load("visits", tmp_path)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="cannot be read"):
        osd.load("visits", tmp_path / "binary.toml")


def test_the_documentation_describes_a_data_set(tmp_path: Path) -> None:
    page = Path(__file__).parents[3] / "docs" / "data-set-files.md"
    example = page.read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
    described = descriptions(write(tmp_path, example))["visits"]
    assert described.arguments["domains"]["room"][-1] == osd.OTHER
    osd.Policy(described.arguments["policy"])
    keys = {line.split("|")[1] for line in page.read_text().splitlines() if line.startswith("| `")}
    assert {key for cell in keys for key in cell.split("`")[1::2]} == set(_KEYS)
