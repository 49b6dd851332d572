"""What a steward is told before anything is published, and that nothing of it goes any further."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import onesided as osd
from onesided.ledger import open_ledger
from onesided.randomness import seeded
from onesided.session import Dataset

DEVICES = 30
IDLE = ", so it makes no difference."
ROOMS = ("hall", "lab", "yard")


def table() -> pa.Table:
    numbers = range(3 * DEVICES)
    return pa.table(
        {
            "device": [number // 3 for number in numbers],
            "room": [ROOMS[number % 3] for number in numbers],
            "age": [None if number // 3 == 7 else number // 3 + 10 for number in numbers],
            "contact": [f"x{number // 3}@example.org" for number in numbers],
            "remark": [f"remark {number // 3}" for number in numbers],
            "size": [number % 2 for number in numbers],
        }
    )


def opened(**options: Any) -> Dataset:
    usual: dict[str, Any] = {"policy": "age < 18", "unit": "device", "budget": 5, "rng": seeded(1)}
    return osd.open(table(), **{**usual, **options})


def texts(dataset: Dataset, about: str, **options: Any) -> list[str]:
    return [each.text for each in dataset.check(**options).findings if each.about == about]


def test_rows_units_and_types() -> None:
    found = opened().check()
    assert (found.units, found.rows, found.most_rows) == (DEVICES, 3 * DEVICES, 3)
    assert [(each.name, each.type) for each in found.columns][:3] == [
        ("device", "integer"),
        ("room", "text"),
        ("age", "integer"),
    ]
    assert found.columns[0].note == "part of the unit key"
    assert opened(unit="rows").check().most_rows is None


@pytest.mark.parametrize(
    ("policy", "found"),
    [
        ("room = 'Yard'", ["'Yard' does not occur in room; did you mean 'yard'?"]),
        ("room <> 'yard'", []),
        ("room LIKE 'Y%'", [f"Nothing in the data is room LIKE 'Y%'{IDLE}"]),
        ("lower(room) = 'yrad'", [f"'yrad' does not occur in lower(room){IDLE}"]),
        ("CASE room WHEN 'x' THEN TRUE ELSE FALSE END", [f"'x' does not occur in room{IDLE}"]),
        ("age IN (12, 1200)", [f"1200 does not occur in age{IDLE}"]),
        ("age < 1200", []),
        ("room = NULL", []),
    ],
)
def test_values_of_the_policy_that_occur_nowhere(policy: str, found: list[str]) -> None:
    assert texts(opened(policy=policy), "policy") == found


def test_a_policy_in_python_is_not_read() -> None:
    assert texts(opened(policy=lambda row: row["room"] == "Yard"), "policy") == []


def test_domains_against_what_occurs() -> None:
    dataset = opened(domains={"room": ["hall", "lab", "attic"], "size": [0, 1]})
    assert texts(dataset, "room") == [
        "In its domain, but in no row: 'attic'.",
        "In the data, but not in its domain, so never counted: 'yard'.",
    ]
    assert texts(dataset, "size") == []
    assert texts(dataset, "room", domain={"room": ["hall", "lab", osd.OTHER]}) == []
    (sentence,) = texts(dataset, "rom", domain={"rom": ["hall"]})
    assert sentence.startswith("The domain fits no column: There is no column rom")


def test_columns_that_would_name_somebody() -> None:
    (mail,) = texts(opened(), "contact")
    assert mail.startswith("It holds e-mail addresses, and a sample publishes it")
    (each,) = texts(opened(), "remark")
    assert each.startswith("It has another value for nearly every unit")
    assert texts(opened(), "room") == texts(opened(), "size") == texts(opened(), "device") == []


def test_a_table_with_nothing_to_look_at() -> None:
    plain = osd.open(table().select(["device", "room", "age"]), policy="age < 18", unit="device")
    assert plain.check()


def test_what_is_secret_is_said_where_it_is_asked_for_and_decides_nothing() -> None:
    found = opened().check(secret=True)
    assert found.secret is not None
    rows = table().to_pylist()
    sensitive = {row["device"] for row in rows if row["age"] is None or row["age"] < 18}
    assert (found.secret.sensitive, found.secret.by_null) == (len(sensitive), 1)
    assert "steward's eyes alone" in found.to_json()["secret"]["warning"]
    plain = opened().check()
    assert plain.secret is None
    assert "secret" not in plain.to_json()
    assert bool(plain) == bool(found)
    assert plain.findings == found.findings


def test_a_ledger_keeps_that_somebody_looked_and_not_what_was_seen(tmp_path: Path) -> None:
    where = tmp_path / "visits.ledger"
    opened(ledger=where, name="visits", policy="room = 'Yard'").check(secret=True)
    opened(ledger=where, name="visits", policy="room = 'yard'", asked_by="a17").check()
    ledger = open_ledger(where)
    assert ledger.verify().ok
    assert ledger.accounts() == ()  # a look opens no account, so the policy may still change
    first, second = [each["content"] for each in ledger.export()["entries"][1:]]
    assert first == {
        "unit": ["device"],
        "policy_id": osd.Policy("room = 'Yard'").id,
        "policy_sql": "room = 'Yard'",
        "secret": True,
        "who": "",
    }
    assert second["policy_sql"] == "room = 'yard'"
    assert (second["secret"], second["who"]) == (False, "a17")
    ledger.close()


def test_a_release_after_a_check_is_the_release_without_it(tmp_path: Path) -> None:
    released = []
    for looks in (False, True):
        dataset = opened(ledger=tmp_path / f"{looks}.ledger", name="visits")
        if looks:
            assert not dataset.check(secret=True, domain={"room": ["attic"]})
        release = dataset.count("room", epsilon=1, max_groups=3)
        receipt = dict(release.receipt.content)
        # A look moves the numbers, hashes and times of the entries behind it, and nothing else.
        moved = {"account", "snapshot", "time", "charge", "entry"}
        receipt = {name: said for name, said in receipt.items() if name not in moved}
        released.append((release.table.to_pylist(), receipt))
        dataset.close()
    assert released[0] == released[1]
