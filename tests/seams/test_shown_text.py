"""Text from data, policies and names is shown as it is: no command lets any of it act."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onesided.charts.answers import DrawnAnswer, answer_picture
from onesided.charts.parts import DrawnFigure, DrawnKey
from onesided.cli import run
from onesided.cli.output import show_facts, show_table
from onesided.report.page import Page
from onesided.visible import json_text, visible

#: What a cell holds, and how it is shown.
SHOWN = {
    "[/x]": "[/x]",
    "[red]r[/red]": "[red]r[/red]",
    ":smile:": ":smile:",
    "esc\x1b[31m": "esc\\x1b[31m",
    "bell\x07nul\x00": "bell\\x07nul\\x00",
    "csi\x9b31m": "csi\\x9b31m",
    "del\x7f": "del\\x7f",
    "turned\u202egpj": "turned\\u202egpj",
    "apart\u2066x": "apart\\u2066x",
    "two\nlines\u2028and\r": "two\\nlines\\u2028and\\r",
    "Straße 東\u3000京 \U0001f600": "Straße 東\u3000京 \U0001f600",
    "\u0645\u06cc\u200c\u062e": "\u0645\u06cc\u200c\u062e",
}
TRAP = "[/x]\x1b[31m\u202e"
ASK = ["--unit", "rows", "--policy", "age < 18", "--epsilon", "1000", "--yes"]
KEYS = ["--by", "room", "--max-groups", "1", "--mechanism", "one-sided"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Rows for each of the texts, and a column whose name is as bad."""
    rooms = [text for text in SHOWN for _ in range(3)]
    path = tmp_path / "[x].parquet"
    columns = {"room": rooms, "age": [40] * len(rooms), TRAP: [1] * len(rooms)}
    pq.write_table(pa.table(columns), path)
    return path


def harmless(text: str) -> bool:
    return all(
        letter in "\n\u200c" or letter.isprintable() or unicodedata.category(letter) == "Zs"
        for letter in text
    )


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """What a command says, in which nothing acts."""
    shown = capsys.readouterr()
    assert harmless(shown.out + shown.err)
    assert shown.err.count("\n") <= 1
    return shown.out + shown.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["count", *KEYS],
        ["sum", "--column", "age", "--bound", "50", *KEYS[:4]],
        ["mean", "--column", "age", "--bound", "50", *KEYS[:4]],
        ["sql", "SELECT room, COUNT(*) AS n FROM data GROUP BY room", *KEYS[2:]],
    ],
)
def test_a_released_key_is_shown_as_it_is(
    arguments: list[str], source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command, *rest = arguments
    query = [rest.pop(0)] if command == "sql" else []
    assert run([command, *query, str(source), *ASK, *rest]) == 0
    text = said(capsys)
    for letters in SHOWN.values():
        assert f"│ {letters}" in text
    assert run([command, *query, str(source), *ASK, *rest, "--json"]) == 0
    rows = json.loads(said(capsys))["rows"]
    assert {row["room"] for row in rows} == set(SHOWN)


def test_names_policies_and_values_in_every_other_command(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger, out = str(tmp_path / "a.ledger"), tmp_path / "[b]\x1b.csv"
    policy = f"room = '{TRAP}' OR age < 18"
    account = [
        "--unit",
        "rows",
        "--policy",
        policy,
        "--ledger",
        ledger,
        "--budget",
        "9",
        "--name",
        "[/x]",
    ]
    ask = [str(source), *account, "--epsilon", "1", "--data-version", "[/v]"]
    assert run(["plan", *ask, "--by", "room", "--where", f"room <> '{TRAP}'"]) == 0
    assert run(["sample", *ask, "--out", str(out)]) == 0
    where = ["--where", f"room <> '{TRAP}'"]
    assert run(["count", *ask, *KEYS, *where, "--out", str(tmp_path / "c.csv")]) == 0
    assert run(["budget", ledger]) == 0
    assert visible(TRAP) in said(capsys).replace("│\n", "")
    export, chart = tmp_path / "e.json", tmp_path / "c.svg"
    for ending in ([], ["--json"], ["--verify"]):
        assert run(["budget", ledger, *ending]) == 0
    assert run(["budget", ledger, "--export", str(export), "--chart", str(chart)]) == 0
    raised = ["--raise", "[/x]", "--to", "10", "--who", "[/x]", "--why", "[b]why"]
    assert run(["budget", ledger, *raised]) == 0
    said(capsys)
    for file in (export, chart, out.with_suffix(".receipt.json"), tmp_path / "c.receipt.json"):
        assert harmless(file.read_text(encoding="utf-8")), file
    assert run(["policy", "check", policy, "--schema", str(source)]) == 0
    assert run(["policy", "check", policy, "--json"]) == 0
    assert visible(TRAP).replace("\\", "\\\\") not in said(capsys)
    two = [f"room = '{TRAP}'", f"room = 'x{TRAP}'"]
    assert run(["policy", "relaxes", *two]) == 1
    assert visible(TRAP) in said(capsys)
    assert run(["policy", "relaxes", *two, "--json"]) == 1
    assert json.loads(said(capsys))["counterexample"] == {"room": TRAP}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["count", TRAP, *ASK], 2),
        (["count", "SOURCE", "--unit", "rows", "--policy", f'"{TRAP}x" = 1', "--epsilon", "1"], 2),
        (["count", "SOURCE", *ASK, "--where", TRAP], 2),
        (["count", "SOURCE", *ASK, "--mechanism", TRAP], 2),
        (["count", "SOURCE", *ASK, "--out", TRAP], 2),
        (["sample", "SOURCE", *ASK, "--columns", TRAP + "x", "--out", "x.csv"], 2),
        (["sql", TRAP, "SOURCE", *ASK], 2),
        (["budget", TRAP], 2),
        (["audit", TRAP], 2),
        (["attack", "--against", TRAP], 2),
        (["policy", "check", TRAP], 2),
        (["simulate", "--scale", "no", "--out", TRAP], 2),
        (["trajectories", TRAP, "--out", "x.parquet"], 2),
        (["reproduce", TRAP, "--out", "x"], 2),
        ([TRAP], 2),
        (["audit", "x", "--method", TRAP], 2),
    ],
)
def test_an_error_quotes_what_was_typed_in_one_line(
    arguments: list[str],
    code: int,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([str(source) if each == "SOURCE" else each for each in arguments]) == code
    text = said(capsys)
    assert text.startswith("onesided: ")
    assert text.count("\n") == 1


def test_titles_columns_and_names_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(TRAP, ["[bold]", TRAP], [["[/]", "\ud800"], [None, b"\x1b"]])
    show_facts({"[red]": TRAP})
    text = said(capsys)
    for letters in ("[bold]", "[/]", "\\ud800", "[red]", visible(TRAP)):
        assert letters in text


def test_pages_and_charts_show_what_acts(tmp_path: Path) -> None:
    page = Page(TRAP)
    page.heading(TRAP)
    page.paragraph(f"<b>{TRAP}")
    page.table([TRAP], [[TRAP], ["two\nlines\ud800"]])
    text = page.html()
    assert harmless(text)
    assert text.count("\\x1b[31m\\u202e") == 6
    assert "two<br>lines\\ud800" in text
    values = {TRAP: [TRAP, "\x00"], "other": ["\ud800", float("nan")]}
    figure = DrawnFigure("count", [1.0, 2.0], [0.0, 1.0], [2.0, None], ["1", TRAP], covers=TRAP)
    for names in ([TRAP], [TRAP, "other"], [TRAP, "other", TRAP]):
        keys = [
            DrawnKey.of(name, values[name], list(map(str, values[name])), ordered=False)
            for name in names
        ]
        picture = answer_picture(DrawnAnswer(TRAP, keys, [figure], [TRAP], [[TRAP]]))
        for drawn in (picture.svg(), picture.html(), repr(picture), picture._repr_html_()):
            assert harmless(drawn)


def test_json_reads_back_as_what_it_was() -> None:
    content = {text: [text] for text in (*SHOWN, TRAP, "\U000e0041", "\U0010ffff")}
    assert json.loads(json_text(content)) == content
    assert harmless(json_text(content))
    assert json_text({"ε": "ä"}) == '{\n  "ε": "ä"\n}'
