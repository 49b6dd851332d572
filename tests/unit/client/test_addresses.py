"""Addresses, tokens, fields and refusals: what a client checks before anything leaves."""

from __future__ import annotations

import os
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onesided as osd
from onesided import errors
from onesided.client.address import DatasetAddress, is_address, is_loopback
from onesided.client.fields import cell, groups, mechanism_fields, select_fields
from onesided.client.problems import ServerBusy, ServerUnreachable, error_of
from onesided.client.tokens import found_token
from onesided.errors import RequestError

TOKEN = "abc-DEF_123"


@pytest.mark.parametrize(
    ("text", "base", "dataset"),
    [
        ("https://host/visits", "https://host", "visits"),
        ("HTTPS://Host:8443/below/visits/", "https://host:8443/below", "visits"),
        ("https://host/my%20visits", "https://host", "my visits"),
        ("http://127.0.0.1:8642/visits", "http://127.0.0.1:8642", "visits"),
        ("http://[::1]:8642/visits", "http://[::1]:8642", "visits"),
        ("http://localhost/visits", "http://localhost", "visits"),
    ],
)
def test_an_address_is_a_server_and_a_data_set(text: str, base: str, dataset: str) -> None:
    found = DatasetAddress.of(text)
    assert (found.base, found.dataset) == (base, dataset)
    assert is_address(text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("http://host/visits", "use https"),
        ("http://127.0.0.1.example.org/visits", "use https"),
        ("http://localhost.example.org/visits", "use https"),
        (f"https://{TOKEN}@host/visits", "no token stands in it"),
        (f"https://ann:{TOKEN}@host/visits", "no token stands in it"),
        (f"https://host/visits?token={TOKEN}", "ends with its name"),
        ("https://host/visits#part", "ends with its name"),
        ("https://host/", "name of the data set"),
        ("https://host/../visits", "name of the data set"),
        ("https:///visits", "no address"),
        ("ftp://host/visits", "no address"),
        ("https://host:port/visits", "cannot be read"),
    ],
)
def test_what_could_give_the_token_away_is_refused(text: str, word: str) -> None:
    with pytest.raises(RequestError, match=word) as refused:
        osd.connect(text, token=TOKEN)
    assert TOKEN not in str(refused.value)


def test_sources_of_engines_are_no_addresses() -> None:
    for source in ("visits.parquet", "postgresql://host/db", "/https/visits", "https", None):
        assert not is_address(source)
    assert is_loopback("127.8.9.10")
    assert not is_loopback("10.0.0.1")


def test_a_token_comes_from_the_first_that_says_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("ONESIDED_TOKEN", raising=False)
    with pytest.raises(RequestError, match="ONESIDED_TOKEN"):
        found_token()
    usual = tmp_path / "onesided" / "token"
    usual.parent.mkdir()
    usual.write_text("from-the-usual-file\n")
    usual.chmod(0o600)
    assert found_token() == "from-the-usual-file"
    monkeypatch.setenv("ONESIDED_TOKEN", "from-the-environment")
    assert found_token() == "from-the-environment"
    other = tmp_path / "other"
    other.write_text("from-a-file")
    other.chmod(0o600)
    assert found_token(file=other) == "from-a-file"
    assert found_token(TOKEN, other) == TOKEN


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such modes")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_file_that_others_may_use_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(mode)
    with pytest.raises(RequestError, match="chmod 600") as refused:
        found_token(file=file)
    assert TOKEN not in str(refused.value)


@pytest.mark.parametrize("content", ["", "two words", "ä", "x" * 600, "a\r\nX-Header: b"])
def test_what_is_no_token_is_refused_without_showing_it(tmp_path: Path, content: str) -> None:
    file = tmp_path / "token"
    file.write_text(content)
    file.chmod(0o600)
    for give in (lambda: found_token(content), lambda: found_token(file=file)):
        with pytest.raises(RequestError) as refused:
            give()
        assert not content or content not in str(refused.value)
    with pytest.raises(RequestError, match="cannot be read"):
        found_token(file=tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (date(2024, 1, 2), {"date": "2024-01-02"}),
        (datetime(2024, 1, 2, 3), {"timestamp": "2024-01-02T03:00:00"}),
        (Decimal("1.50"), {"decimal": "1.50"}),
        (np.int32(7), 7),
        (np.bool_(True), True),
        (0.5, 0.5),
        (None, None),
        ("a", "a"),
        (False, False),
    ],
)
def test_values_say_what_they_are(value: Any, said: Any) -> None:
    found = cell(value)
    assert found == said
    assert type(found) is type(said)


def test_what_is_asked_is_what_was_said() -> None:
    assert groups("room", None, None, None, None, None) == {"by": "room"}
    assert groups((), "", 0, {"room": []}, osd.Policy("room = 'a'"), {"day": date(2024, 1, 1)}) == {
        "where": "",
        "max_groups": 0,
        "domain": {"room": []},
        "policy": "room = 'a'",
        "part": {"day": {"date": "2024-01-01"}},
    }
    assert mechanism_fields("auto", {}) == {}
    assert mechanism_fields("dawa", {"share": 0.1, "rate": Fraction(1, 3), "steps": 3}) == {
        "mechanism": "dawa",
        "parameters": {"share": "0.1", "rate": "1/3", "steps": 3},
    }
    asked = select_fields("SELECT 1", [1], bounds={"a": (0, "2.5"), "b": 0.1}, nonnegative="a")
    assert asked == {
        "statement": "SELECT 1",
        "parameters": [1],
        "bounds": {"a": ["0", "2.5"], "b": "0.1"},
        "nonnegative": ["a"],
    }
    for wrong in ({"policy": lambda row: True}, {"domain": {"room": "abc"}}):
        with pytest.raises(RequestError):
            select_fields("SELECT 1", [], **wrong)  # type: ignore[arg-type]
    with pytest.raises(RequestError):
        cell(object())


@pytest.mark.parametrize(
    ("status", "body", "kind", "sentence"),
    [
        (400, b'{"detail": "No.", "error": "PolicyError"}', errors.PolicyError, "No."),
        (402, b'{"detail": "No.", "error": "BudgetError"}', errors.BudgetError, "No."),
        (402, b'{"detail": "No.", "error": "CapError"}', errors.CapError, "No."),
        (402, b'{"detail": "No.", "error": "OtherError"}', errors.BudgetError, "No."),
        (400, b'{"detail": "No.", "error": "Interrupted"}', errors.RequestError, "No."),
        (400, b'{"detail": "No.", "error": "annotations"}', errors.RequestError, "No."),
        (400, b'{"detail": "No.", "error": 7}', errors.RequestError, "No."),
        (429, b'{"detail": "Later."}', ServerBusy, "Later."),
        (503, b"<html>", ServerBusy, "status 503"),
        (500, b"\xff", ServerUnreachable, "status 500"),
        (404, b"[]", errors.RequestError, "status 404"),
        (400, b'{"detail": "a\\u001b[2Jb"}', errors.RequestError, "a"),
    ],
)
def test_refusals_are_the_errors_that_they_were(
    status: int, body: bytes, kind: type[Exception], sentence: str
) -> None:
    found = error_of(status, body)
    assert type(found) is kind
    assert sentence in str(found)
    assert "\x1b" not in str(found)
