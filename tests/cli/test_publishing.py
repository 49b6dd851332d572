"""`onesided publish`, `report` and `verify`."""

from __future__ import annotations

import json
import re
import shutil
import stat
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.cli import run
from support.axe import axe_faults
from support.chromium import Seen, browser, watch
from support.payments import payments

HOUSE = Path(__file__).parents[2]
HOSTILE = "<script>alert(1)</script></script>\u202e\x1b[31m"
ASKER = "asker-a17"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with a sample and counts, files of them, an export, and pages about all."""
    folder = tmp_path_factory.mktemp("made")
    ledger = folder / "visits.ledger"
    table = payments(devices=30)
    rooms = pa.array([HOSTILE if each == "hall" else each for each in table["room"].to_pylist()])
    table = table.set_column(table.column_names.index("room"), "room", rooms)
    with osd.open(
        table,
        unit=["device", "day"],
        policy="room = 'clinic' OR NOT consent",
        budget=20,
        ledger=ledger,
        name="visits <b>",
        asked_by=ASKER,
    ) as dataset:
        dataset.sample(1, purpose="yearbook <i>").write(folder / "rows.parquet", receipt=True)
        counts = dataset.count("room", epsilon=1, max_groups=2, mechanism="one-sided")
        counts.write(folder / "rooms.csv", receipt=True)
        number = dataset.releases[-1].number
    key = ["--signing-key", str(folder / "key.pem")]
    export = str(folder / "export.json")
    assert run(["budget", str(ledger), "--export", export]) == 0
    page = ["publish", f"{ledger}#{number}", str(folder / "rows.parquet"), "--ledger", str(ledger)]
    assert run([*page, "--out", str(folder / "page"), *key]) == 0
    assert run(["report", str(ledger), "--out", str(folder / "account"), *key]) == 0
    return folder


@pytest.fixture
def page(made: Path, tmp_path: Path) -> Path:
    """A copy of the page, to be changed."""
    shutil.copytree(made / "page", tmp_path / "page")
    return tmp_path / "page"


def manifest(folder: Path) -> Any:
    return json.loads((folder / "manifest.json").read_text())


def key_of(folder: Path) -> str:
    return str(manifest(folder)["signature"]["key"])


def refused(arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["verify", *arguments]) == 1
    said = capsys.readouterr().err
    assert reason in said
    assert said.count("\n") == 1


def test_what_was_published_verifies(made: Path) -> None:
    key = key_of(made / "page")
    chain = str(made / "export.json")
    for name in ("page", "account"):
        assert run(["verify", str(made / name), "--key", key, "--chain", chain]) == 0
    (receipt,) = (made / "page").glob("rows.receipt.json")
    assert run(["verify", str(receipt), "--key", key, "--chain", chain]) == 0
    assert run(["verify", str(made / "rooms.receipt.json"), "--chain", chain]) == 0
    assert run(["verify", chain]) == 0
    assert stat.S_IMODE((made / "key.pem").stat().st_mode) == 0o600


def test_every_byte_matters(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file in sorted(page.iterdir()):
        before = file.read_bytes()
        middle = len(before) // 2
        file.write_bytes(before[:middle] + bytes([before[middle] ^ 1]) + before[middle + 1 :])
        assert run(["verify", str(page), "--key", "0" * 63 + "1"]) in (1, 2)
        assert run(["verify", str(page)]) in (1, 2), file.name
        file.write_bytes(before)
    assert run(["verify", str(page)]) == 0
    (page / "rows.csv").unlink()
    (page / "more.txt").write_text("x")
    refused([str(page)], "rows.csv is missing; more.txt does not belong to this folder", capsys)


def test_another_key_is_refused(page: Path, made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused([str(page), "--key", "ab" * 32], "signed by another key", capsys)
    content = manifest(page)
    content["releases"][0]["entry"] = 1
    (page / "manifest.json").write_text(json.dumps(content))
    refused([str(page)], "its signature does not fit", capsys)
    del content["signature"]
    (page / "manifest.json").write_text(json.dumps(content))
    refused([str(page), "--key", key_of(made / "page")], "it is not signed", capsys)


def test_a_receipt_of_another_ledger_is_refused(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.ledger"
    with osd.open(
        payments(devices=9), unit="device", policy="NOT consent", budget=1, ledger=other, name="v"
    ) as dataset:
        dataset.sample(1)
    chain = str(tmp_path / "other.json")
    assert run(["budget", str(other), "--export", chain]) == 0
    receipt = str(made / "rooms.receipt.json")
    refused([receipt, "--chain", chain], "does not stand in this ledger", capsys)
    refused([str(made / "page"), "--chain", chain], "does not stand in this ledger", capsys)
    refused([str(made / "account"), "--chain", chain], "has not the entry", capsys)


CUTS: dict[str, tuple[Callable[[Any], object], str]] = {
    "the end": (lambda e: e["entries"].pop(), "the chain ends at entry"),
    "the middle": (lambda e: e["entries"].pop(3), "entry 4 of the chain is missing"),
    "a text": (lambda e: e["entries"][4].update(hash="0" * 64), "entry 5 was changed"),
    "what is shown": (
        lambda e: e["entries"][4].update(kind="other"),
        "something else than it says",
    ),
    "the order": (lambda e: e["entries"].insert(0, e["entries"].pop()), "entry 1 of the chain"),
}


@pytest.mark.parametrize("cut", CUTS)
def test_a_chain_that_was_cut_is_refused(
    cut: str, made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export = json.loads((made / "export.json").read_text())
    change, reason = CUTS[cut]
    change(export)
    path = tmp_path / "cut.json"
    path.write_text(json.dumps(export))
    refused([str(path)], reason, capsys)
    refused([str(made / "page"), "--chain", str(path)], reason, capsys)


def test_the_metadata_are_valid(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import frictionless

    monkeypatch.chdir(page)
    answer = frictionless.validate("datapackage.json")
    assert answer.valid, answer.flatten(["note"])
    known = manifest(page)["files"]
    croissant = json.loads((page / "croissant.json").read_text())
    assert croissant["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    for each in croissant["distribution"]:
        assert each["sha256"] == known[each["contentUrl"]]
    (linked,) = re.findall(
        r'<script type="application/ld\+json">(.*?)</script>', (page / "index.html").read_text()
    )
    described = json.loads(linked)
    assert described["@type"] == "Dataset"
    assert {each["contentUrl"] for each in described["distribution"]} <= set(known)
    assert pq.read_table(page / "rows.parquet").num_rows > 10


def test_the_stored_bytes_are_those_of_the_ledger(made: Path) -> None:
    export = json.loads((made / "export.json").read_text())
    known = {each["payload_sha256"] for each in export["receipts"]}
    stored = [*(made / "page").glob("*.stored.*")]
    assert {sha256(each.read_bytes()).hexdigest() for each in stored} == known
    assert len(stored) == 2


def test_only_listed_fields_leave_and_nothing_acts(made: Path) -> None:
    for folder in (made / "page", made / "account"):
        for file in folder.iterdir():
            content = file.read_bytes()
            assert ASKER.encode() not in content, file.name
            assert str(made).encode() not in content, file.name
        text = (folder / "index.html").read_text()
        assert "<script>" not in text
        assert "<i>" not in text
        assert "\u202e" not in text
        assert "yearbook" in text
        assert "visits &lt;b&gt;" in text
        assert "://" not in re.sub(r"http(s://schema\.org/|://www\.w3\.org)", "", text)


def test_a_file_that_is_not_the_ledgers_is_refused(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("rooms.csv", "rooms.receipt.json"):
        shutil.copy(made / name, tmp_path / name)
    out, ledger = str(tmp_path / "page"), str(made / "visits.ledger")
    asked = ["publish", str(tmp_path / "rooms.csv"), "--out", out, "--unsigned"]
    assert run([*asked, "--ledger", ledger]) == 0
    text = (tmp_path / "rooms.csv").read_text()
    (tmp_path / "rooms.csv").write_text(text.replace("lab", "lob"))
    assert run([*asked, "--ledger", ledger, "--overwrite"]) == 1
    assert "other rows than the ledger" in capsys.readouterr().err
    assert run([*asked, "--overwrite"]) == 0
    assert "not compared with a ledger" in (tmp_path / "page" / "index.html").read_text()
    assert run(asked) == 2
    assert run(["publish", f"{ledger}#1", "--out", out]) == 2
    (tmp_path / "rooms.receipt.json").unlink()
    assert run(asked) == 2


def test_a_new_key_keeps_the_old_one(made: Path, tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    shutil.copy(made / "key.pem", key)
    asked = ["report", str(made / "visits.ledger"), "--signing-key", str(key), "--out"]
    out = tmp_path / "account"
    assert run([*asked, str(out), "--new-key"]) == 0
    old, new = key_of(made / "account"), key_of(out)
    assert old != new
    assert (tmp_path / f"key-{old[:16]}.pem").exists()
    assert run(["verify", str(out), "--key", old]) == 1
    assert run(["verify", str(out), "--key", old, "--key", new]) == 0


def test_the_printed_verifier_says_the_same(made: Path) -> None:
    text = (HOUSE / "docs" / "publishing.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert program.count("\n") <= 150
    names: dict[str, Any] = {"__name__": "verifier"}
    exec(compile(program, "publishing.md", "exec"), names)
    names["main"](made / "export.json", made / "page")
    export = json.loads((made / "export.json").read_text())
    export["entries"].pop()
    with pytest.raises(AssertionError, match="cut off"):
        names["check_chain"](export)


@pytest.mark.parametrize(("theme", "width"), [("light", 375), ("dark", 1440)])
def test_in_a_browser_nothing_acts_or_is_fetched(theme: str, width: int, made: Path) -> None:
    """On a telephone and on a desk, dark and light: no request, no complaint, nothing for axe."""
    view = {"width": width, "height": 900}
    with browser() as chromium:
        context = chromium.new_context(viewport=view, color_scheme=theme)
        for name in ("page", "account"):
            page = context.new_page()
            seen, address = Seen(), (made / name / "index.html").as_uri()
            watch(page, address, seen)
            page.goto(address)
            assert axe_faults(page) == []
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
            assert "visits <b>" in page.inner_text("main")
            assert seen.requests == []
            assert seen.complaints == []
