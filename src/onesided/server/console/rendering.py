"""Templates, in which every value is escaped, and the style and script that pages need."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onesided.html import safe
from onesided.server.people import Caller
from onesided.version import __version__
from onesided.visible import json_text, visible

POLICY_OF_CONTENT = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_PACKAGE = "onesided.server.console"
_TYPES = {
    "console.css": "text/css; charset=utf-8",
    "console.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


def render(
    template: str,
    facts: Mapping[str, Any],
    visitor: Caller | None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A page as it is sent."""
    known = {"visitor": visitor, "csrf": visitor.csrf if visitor else "", **facts}
    text = _environment().get_template(template).render(known)
    # Of a page that refers to nobody a browser hides where its own forms come from, too.
    found = {
        **(headers or {}),
        "Content-Security-Policy": POLICY_OF_CONTENT,
        "Referrer-Policy": "same-origin",
    }
    return Response(text, status, found, media_type="text/html; charset=utf-8")


async def _file(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _TYPES:
        return Response("There is nothing at this address.", 404, media_type="text/plain")
    # The address names the content, so that a newer one is another address.
    headers = {"Cache-Control": "max-age=31536000, immutable"}
    return Response(_content(name), headers=headers, media_type=_TYPES[name])


FILES = Route("/console/{mark}/{name}", _file)


@cache
def _content(name: str) -> bytes:
    return files(_PACKAGE).joinpath("static", name).read_bytes()


def file_address(name: str) -> str:
    """Where a file of the console is, as long as it is the same."""
    mark = hashlib.sha256(_content(name)).hexdigest()[:12]
    return f"/console/{mark}/{name}"


@cache
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalized,
    )
    found.filters |= {
        "raw_text": _raw_text,
        "apart": lambda text: Markup(safe(str(text))),
        "as_json": lambda value: Markup(escape(json_text(value))),
        "part": lambda text: Markup(quote(str(text), safe="")),
        "number": _number,
        "moment": _moment,
        "plain": lambda text: f"{float(Fraction(text)):.10g}",
        "thousands": lambda number: f"{number:,}",
        "listed": lambda values: json.dumps(list(values), ensure_ascii=False)[1:-1],
    }
    found.globals |= {"file_address": file_address, "version": __version__}
    return found


def _finalized(value: Any) -> Any:
    """Letters that act are written out; what a template marks as HTML is left alone."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _raw_text(text: object) -> Markup:
    """A text as it was typed, for the fields of a form and for code of several lines."""
    return Markup(escape(str(text)))


def _number(value: float | None) -> str:
    """A number with as many digits as somebody reads."""
    if value is None:
        return "unknown"
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _moment(text: str) -> str:
    """A moment without its fractions of a second."""
    return text.replace("T", " ")[:16] + " UTC" if len(text) >= 16 else text
