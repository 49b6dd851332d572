"""A damaged file is one sentence, wherever the damage is: bytes of a small ledger are flipped."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path

import pytest

from onesided.errors import LedgerError
from onesided.ledger import Ledger, LedgerDamaged, sqlite
from onesided.loss import Loss
from support.ledgers import Place, in_file, order, pay, reservation, terms

SMALL_PAGE = 512
"""Bytes; a smaller file has fewer of them that hold nothing."""

STRIDE, STRIDE_IN_DEFINITIONS = 101, 5
"""Every 101st byte is flipped, and every fifth of a definition. The soak flips all of them."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A small ledger with an entry of every kind."""
    monkeypatch.setattr(sqlite, "PAGE", SMALL_PAGE)
    place = in_file(tmp_path / "visits.ledger")
    ledger, account, snapshot = place.opened()
    ledger.account(terms(format={"columns": []}))
    account.store(pay(account, snapshot, "stored"), b"released", {})
    (charge,) = account.charge([reservation("in steps")], snapshot)
    account.keep_step(charge, "probe", b"seen")
    account.settle(charge, Loss("1/4", "3/4"), {})
    account.failed(pay(account, snapshot, "failed"), MemoryError)
    account.raise_budget(Fraction(200), who="Ada", why="second wave")
    ledger.close()
    return place


def _path(place: Place) -> Path:
    assert isinstance(place.where, Path)
    return place.where


def _read(ledger: Ledger) -> None:
    ledger.export()
    for account in ledger.accounts():
        account.balance()


def _charge(ledger: Ledger) -> None:
    account = ledger.account(terms(None))
    snapshot = account.snapshot("data-1")
    asked = [order("stored"), reservation("in steps"), order("new"), reservation("new in steps")]
    for charge in account.charge(asked, snapshot):
        account.step(charge, "probe")
        account.keep_step(charge, "second look", b"seen")
        if charge.reserved:
            charge = account.settle(charge, Loss("1/4", "1/4"), {})
        account.store(charge, b"released", {})
        account.failed(charge, MemoryError)
    account.raise_budget(Fraction(300), who="Ada", why="third wave")


def _works_or_says_so(place: Place, damaged: bytes) -> bool:
    """Whether anything was noticed. An exception of another kind fails the test."""
    path = _path(place)
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    path.write_bytes(damaged)
    try:
        ledger = place.open(create=False)
    except LedgerError as error:
        _one_sentence(error)
        return True
    noticed = False
    steps: list[Callable[[Ledger], object]] = [_read, _charge]
    try:
        noticed |= not ledger.verify().ok
    except LedgerError as error:
        _one_sentence(error)
        noticed = True
    for step in steps:
        try:
            step(ledger)
        except LedgerError as error:
            _one_sentence(error)
            noticed = True
    ledger.close()
    return noticed


def _one_sentence(error: LedgerError) -> None:
    assert str(error).endswith(".")
    assert "\n" not in str(error)


def _noticed(place: Place, positions: Iterable[int], bits: Iterable[int] | None = None) -> int:
    sound = _path(place).read_bytes()
    assert not _works_or_says_so(place, sound)
    noticed = 0
    for position in positions:
        for bit in (position % 8,) if bits is None else bits:
            flipped = bytearray(sound)
            flipped[position] ^= 1 << bit
            noticed += _works_or_says_so(place, bytes(flipped))
    return noticed


def _size(place: Place) -> int:
    return _path(place).stat().st_size


def test_a_flipped_byte_is_one_sentence_or_harmless(place: Place) -> None:
    positions = range(0, _size(place), STRIDE)
    assert _noticed(place, positions) > len(positions) / 4


@pytest.mark.soak
def test_every_flipped_byte_is_one_sentence_or_harmless(place: Place) -> None:
    _noticed(place, range(_size(place)), bits=(0, 3, 5, 7))


def _definitions(place: Place) -> list[int]:
    """Where the texts stand by which the tables were created."""
    content = _path(place).read_bytes()
    found = []
    for word in (b"CREATE TABLE", b"CREATE UNIQUE INDEX", b"CREATE TRIGGER"):
        at = content.find(word)
        while at >= 0:
            found += range(at, at + 60)
            at = content.find(word, at + 1)
    return found


def test_a_definition_that_is_no_text_is_one_sentence(place: Place) -> None:
    """SQLite quotes it in its message, which Python then cannot decode."""
    positions = _definitions(place)[::STRIDE_IN_DEFINITIONS]
    assert len(positions) > 100
    assert _noticed(place, positions, bits=(7,)) > len(positions) / 2


def test_what_is_damaged_says_that_it_is(place: Place) -> None:
    sound = _path(place).read_bytes()
    _path(place).write_bytes(sound.replace(b"CREATE TABLE", b"CREATE \xd4ABLE"))
    with pytest.raises(LedgerDamaged, match="is damaged or is no database; nothing was released"):
        place.open(create=False)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE head SET hash = x'00'",
        "UPDATE head SET entries = 'text'",
        "UPDATE entries SET text = x'00' WHERE number = {0}",
        "UPDATE entries SET kind = 'other' WHERE number = {0}",
        "UPDATE payloads SET content = 'text'",
        "DELETE FROM entries WHERE kind = 'charge'",
        "DELETE FROM entries WHERE kind = 'account'",
        "UPDATE latest SET number = 'text'",
    ],
)
def test_a_value_of_another_type_is_one_sentence(place: Place, statement: str) -> None:
    last = place.open().head().entries
    place.tamper(statement.format(last))
    assert _works_or_says_so(place, _merged(place))


def _merged(place: Place) -> bytes:
    """The file with its log written into it."""
    place.raw("PRAGMA wal_checkpoint(TRUNCATE)")
    return _path(place).read_bytes()
