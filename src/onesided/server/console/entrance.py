"""Signing in with a token, and out again."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request

from onesided.server.api.sessions import logout, signed_in
from onesided.server.console.page import ConsolePage, MovedOn, PageCall, Seen, Shown
from onesided.server.problems import Problem

_FIELD = "token"


def front(call: PageCall) -> Seen:
    empty = call.who.is_steward and not call.served.datasets
    return MovedOn("/new" if empty else "/data")


def sign_in(call: PageCall) -> Seen:
    if call.visitor is not None:
        return MovedOn("/data")
    # A browser that came by a link from elsewhere keeps its cookie back until it asks by itself.
    elsewhere = call.request.headers.get("sec-fetch-site") == "cross-site"
    return Shown("sign_in.html", {"refused": "", "again": elsewhere})


def take_token(call: PageCall) -> Seen:
    _check_own(call.request)
    cookie = signed_in(call.served, call.text(_FIELD)[:200])
    if cookie is None:
        said = "This is no token that is valid now. Ask your steward for one."
        return Shown("sign_in.html", {"refused": said, "again": False}, 401)
    return MovedOn("/data", {"Set-Cookie": cookie})


def sign_out(call: PageCall) -> Seen:
    ended = call.reply(logout)
    return MovedOn("/sign-in", dict(ended.headers))


def _check_own(request: Request) -> None:
    """Another site must not sign its own person in here: what they then see would be its own."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None:
        own = site in ("same-origin", "none")
    else:  # an older browser
        own = origin is None or urlsplit(origin).netloc == request.headers.get("host")
    if not own:
        raise Problem(403, "Sign in on the page of this server.")


PAGES = (
    ConsolePage(path="/", handler=front),
    ConsolePage(path="/sign-in", handler=sign_in, roles=()),
    ConsolePage(path="/sign-in", handler=take_token, method="POST", roles=()),
    ConsolePage(path="/sign-out", handler=sign_out, method="POST"),
)
