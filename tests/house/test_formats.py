"""What the ledger writes and exports, and what receipts say, is what docs/schemas describes."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

import onesided as osd
from onesided.ledger import Ledger, StewardLook
from onesided.ledger.chain import FORMAT, EntryKind
from onesided.ledger.export import EXPORT_FORMAT
from onesided.loss import Loss
from support.ledgers import Place, in_file, in_memory, pay, reservation, spending, terms
from support.old_ledgers import bodies, put_back, written
from support.payments import payments

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"
NAMES = ("receipt", "export", "ledger-entry")
DATA_FORMAT = {"columns": [["device", "VARCHAR"]]}


@cache
def _schema(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    return content


@cache
def _validator(name: str) -> Any:
    resources = (Resource.from_contents(_schema(each)) for each in NAMES)
    registry = Registry().with_resources((each.id(), each) for each in resources)
    return Draft202012Validator(_schema(name), registry=registry)


def _problems(name: str, value: Any) -> list[str]:
    return [f"{each.json_path}: {each.message}" for each in _validator(name).iter_errors(value)]


def _as_written(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _busy(place: Place) -> Ledger:
    """A ledger with an entry of every kind."""
    ledger = place.open()
    ledger.account(terms())
    account = ledger.account(terms(format=DATA_FORMAT))
    snapshot = account.snapshot("data-1")
    part = spending("1/4", "3/4", part=("day", "mon"))
    account.failed(pay(account, snapshot, "part", part, purpose="yearbook", who="a17"), OSError)
    (charge,) = account.charge([reservation("in steps")], snapshot)
    account.keep_step(charge, "probe", b"seen")
    account.store(account.settle(charge, Loss("1/8", "7/8"), {}), b"released", _receipts()[0])
    account.raise_budget(Fraction(200), who="Ada", why="second wave")
    ledger.note(
        StewardLook(
            dataset="visits",
            unit=("device",),
            policy_id="policy-1",
            policy_sql="age < 18",
            secret=True,
            who="a17",
        )
    )
    return ledger


def _receipts() -> list[dict[str, Any]]:
    """The receipts of format 1, with what format 2 adds."""
    added = {"format": 2, "purpose": "", "asked_by": ""}
    old = (body["content"]["receipt"] for body in bodies() if body["kind"] == "release")
    return [{**receipt, **added} for receipt in old]


def test_the_schemas_are_schemas() -> None:
    for name in NAMES:
        Draft202012Validator.check_schema(_schema(name))
    assert _schema("export")["properties"]["format"]["const"] == EXPORT_FORMAT
    assert _schema("ledger-entry")["properties"]["format"]["const"] == FORMAT
    assert set(_schema("ledger-entry")["properties"]["kind"]["enum"]) == set(EntryKind)


def test_an_export_of_every_kind_of_entry_is_valid() -> None:
    exported = _as_written(_busy(in_memory()).export())
    assert {entry["kind"] for entry in exported["entries"]} == set(EntryKind)
    assert _problems("export", exported) == []
    for entry in exported["entries"]:
        assert _problems("ledger-entry", json.loads(entry["text"])) == []


def test_exports_of_old_and_of_continued_ledgers_are_valid(tmp_path: Path) -> None:
    ledger = put_back(in_file(tmp_path / "visits.ledger")).open()
    exported = _as_written(ledger.export())
    assert exported["ledger_format"] == 1
    assert _problems("export", exported) == []
    for body in bodies():
        assert _problems("ledger-entry", body) == []
    (account,) = ledger.accounts()
    snapshot = account.snapshot(written()["fingerprint"])
    own = {"policy_id": account.terms.policy_id, "policy_sql": account.terms.policy_sql}
    pay(account, snapshot, "new", spending(0, 1, **own))
    exported = _as_written(ledger.export())
    assert exported["ledger_format"] == 2
    assert _problems("export", exported) == []
    ledger.close()


CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "no format": lambda export: export.pop("format"),
    "another format": lambda export: export.update(format=3),
    "a further key": lambda export: export.update(secret="…"),
    "an entry of another format": lambda export: export["entries"][0].update(format=3),
    "an entry of another kind": lambda export: export["entries"][0].update(kind="other"),
    "an entry without its text": lambda export: export["entries"][0].pop("text"),
    "a charge without terms": lambda export: export["entries"][4]["content"].pop("terms"),
    "a charge with more": lambda export: export["entries"][4]["content"].update(more=1),
    "a long purpose": lambda export: export["entries"][4]["content"].update(purpose="x" * 201),
    "a plain snapshot": lambda export: export["entries"][3]["content"].pop(
        "fingerprint_key_sha256"
    ),
    "a step of an old entry": lambda export: export["entries"][7].pop("format"),
    "a negative cost": lambda export: export["entries"][4]["content"].update(cost="-1"),
    "a receipt without its loss": lambda export: export["receipts"][0]["receipt"].pop("loss"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_no_export_is_invalid(change: str) -> None:
    exported = _as_written(_busy(in_memory()).export())
    kinds = [entry["kind"] for entry in exported["entries"]]
    assert (kinds[3], kinds[4], kinds[7]) == (EntryKind.SNAPSHOT, EntryKind.CHARGE, EntryKind.STEP)
    CHANGES[change](exported)
    assert _problems("export", exported)


def test_receipts_as_they_were_with_what_is_new_are_valid() -> None:
    for receipt in _receipts():
        assert _problems("receipt", receipt) == []
        for name in _schema("receipt")["required"]:
            assert _problems("receipt", {key: receipt[key] for key in receipt if key != name})
    assert _problems("receipt", {**receipt, "asked_by": None})
    assert _problems("receipt", {**receipt, "purpose": "x" * 201})


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return payments(devices=40)


def test_a_receipt_that_names_a_map_is_valid(table: pa.Table) -> None:
    edges = pa.table({"from": ["cafe", "clinic"], "to": ["clinic", "hall"], "seconds": [5, 5]})
    way = {"edges": edges, "place": "room", "time": "ts", "sensitive": "clinic", "gap": 60}
    with osd.open(table, unit=["device", "day"], policy="NOT consent", map=way) as dataset:
        receipt = _as_written(dataset.count(epsilon=1).receipt.content)
    assert receipt["map"]["rule"] == "certain"
    assert _problems("receipt", receipt) == []
    assert _problems("receipt", {**receipt, "map": {**receipt["map"], "rule": "other"}})


def test_real_receipts_and_their_export_are_valid(tmp_path: Path, table: pa.Table) -> None:
    ledger = tmp_path / "visits.ledger"
    with osd.open(
        table,
        unit=["device", "day"],
        policy="room = 'clinic' OR NOT consent",
        budget=20,
        ledger=ledger,
        name="visits",
        domains={"room": ["cafe", "clinic", "hall", "lab"]},
    ) as dataset:
        asked = {"epsilon": 1, "max_groups": 2}
        releases = [
            dataset.sample(1, purpose="yearbook"),
            dataset.sample(1, stands_for=["room"], noisy=True),
            dataset.count("room", **asked),
            dataset.count("room", mechanism="one-sided", **asked),
            dataset.count("room", mechanism="rr", **asked),
            dataset.sum("paid", by="room", bound=20, **asked),
            dataset.mean("paid", by="room", bound=20, **asked),
            dataset.sql(
                "SELECT room, COUNT(DISTINCT device, day), SUM(paid) FROM visits GROUP BY room",
                bounds={"paid": 20},
                **asked,
            ),
        ]
        for release in releases:
            assert _problems("receipt", _as_written(release.receipt.content)) == []
        assert releases[0].receipt["purpose"] == "yearbook"
    book = in_file(ledger).open(create=False)
    assert _problems("export", _as_written(book.export())) == []
    book.close()
