"""Browsers log in with an address that opens once; from then on a cookie says who they are.

The cookie holds a token of its own, which ends after hours, and with the token that it came from.
It is drawn at the login: what a browser sent before is never taken over.
"""

from __future__ import annotations

from datetime import timedelta

from onesided.ledger.desk import Person, TokenPurpose
from onesided.server.people import COOKIE, SECURE_COOKIE
from onesided.server.problems import Problem
from onesided.server.routing import ApiCall, ApiRoute, Reply
from onesided.server.schemas import ANYTHING, TEXT_SCHEMA, answer
from onesided.server.served import Served

LOGIN_MINUTES, SESSION_HOURS = 10, 8


def add_login(call: ApiCall) -> Reply:
    person = call.caller.person
    if call.caller.csrf:
        raise Problem(403, "A browser's session gives no address for another login.")
    expires = call.served.desk.now() + timedelta(minutes=LOGIN_MINUTES)
    token = call.served.desk.add_token(
        person.name,
        person.role,
        expires=expires,
        purpose=TokenPurpose.LOGIN,
        parent=person.token,
    )
    return Reply({"url": f"/login/{token}", "minutes": LOGIN_MINUTES})


def login(call: ApiCall) -> Reply:
    desk = call.served.desk
    person = desk.use_once(call.path["once"])
    if person is None:
        raise Problem(404, "This address was used, or its time is over; ask for another one.")
    return Reply({}, 303, {"Location": "/", "Set-Cookie": _session(call.served, person)})


def signed_in(served: Served, token: str) -> str | None:
    """The cookie of a session for whoever types a token into a page; None where it is none."""
    person = served.desk.person(token, TokenPurpose.ACCESS)
    return None if person is None else _session(served, person)


def _session(served: Served, person: Person) -> str:
    session = served.desk.add_token(
        person.name,
        person.role,
        expires=served.desk.now() + timedelta(hours=SESSION_HOURS),
        purpose=TokenPurpose.SESSION,
        parent=person.token,
    )
    return _cookie(session, SESSION_HOURS * 3600, secure=served.config.secure)


def logout(call: ApiCall) -> Reply:
    call.served.desk.revoke(call.caller.person.token)
    return Reply({}, headers={"Set-Cookie": _cookie("", 0, secure=call.served.config.secure)})


def _cookie(value: str, seconds: int, *, secure: bool) -> str:
    name = SECURE_COOKIE if secure else COOKIE
    ending = "; Secure" if secure else ""
    return f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{ending}"


ROUTES = (
    ApiRoute(
        method="POST",
        path="/api/v1/sessions",
        handler=add_login,
        summary="An address that logs a browser in once.",
        answers={200: answer("url", url=TEXT_SCHEMA)},
    ),
    ApiRoute(
        method="DELETE",
        path="/api/v1/sessions",
        handler=logout,
        summary="End the session, or the token, that is shown.",
        answers={200: ANYTHING},
    ),
    ApiRoute(
        method="GET",
        path="/login/{once}",
        handler=login,
        summary="Log this browser in.",
        roles=(),
        answers={303: ANYTHING},
    ),
)
