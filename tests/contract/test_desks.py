"""One contract for the desks of all ledgers: tokens, rights and tables."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from onesided.errors import LedgerError, RequestError
from onesided.ledger.desk import (
    DeskConflict,
    JobState,
    PersonRole,
    Rights,
    TokenPurpose,
    open_desk,
)
from support.desks import LEASE, LENGTH, NOON, SECOND, Office
from support.ledgers import Place, pay


def test_a_token_opens_what_its_holder_may(office: Office) -> None:
    token = office.desk.add_token("ann", PersonRole.ANALYST)
    person = office.desk.person(token)
    assert person is not None
    assert (person.name, person.role) == ("ann", PersonRole.ANALYST)
    (record,) = office.desk.tokens()
    assert (record.id, record.created) == (person.token, NOON)
    assert len(token) >= 43


def test_no_token_but_the_whole_one_opens_anything(office: Office) -> None:
    token = office.desk.add_token("ann", PersonRole.ANALYST)
    (record,) = office.desk.tokens()
    wrong = ["", token[:-1], token + "A", token.swapcase(), f" {token}", record.id, "ann", "\ud800"]
    assert [office.desk.person(each) for each in wrong] == [None] * len(wrong)


def test_neither_tables_nor_export_hold_a_token(office: Office) -> None:
    token = office.desk.add_token("ann", PersonRole.ANALYST)
    (kept,) = office.place.raw("SELECT * FROM desk_tokens")
    assert token not in str(kept)
    assert "osd_" not in str(kept)
    exported = str(office.ledger.export())
    assert "desk" not in exported
    assert "ann" not in exported


def test_an_expired_token_opens_nothing(office: Office) -> None:
    token = office.desk.add_token("ann", PersonRole.ANALYST, expires=NOON + LENGTH)
    office.clock.move(9.999999)
    assert office.desk.person(token) is not None
    office.clock.move(0.000001)
    assert office.desk.person(token) is None
    with pytest.raises(RequestError, match="later than now"):
        office.desk.add_token("ann", PersonRole.ANALYST, expires=NOON)
    with pytest.raises(RequestError, match="time zone"):
        office.desk.add_token("ann", PersonRole.ANALYST, expires=datetime(2031, 1, 1))


def test_a_revoked_token_opens_nothing_and_others_do(office: Office) -> None:
    first, second = (office.desk.add_token("ann", PersonRole.ANALYST) for _ in "ab")
    other = office.desk.add_token("bob", PersonRole.AUDITOR)
    person = office.desk.person(first)
    assert person is not None
    assert [each.id for each in office.desk.revoke(person.token)] == [person.token]
    assert office.desk.person(first) is None
    assert office.desk.person(second) is not None
    assert len(office.desk.revoke("ann")) == 1, "the first was revoked before"
    assert office.desk.person(second) is None
    assert office.desk.person(other) is not None
    assert office.desk.revoke("nobody") == ()


def test_a_name_has_one_role_at_a_time(office: Office) -> None:
    office.desk.add_token("ann", PersonRole.ANALYST)
    with pytest.raises(DeskConflict, match="ann is an analyst here"):
        office.desk.add_token("ann", PersonRole.STEWARD)
    office.desk.revoke("ann")
    office.desk.add_token("ann", PersonRole.STEWARD)


@pytest.mark.parametrize("name", ["", " ", "ann ", "a\nb", "a" * 101])
def test_a_name_that_cannot_stand_in_the_ledger_is_refused(office: Office, name: str) -> None:
    with pytest.raises(RequestError):
        office.desk.add_token(name, PersonRole.ANALYST)


def test_a_token_of_one_login_is_taken_once(office: Office) -> None:
    once = office.desk.add_token(
        "ann", PersonRole.STEWARD, expires=NOON + LENGTH, purpose=TokenPurpose.LOGIN
    )
    assert office.desk.person(once) is None
    assert office.desk.person(once, TokenPurpose.SESSION) is None
    with pytest.raises(ValueError, match="use_once"):
        office.desk.person(once, TokenPurpose.LOGIN)
    found = office.desk.use_once(once)
    assert found is not None
    assert found.name == "ann"
    assert office.desk.use_once(once) is None
    assert office.desk.use_once(office.desk.add_token("ann", PersonRole.STEWARD)) is None


def test_a_session_ends_with_its_token_and_is_none_itself(office: Office) -> None:
    token = office.desk.add_token("ann", PersonRole.ANALYST)
    person = office.desk.person(token)
    assert person is not None
    session = office.desk.add_token(
        "ann",
        PersonRole.ANALYST,
        expires=NOON + LENGTH,
        purpose=TokenPurpose.SESSION,
        parent=person.token,
    )
    assert office.desk.person(session) is None
    assert office.desk.person(session, TokenPurpose.SESSION) is not None
    assert office.desk.person(token, TokenPurpose.SESSION) is None
    office.desk.revoke(person.token)
    assert office.desk.person(session, TokenPurpose.SESSION) is None


@pytest.mark.parametrize("hangs", [True, False], ids=["on a token", "on none"])
def test_a_session_that_began_with_a_login_outlives_it(office: Office, hangs: bool) -> None:
    token = office.desk.add_token("ann", PersonRole.ANALYST)
    shown = office.desk.person(token)
    assert shown is not None
    once = office.desk.add_token(
        *("ann", PersonRole.ANALYST),
        expires=NOON + SECOND,
        purpose=TokenPurpose.LOGIN,
        parent=shown.token if hangs else None,
    )
    person = office.desk.use_once(once)
    assert person is not None
    session = office.desk.add_token(
        *("ann", PersonRole.ANALYST),
        expires=NOON + LENGTH,
        purpose=TokenPurpose.SESSION,
        parent=person.token,
    )
    office.clock.move(2)
    office.desk.add_token("bob", PersonRole.ANALYST)  # forgets the login
    assert office.desk.person(session, TokenPurpose.SESSION) is not None
    office.desk.revoke(shown.token)
    assert (office.desk.person(session, TokenPurpose.SESSION) is None) is hangs


def test_what_browsers_held_is_forgotten(office: Office) -> None:
    for _ in range(3):
        office.desk.add_token(
            "ann",
            PersonRole.ANALYST,
            expires=office.clock() + SECOND,
            purpose=TokenPurpose.SESSION,
        )
        office.clock.move(2)
    assert len(office.desk.tokens()) == 1


def test_rights_are_by_data_set_and_person(office: Office) -> None:
    some = Rights(
        kinds=frozenset({"count", "sum"}),
        most_per_release=Fraction(1, 3),
        most_in_all=Fraction(2),
        least=Fraction(1, 100),
        needs_approval=True,
    )
    office.desk.set_rights("visits", "ann", some)
    office.desk.set_rights("visits", "bob", Rights())
    assert office.desk.rights("visits", "ann") == some
    assert office.desk.rights("visits", "bob") == Rights()
    assert office.desk.rights("visits", "eve") is None
    assert office.desk.rights("others", "ann") is None
    assert office.desk.all_rights() == {("visits", "ann"): some, ("visits", "bob"): Rights()}
    office.desk.set_rights("visits", "ann", None)
    assert office.desk.rights("visits", "ann") is None


def test_rights_say_why_not() -> None:
    rights = Rights(kinds=frozenset({"count"}), most_per_release=Fraction(1), least=Fraction(1, 10))
    assert rights.refusal("count", Fraction(1)) is None
    assert rights.refusal("count", Fraction(1, 10)) is None
    assert "kind sample" in str(rights.refusal("sample", Fraction(1)))
    assert "at most ε = 1" in str(rights.refusal("count", Fraction(2)))
    assert "at least ε = 0.1" in str(rights.refusal("count", Fraction(1, 11)))


def test_rights_that_changed_on_the_way_stop_the_charge(office: Office) -> None:
    checked = Rights(most_in_all=Fraction(5))
    office.desk.set_rights("visits", "ann", Rights(most_in_all=Fraction(1)))
    with pytest.raises(DeskConflict, match="rights were changed"):
        office.ask(rights=checked)
    assert office.account.balance().spent == 0
    office.ask(rights=Rights(most_in_all=Fraction(1)))


def test_a_ledger_without_a_desk_gets_one_and_keeps_its_chain(shared_place: Place) -> None:
    ledger, account, snapshot = shared_place.opened()
    pay(account, snapshot, "before", who="ann")
    head, exported = ledger.head(), ledger.export()
    desk = open_desk(shared_place.where)
    assert ledger.head() == head
    assert ledger.export() == exported
    assert ledger.verify(head).ok
    assert desk.spent("visits", "ann") == 1
    token = desk.add_token("ann", PersonRole.ANALYST)
    desk.close()
    again = open_desk(shared_place.where, create=False)
    assert again.person(token) is not None
    again.close()
    ledger.close()


def test_a_desk_of_a_newer_version_is_refused(office: Office) -> None:
    office.place.raw("UPDATE desk SET version = 99")
    with pytest.raises(LedgerError, match="version 99"):
        open_desk(office.place.where)
    pay(office.account, office.snapshot)
    assert office.ledger.verify().ok


def test_another_process_sees_the_same(office: Office) -> None:
    token = office.desk.add_token("ann", PersonRole.ANALYST)
    job = office.asked()
    other = office.again()
    assert other.desk.person(token) is not None
    assert other.desk.jobs(who="ann", dataset="visits") == (job,)
    assert other.desk.jobs(states=[JobState.DONE]) == ()
    assert other.desk.jobs(who="bob") == ()
    assert other.desk.claim("visits", "other", LEASE) == job
    assert office.desk.claim("visits", "this", LEASE) is None
    other.close()


def test_by_itself_a_desk_goes_by_the_clock(shared_place: Place) -> None:
    desk = open_desk(shared_place.where)
    here = datetime.now(UTC)
    assert abs(desk.now() - here) < timedelta(minutes=1)
    assert desk.now().tzinfo is UTC
    desk.close()


def test_a_desk_needs_a_ledger_that_others_reach(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="in memory"):
        open_desk(None)
    with pytest.raises(LedgerError, match="no ledger"):
        open_desk(tmp_path / "none.ledger", create=False)
    desk = open_desk(tmp_path / "new.ledger")
    desk.close()
    with pytest.raises(LedgerError, match="closed"):
        desk.tokens()
