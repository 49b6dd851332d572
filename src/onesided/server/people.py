"""Who asks: a token in a header, or the cookie of a browser's session; and what they may see."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie

from starlette.requests import Request

from onesided.ledger.desk import Desk, Person, PersonRole, Rights, TokenPurpose
from onesided.server.problems import Problem

COOKIE = "onesided_session"
SECURE_COOKIE = "__Host-onesided_session"
CSRF_HEADER = "X-CSRF-Token"
_LONGEST_TOKEN = 200
_SAFE = ("GET", "HEAD", "OPTIONS")
EVERYTHING = Rights()
"""What a steward may do with every data set."""


@dataclass(frozen=True)
class Caller:
    """Who asks.

    - `csrf`: for a browser's session, what a request that changes something has to bring along.
    """

    person: Person
    csrf: str = ""

    @property
    def name(self) -> str:
        """What goes into the ledger."""
        return self.person.name

    @property
    def role(self) -> PersonRole:
        """What they are to the data."""
        return self.person.role

    @property
    def is_steward(self) -> bool:
        """Whether they may be told what is wrong with the data."""
        return self.role is PersonRole.STEWARD

    def rights(self, desk: Desk, dataset: str) -> Rights | None:
        """What they may do with a data set; None where it is not theirs to see."""
        if self.role is PersonRole.ANALYST:
            return desk.rights(dataset, self.name)
        return EVERYTHING


def shown_token(request: Request, *, secure: bool) -> tuple[str, TokenPurpose] | None:
    """The token of a request, from its header or its cookie, and never from its address."""
    said = request.headers.getlist("authorization")
    if said:
        scheme, _, token = said[0].partition(" ")
        if len(said) > 1 or scheme.lower() != "bearer" or not _can_be_token(token.strip()):
            return None
        return token.strip(), TokenPurpose.ACCESS
    found = _cookie(request, SECURE_COOKIE if secure else COOKIE)
    return None if found is None else (found, TokenPurpose.SESSION)


def caller(request: Request, desk: Desk, *, secure: bool, sent: str = "") -> Caller:
    """Who asks; 401 where nobody knows, 403 where another page sends the browser's cookie along.

    - `sent`: what a form of a page sends along in place of the header.
    """
    shown = shown_token(request, secure=secure)
    person = None if shown is None else desk.person(*shown)
    if shown is None or person is None:
        raise Problem(
            401,
            "Show a token that is valid: Authorization: Bearer …; a steward gives one.",
            headers={"WWW-Authenticate": 'Bearer realm="onesided"'},
        )
    token, purpose = shown
    if purpose is TokenPurpose.ACCESS:
        return Caller(person)
    expected = csrf_token(token)
    if request.method not in _SAFE:
        sent = sent or request.headers.get(CSRF_HEADER, "")
        if not hmac.compare_digest(sent.encode(), expected.encode()):
            raise Problem(403, f"Send the header {CSRF_HEADER} with what /api/v1/me says.")
    return Caller(person, expected)


def csrf_token(session: str) -> str:
    """What a page of this session sends along; it follows from the session, and not backwards."""
    return hmac.new(session.encode(), b"onesided csrf", hashlib.sha256).hexdigest()


def _cookie(request: Request, name: str) -> str | None:
    cookies: SimpleCookie = SimpleCookie()
    try:
        cookies.load(request.headers.get("cookie", ""))
    except CookieError:
        return None
    found = cookies.get(name)
    return found.value if found is not None and _can_be_token(found.value) else None


def _can_be_token(text: str) -> bool:
    return 0 < len(text) <= _LONGEST_TOKEN and text.isascii() and text.isprintable()
