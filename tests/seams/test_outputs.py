"""Outputs: nothing that is read is replaced, and what cannot be told is not called done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from onesided.cli import READER_GONE, run
from onesided.data import output
from onesided.ledger import open_ledger
from support.interrupting import COMMAND

ASK = [
    "--unit",
    "rows",
    "--policy",
    "age < 18",
    "--epsilon",
    "1",
    "--budget",
    "9",
    "--ledger",
    "a.ledger",
]
COUNT = ["--by", "age", "--max-groups", "1", "--mechanism", "one-sided"]
ROWS = pa.table({"id": list(range(5000)), "age": [18 + row % 5 for row in range(5000)]})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with data, where commands run."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(ROWS, tmp_path / "rows.parquet")
    (tmp_path / "parts").mkdir()
    for part in range(2):
        pyarrow.csv.write_csv(ROWS, tmp_path / "parts" / f"{part}.csv")
    (tmp_path / "folder").mkdir()
    pq.write_table(ROWS, tmp_path / "folder" / "a.parquet")
    (tmp_path / "soft.parquet").symlink_to("rows.parquet")
    os.link(tmp_path / "rows.parquet", tmp_path / "hard.parquet")
    (tmp_path / "ages.csv").write_text("18\n19\n20\n21\n22\n")
    (tmp_path / "onesided.toml").write_text(
        '[datasets.people]\nsource = "rows.parquet"\nunit = "rows"\n'
        'policy = "age < 18"\nbudget = 9\n'
        'ledger = "named.receipt.json"\n'
    )
    (tmp_path / "described.receipt.json").symlink_to("onesided.toml")
    return tmp_path


def charges(ledger: str = "a.ledger") -> int:
    if not Path(ledger).exists():
        return 0
    book = open_ledger(ledger, create=False)
    try:
        return sum(len(account.balance().charges) for account in book.accounts())
    finally:
        book.close()


SQL = "SELECT COUNT(*) AS n FROM data"
PUBLIC = ["--public", "ages=hard.parquet"]
DOMAIN = ["--domain", "age=ages.csv"]
REFUSED = {
    "the source": ["sample", "rows.parquet", *ASK, "--out", "rows.parquet"],
    "another way to it": ["sample", "rows.parquet", *ASK, "--out", "parts/../rows.parquet"],
    "a symlink to it": ["sample", "rows.parquet", *ASK, "--out", "soft.parquet"],
    "through a symlink": ["sample", "soft.parquet", *ASK, "--out", "rows.parquet"],
    "a hard link": ["count", "rows.parquet", *ASK, *COUNT, "--out", "hard.parquet"],
    "one of several": ["count", "parts/*.csv", *ASK, *COUNT, "--out", "parts/1.csv"],
    "one more of several": ["count", "parts/*.csv", *ASK, *COUNT, "--out", "parts/2.csv"],
    "one of a folder": ["sample", "folder", *ASK, "--out", "folder/a.parquet"],
    "one more in a folder": ["sample", "folder", *ASK, "--out", "folder/deep.parquet"],
    "a domain": ["count", "rows.parquet", *ASK, *COUNT, *DOMAIN, "--out", "ages.csv"],
    "the ledger": ["count", "rows.parquet", *ASK[:-1], "x.csv", *COUNT, "--out", "x.csv"],
    "a receipt in its place": ["count", "people", "--epsilon", "1", *COUNT, "--out", "named.csv"],
    "the description": ["sample", "people", "--epsilon", "1", "--out", "described.csv"],
    "a public table": ["sql", SQL, "rows.parquet", *ASK, *PUBLIC, "--out", "hard.parquet"],
    "trajectories": ["trajectories", "rows.parquet", "--out", "soft.parquet"],
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_command_needs_is_not_replaced(
    case: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert run([*REFUSED[case], "--overwrite"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "needed by this command" in said.err or "part of the data" in said.err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "targets",
    [["--export", "a.ledger"], ["--chart", "soft.svg"], ["--export", "x.svg", "--chart", "x.svg"]],
)
def test_a_ledger_is_not_replaced_by_what_is_said_of_it(
    targets: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["count", "rows.parquet", *ASK, *COUNT]) == 0
    (folder / "soft.svg").symlink_to("a.ledger")
    before = (folder / "a.ledger").read_bytes()
    assert run(["budget", "a.ledger", *targets, "--overwrite"]) == 2
    assert (folder / "a.ledger").read_bytes() == before
    assert not (folder / "x.svg").exists()


def test_pairs_are_not_replaced_by_a_chart(folder: Path) -> None:
    pairs = folder / "pairs.svg"
    pairs.write_text("[]")
    ask = ["audit", "one-sided", "--pairs", "pairs.svg", "--chart", "pairs.svg", "--overwrite"]
    assert run(ask) == 2
    assert pairs.read_text() == "[]"


def test_other_outputs_are_replaced_when_asked(folder: Path) -> None:
    (folder / "old.csv").write_text("old")
    assert run(["count", "rows.parquet", *ASK, *COUNT, "--out", "old.csv", "--overwrite"]) == 0
    assert (folder / "old.csv").read_text() != "old"
    assert (
        run(["count", "parts/*.csv", *ASK[:-1], "p.ledger", *COUNT, "--out", "parts/x.arrow"]) == 0
    )


@pytest.mark.parametrize("out", ["no/x.csv", "x" * 300 + ".csv", "x" * 245 + ".csv", "folder.csv"])
def test_an_unusable_output_is_found_before_the_charge(
    out: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "folder.csv").mkdir()
    assert run(["count", "rows.parquet", *ASK, *COUNT, "--out", out, "--overwrite"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert charges() == 0


LONG = "x" * 300


@pytest.mark.parametrize("name", [LONG, LONG + "/x", "\udcff\udcfe", "a\udc80.csv"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["count", "NAME", *ASK, *COUNT],
        ["count", "rows.parquet", *ASK, *COUNT, "--out", "NAME.csv"],
        ["count", "rows.parquet", *ASK[:-1], "NAME", *COUNT],
        ["count", "people", "--epsilon", "1", "--config", "NAME"],
        ["count", "rows.parquet", *ASK, *COUNT, "--domain", "age=NAME"],
        ["budget", "NAME"],
        ["budget", "a.ledger", "--export", "NAME"],
        ["trajectories", "NAME", "--out", "x.parquet"],
        ["trajectories", "rows.parquet", "--out", "NAME"],
        ["simulate", "--out", "NAME", "--scale", "0.002"],
        ["demo", "--out", "NAME", "--scale", "0.002"],
        ["audit", "one-sided", "--chart", "NAME"],
        ["audit", "one-sided", "--pairs", "NAME"],
        ["policy", "check", "age < 18", "--schema", "NAME"],
        ["sample", "rows.parquet", *ASK, "--out", "x.csv", "--stricter-policy", "NAME = 1"],
    ],
)
def test_names_that_no_file_can_have(
    name: str, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([each.replace("NAME", name) for each in arguments]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("onesided: ")
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert charges() == 0


def process(arguments: list[str], **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [COMMAND, *arguments], stderr=subprocess.PIPE, text=True, check=False, **options
    )


def closed() -> None:
    os.close(1)


FREE = [["mechanisms"], ["mechanisms", "--json"], ["policy", "check", "age < 18"]]
FREE += [["plan", "rows.parquet", *ASK, "--by", "age", "--max-groups", "1"]]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("ask", FREE)
@pytest.mark.parametrize("where", ["closed", "full"])
def test_an_answer_that_cannot_be_printed(ask: list[str], where: str) -> None:
    if where == "closed":
        answer = process(ask, preexec_fn=closed)
    else:
        with Path("/dev/full").open("w") as full:
            answer = process(ask, stdout=full)
    assert answer.returncode == 2
    assert answer.stderr.startswith("onesided: The answer could not be printed")
    assert answer.stderr.count("\n") == 1


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("out", "where"),
    [([], "closed"), ([], "full"), (["--out", "x.csv"], "full"), (["--json"], "closed")],
)
def test_a_release_that_was_paid_and_not_printed(out: list[str], where: str) -> None:
    ask = ["count", "rows.parquet", *ASK, *COUNT, *out]
    if where == "closed":
        answer = process(ask, preexec_fn=closed)
    else:
        with Path("/dev/full").open("w") as full:
            answer = process(ask, stdout=full)
    assert answer.returncode == 4
    assert answer.stderr.count("\n") == 1
    assert "charge stands" in answer.stderr
    assert "again is free" in answer.stderr
    assert Path("x.csv").exists() is bool(out and out[0] == "--out")
    assert charges() == 1
    assert run([*ask, "--overwrite"]) == 0
    assert charges() == 1


@pytest.mark.one_in(2)
@pytest.mark.parametrize("out", [[], ["--json"]])
def test_a_reader_that_goes_away(out: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    answer = process(["count", "rows.parquet", *ASK, *COUNT, *out], stdout=writing)
    os.close(writing)
    assert answer.returncode == READER_GONE
    assert answer.stderr == ""


@pytest.mark.parametrize("where", ["closed", "full"])
def test_an_error_that_cannot_be_told_has_its_exit_code(where: str) -> None:
    with Path("/dev/full").open("w") as full:
        told = {"stderr": full} if where == "full" else {"preexec_fn": lambda: os.close(2)}
        done = subprocess.run([COMMAND, "nonsense"], stdout=subprocess.PIPE, check=False, **told)
    assert done.returncode == 2
    assert done.stdout == b""


def test_a_closed_stream_does_not_become_a_file(folder: Path) -> None:
    """Standard output would be the first file that is opened, such as the ledger."""
    process(["sample", "rows.parquet", *ASK, "--out", "x.csv"], preexec_fn=closed)
    assert run(["budget", "a.ledger", "--verify"]) == 0
    program = (
        "import os, sys; from onesided.cli.printing import fill_closed_streams as fill; "
        "os.close(0); os.close(2); fill(); sys.exit(os.open('rows.parquet', os.O_RDONLY) < 3)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_terminal_without_our_letters() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    answer = subprocess.run(
        [COMMAND, "count", "rows.parquet", *ASK, *COUNT], capture_output=True, env=environment
    )
    assert answer.returncode == 0
    assert b"\\u03b5 = 1" in answer.stdout


def test_of_two_writers_the_loser_is_told_after_its_charge(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from onesided.session import Dataset

    counted = Dataset.count

    def count(*arguments: object, **options: object) -> object:
        answer = counted(*arguments, **options)  # type: ignore[arg-type]
        Path("x.csv").write_text("theirs")
        return answer

    monkeypatch.setattr(Dataset, "count", count)
    ask = ["count", "rows.parquet", *ASK, *COUNT]
    assert run([*ask, "--out", "x.csv"]) == 4
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "exists already" in said
    assert "charge stands" in said
    assert Path("x.csv").read_text() == "theirs"
    assert run([*ask, "--out", "y.csv"]) == 0
    assert charges() == 1


@pytest.mark.parametrize("links", [True, False])
def test_only_one_of_many_writers_wins(
    links: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each target is whole and belongs to one writer, also where there are no hard links."""
    from onesided.errors import OutputError

    if not links:

        def refuse(*_: object, **__: object) -> None:
            raise PermissionError

        monkeypatch.setattr(output.os, "link", refuse)
    targets = [folder / "x.csv", folder / "x.receipt.json"]
    start = threading.Barrier(4 if links else 1)
    won: list[str] = []

    def write(name: str) -> None:
        try:
            with output.new_files(targets) as workspace:
                for target in targets:
                    (workspace / target.name).write_text(name)
                start.wait()
            won.append(name)
        except OutputError:
            pass

    threads = [threading.Thread(target=write, args=(str(n),)) for n in range(4 if links else 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert {target.read_text() for target in targets} == set(won)


def write_both(targets: list[Path]) -> None:
    with output.new_files(targets) as workspace:
        for target in targets:
            (workspace / target.name).write_text("ours")


def test_two_targets_appear_together_or_not_at_all(folder: Path) -> None:
    from onesided.errors import OutputError

    targets = [folder / "x.csv", folder / "x.receipt.json"]
    linked = output.os.link

    def link(source: Path, target: Path) -> None:
        if target == targets[1]:
            target.write_text("theirs")
        linked(source, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(output.os, "link", link)
        with pytest.raises(OutputError):
            write_both(targets)
    assert not targets[0].exists()
    assert targets[1].read_text() == "theirs"


def test_numbers_that_are_not_finite_are_texts_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    pq.write_table(pa.table({"f": [float("nan")] * 9, "age": [40] * 9}), "nan.parquet")
    ask = [
        "--unit",
        "rows",
        "--policy",
        "age < 18",
        "--epsilon",
        "1000",
        "--yes",
        "--by",
        "f",
        *COUNT[2:],
        "--json",
    ]
    assert run(["count", "nan.parquet", *ask]) == 0
    rows = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["rows"]
    assert [row["f"] for row in rows] == ["nan"]
