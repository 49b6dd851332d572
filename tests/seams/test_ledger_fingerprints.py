"""What an export says of the data confirms no guess: fingerprints are keyed, the key stays inside.

The fingerprint of few rows is a hash of all they hold. Whoever can guess the rows can compute it.
"""

from __future__ import annotations

import hashlib
import json

import pytest

from onesided.errors import LedgerError
from support.ledgers import Place, pay, terms

CONTENT = b"name,diagnosis\nada,hiv\n"
GUESS = hashlib.sha256(CONTENT).hexdigest()
"""What the engine calls the data, and what an auditor who guesses the content computes."""


def _confirmations() -> list[str]:
    """What an auditor could look for: the guess, and what anybody can make of it."""
    made = [GUESS, CONTENT.decode()]
    for text in (GUESS, CONTENT.decode()):
        for name in ("sha256", "sha1", "md5", "blake2b", "sha3_256"):
            made += [
                hashlib.new(name, text.encode()).hexdigest(),
                hashlib.new(name, json.dumps(text).encode()).hexdigest(),
            ]
    return made


def test_an_export_confirms_no_guess_of_the_data(place: Place) -> None:
    ledger = place.open()
    account = ledger.account(terms())
    snapshot = account.snapshot(GUESS)
    account.store(pay(account, snapshot), b"released", {"snapshot": snapshot.number})
    account.snapshot("declared version 2")
    exported = json.dumps(ledger.export())
    assert not [each for each in [*_confirmations(), "declared version 2"] if each in exported]
    assert GUESS not in repr((snapshot, account, account.balance()))


def test_the_same_data_have_another_name_in_every_account(place: Place) -> None:
    ledger = place.open()
    one, other = (ledger.account(terms(dataset=name)).snapshot(GUESS) for name in "ab")
    assert one.fingerprint != other.fingerprint
    entries = ledger.export()["entries"]
    labels = [entry["label"] for entry in entries if entry["kind"] == "snapshot"]
    assert labels == [one.fingerprint, other.fingerprint]


def test_no_key_is_exported(shared_place: Place) -> None:
    ledger, account, snapshot = shared_place.opened()
    pay(account, snapshot)
    (rows,) = shared_place.raw("SELECT snapshot, secret FROM coin_keys ORDER BY snapshot")
    assert [row[0] for row in rows] == [0, 1], "one for the names of the data, one for the coins"
    exported = json.dumps(ledger.export())
    for _, secret in rows:
        assert secret not in exported
        assert hashlib.sha256(secret.encode()).hexdigest() not in exported


@pytest.mark.parametrize("change", ["UPDATE coin_keys SET secret = '{0}'", "DELETE FROM coin_keys"])
def test_a_changed_key_is_no_new_state_of_the_data(shared_place: Place, change: str) -> None:
    ledger, account, _ = shared_place.opened()
    shared_place.tamper(f"{change.format('0' * 32)} WHERE snapshot = 0")
    with pytest.raises(LedgerError, match="key of the fingerprints is missing or was changed"):
        account.snapshot("data-1")
    verification = ledger.verify()
    assert verification.first_bad == 3
    assert "fingerprint" in str(verification.problem)
