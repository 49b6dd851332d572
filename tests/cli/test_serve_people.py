"""`onesided serve token` and `onesided serve rights`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onesided.cli import run
from onesided.ledger import open_ledger
from onesided.ledger.desk import PersonRole, open_desk

DESCRIPTION = """
[datasets.visits]
source = "visits.parquet"
unit = ["device"]
policy = "NOT consent"
budget = 2
ledger = "{ledger}"
"""


@pytest.fixture
def config(tmp_path: Path) -> str:
    file = tmp_path / "onesided.toml"
    file.write_text(DESCRIPTION.format(ledger="visits.ledger"))
    return str(file)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command prints that must succeed."""
    assert run(["serve", *arguments]) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one sentence of a command that must not."""
    assert run(["serve", *arguments]) == 2
    sentence = capsys.readouterr().err
    assert sentence.count("\n") == 1
    return sentence


def test_a_token_is_printed_alone_and_opens_the_desk(
    config: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    token = said(capsys, "token", "add", "--config", config, "--role", "analyst", "--name", "ann")
    desk = open_desk(tmp_path / "visits.ledger", create=False)
    person = desk.person(token.strip())
    assert person is not None
    assert (person.name, person.role) == ("ann", PersonRole.ANALYST)
    (record,) = desk.tokens()
    assert record.expires is not None
    assert (record.expires - record.created).days in (89, 90)
    desk.close()
    assert token.strip() not in said(capsys, "token", "list", "--config", config)


@pytest.mark.parametrize(("length", "days"), [("12h", 0.5), ("30d", 30), ("8w", 56)])
def test_a_token_ends_when_it_was_said(
    config: str, capsys: pytest.CaptureFixture[str], length: str, days: float
) -> None:
    who = ("--role", "steward", "--name", "sue", "--config", config)
    said(capsys, "token", "add", *who, "--expires", length)
    said(capsys, "token", "add", *who, "--expires", "never")
    first, second = json.loads(said(capsys, "token", "list", "--config", config, "--json"))
    from datetime import datetime, timedelta

    ends = datetime.fromisoformat(first["expires"]) - datetime.fromisoformat(first["created"])
    assert abs(ends - timedelta(days=days)) < timedelta(minutes=1)
    assert second["expires"] is None
    assert "30d" in refused(capsys, "token", "add", *who, "--expires", "soon")


def test_a_token_is_revoked_by_name_or_id(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        made = said(
            capsys,
            *("token", "add", "--config", config, "--role", "auditor", "--name", "august"),
            "--json",
        )
    record = json.loads(made)
    gone = said(capsys, "token", "revoke", record["id"], "--config", config)
    assert record["id"] in gone
    listed = said(capsys, "token", "list", "--config", config)
    assert "revoked" in listed
    assert "valid" in listed
    assert (
        len(json.loads(said(capsys, *("token", "revoke", "august", "--config", config), "--json")))
        == 1
    )
    assert "no token of august" in refused(capsys, "token", "revoke", "august", "--config", config)
    assert "did you mean august" in refused(capsys, "token", "revoke", "agust", "--config", config)


def test_rights_are_set_listed_and_removed(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    place = ("--config", config)
    some = ("--kinds", "count,sum", "--most-per-release", "0.5", "--most-in-all", "2")
    said(capsys, "rights", "set", "visits", "ann", *some, "--least", "0.01", "--approval", *place)
    said(capsys, "rights", "set", "visits", "bob", *place)
    ann, bob = json.loads(said(capsys, "rights", "list", *place, "--json"))
    assert ann == {
        "dataset": "visits",
        "name": "ann",
        "kinds": ["count", "sum"],
        "most_per_release": "0.5",
        "most_in_all": "2",
        "least": "0.01",
        "spent": "0",
        "needs_approval": True,
    }
    assert (bob["kinds"], bob["most_in_all"], bob["needs_approval"]) == (None, None, False)
    assert "count, sum" in said(capsys, "rights", "list", *place)
    said(capsys, "rights", "remove", "visits", "ann", *place)
    assert len(json.loads(said(capsys, "rights", "list", *place, "--json"))) == 1
    assert "no rights" in refused(capsys, "rights", "remove", "visits", "ann", *place)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("visit", "ann"), "did you mean visits"),
        (("visits", "ann", "--kinds", "counts"), "did you mean count"),
        (("visits", "ann", "--least", "much"), "--least must be"),
        (("visits", " "), "name"),
    ],
)
def test_rights_that_make_no_sense_are_refused(
    config: str, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], word: str
) -> None:
    assert word in refused(capsys, "rights", "set", *arguments, "--config", config)


def test_one_ledger_keeps_who_may_ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "onesided.toml"
    other = DESCRIPTION.replace("visits]", "others]").format(ledger="others.ledger")
    file.write_text(DESCRIPTION.format(ledger="visits.ledger") + other)
    assert "one ledger" in refused(capsys, "token", "list", "--config", str(file))
    file.write_text(DESCRIPTION.replace("ledger = ", "# ").format(ledger=""))
    assert "one ledger" in refused(capsys, "token", "list", "--config", str(file))
    address = str(tmp_path / "by itself.ledger")
    assert "either" in refused(capsys, "token", "list", "--config", str(file), "--ledger", address)
    assert "no ledger" in refused(capsys, "token", "list", "--ledger", address)
    said(capsys, "token", "add", "--name", "ann", "--role", "analyst", "--ledger", address)
    ledger = open_ledger(address, create=False)
    assert ledger.verify().ok
    ledger.close()
