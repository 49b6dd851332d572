"""What the documentation prints works: for the embedded engine it runs, all else is parsed.

A page is run from its first block to its last, in a folder with the data that pages speak of, and
with the names that they take for granted. All in one process.
"""

from __future__ import annotations

import ast
import gzip
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.cli import run
from onesided.cli.program import cli
from support.payments import payments

HOUSE = Path(__file__).parents[2]
DOCS = HOUSE / "docs"
#: Run by tests of their own, or with what a server, a cluster or a kernel of their own has.
PARSED = {
    "clients.md",
    "postgres.md",
    "spark.md",
    "howto/run-on-spark.md",
    *(f"contributing/{path.name}" for path in (DOCS / "contributing").glob("*.md")),
    *(f"serving/{path.name}" for path in (DOCS / "serving").glob("*.md")),
}
#: Audits take the seconds that they say, buildings are simulated, and charts are drawn.
LONG = {
    "audit.md",
    "showing.md",
    "newcomer.md",
    "howto/publish-a-trace.md",
    "howto/share-a-budget.md",
}
#: A page whose commands find something to look at.
FINDS = {"check.md"}
ELSEWHERE = re.compile(r"postgresql://|https://|s3a://|\.\.\.|connection=")
ROOMS = ["cafe", "clinic", "hall", "lab"]
DESCRIBED = """
[datasets.visits]
source = "visits.parquet"
unit = ["device", "day"]
policy = "room = 'clinic' OR NOT consent"
budget = 2
ledger = "described.ledger"
"""


@dataclass(frozen=True)
class PrintedBlock:
    """A block of code on a page, in the language that it says."""

    page: str
    language: str
    text: str


def blocks() -> Iterator[PrintedBlock]:
    for path in sorted(DOCS.rglob("*.md")):
        page = path.relative_to(DOCS).as_posix()
        text = path.read_text(encoding="utf-8")
        for language, block in re.findall(r"^```(\w*)[^\n]*\n(.*?)^```", text, re.M | re.S):
            yield PrintedBlock(page, language, block)


BLOCKS = tuple(blocks())
RUN = sorted({each.page for each in BLOCKS if each.language in ("python", "console")} - PARSED)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables that pages speak of."""
    folder = tmp_path_factory.mktemp("data")
    table = payments(devices=60)
    many = table.num_rows
    moments = [3_600_000_000 * (each % 96) for each in range(many)]
    table = table.drop_columns(["ts"])
    for name, values in (
        ("ts", pa.array(moments, pa.timestamp("us", "UTC"))),
        ("minutes", pa.array([each % 60 for each in range(many)])),
    ):
        table = table.append_column(name, values)
    pq.write_table(table, folder / "visits.parquet")
    devices = sorted(set(table["device"].to_pylist()))
    people = {"id": devices, "opted_out": [each % 9 == 0 for each in range(len(devices))]}
    pq.write_table(pa.table(people), folder / "people.parquet")
    (folder / "rooms.csv").write_text("room,building\n" + "".join(f"{r},main\n" for r in ROOMS))
    lines = "".join(f"{n % 30};0{1 + n % 9}.02.2024;{ROOMS[n % 4]};1,5;true\n" for n in range(200))
    text = "device;day;room;paid;consent\n" + lines
    (folder / "visits.csv.gz").write_bytes(gzip.compress(text.encode("cp1252")))
    (folder / "edges.csv").write_text("from,to,seconds\nstreet,hall,10\nhall,yard,20\n")
    (folder / "questions.sql").write_text(
        "SELECT room, COUNT(DISTINCT device, day) FROM visits GROUP BY room;"
    )
    (folder / "onesided.toml").write_text(DESCRIBED)
    return folder


def taken_for_granted(page: str) -> dict[str, Any]:
    """The names that pages use without saying where they come from."""
    if page == "weights.md":
        return of_people()
    table = pq.read_table("visits.parquet")
    return {
        "osd": osd,
        "polars": polars,
        "duckdb": __import__("duckdb"),
        "ds": osd.open(
            table,
            unit=["device", "day"],
            policy="room = 'clinic' OR NOT consent",
            budget=30,
            name="visits",
            rng=osd.seeded(7),
        ),
        "rooms": ROOMS,
        "x": [9, 4, 0],
        "x_ns": [7, 4, 0],
        "days_of_the_year": sorted(set(table["day"].to_pylist())),
    }


def of_people() -> dict[str, Any]:
    """A table of people, and two counts of them that were released."""
    ages, regions = list(range(10, 90, 10)), ["east", "north", "south", "west"]
    many = 20_000
    table = pa.table(
        {
            "age": [10 + each % 80 for each in range(many)],
            "region": [regions[each // 80 % 4] for each in range(many)],
            "opted_out": [each % 7 == 0 for each in range(many)],
        }
    )
    ds = osd.open(table, unit="rows", policy="opted_out", budget=30, rng=osd.seeded(7))
    domain = {"bucket(age, 10)": ages, "region": regions}
    by_age, by_region = (
        ds.count(by=key, domain={key: domain[key]}, epsilon=1, mechanism="laplace")
        for key in domain
    )
    return {"osd": osd, "ds": ds, "by_age": by_age, "by_region": by_region}


@pytest.mark.parametrize(
    "page", [pytest.param(p, marks=pytest.mark.soak if p in LONG else ()) for p in RUN]
)
def test_a_page_runs(
    page: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(data, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    names = taken_for_granted(page)
    for block in BLOCKS:
        if block.page != page or ELSEWHERE.search(block.text):
            continue
        if block.language == "python":
            exec(compile(block.text, page, "exec"), names)
        elif block.language == "console":
            for command in re.findall(r"^\$ onesided (.*)$", block.text, re.MULTILINE):
                assert run(shlex.split(command)) == (page in FINDS), command


def test_every_block_is_what_it_says() -> None:
    """Python and TOML parse; a command has the options that are printed with it."""
    for block in BLOCKS:
        if block.page.startswith("contributing/"):
            continue  # these have tests of their own, and show parts of files
        if block.language == "python":
            ast.parse(block.text, block.page)
        elif block.language == "toml":
            tomllib.loads(block.text)
        joined = re.sub(r"\\\n\s*", "", block.text)
        for line in re.findall(r"^(?:\$ )?onesided (.*)$", joined, re.MULTILINE):
            assert not unknown_options(line), f"{block.page}: onesided {line}"


def unknown_options(line: str) -> list[str]:
    words = shlex.split(line, comments=True)
    command: click.Command | None = cli
    known: set[str] = set()
    while isinstance(command, click.Group):
        known |= options(command)
        name = next((each for each in words if command.get_command(None, each)), None)
        if name is None:  # `onesided audit NAME` is short for one of its commands
            below = (command.get_command(None, each) for each in command.list_commands(None))
            known = known.union(*(options(each) for each in below if each is not None))
            break
        words.remove(name)
        command = command.get_command(None, name)
    assert command is not None
    known |= options(command)
    return [each for each in words if re.match("--[a-z]", each) and each.split("=")[0] not in known]


def options(command: click.Command) -> set[str]:
    context = click.Context(command)
    return {
        name for each in command.get_params(context) for name in (*each.opts, *each.secondary_opts)
    }


def test_an_option_that_is_not_there_is_found() -> None:
    assert unknown_options("count visits --epsilon 1 --by room") == []
    assert unknown_options("count visits --epslon 1") == ["--epslon"]
    assert unknown_options("plan sum visits --bund 1") == ["--bund"]
