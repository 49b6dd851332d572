"""The application: its routes, and what holds for every request and every answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onesided.server.api import ROUTES
from onesided.server.config import LOOPBACK, ServerConfig
from onesided.server.console import console_routes
from onesided.server.console.rendering import render
from onesided.server.limiting import RequestRate
from onesided.server.problems import Problem
from onesided.server.routing import KEY_HEADER, ApiRoute, Endpoint, problem_response
from onesided.server.served import Served

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_A_YEAR = "max-age=31536000"
Say = Callable[[str], None]


def application(
    served: Served, said: Say = lambda text: None, routes: Sequence[ApiRoute] = ROUTES
) -> Starlette:
    """The application for what is served.

    - `said`: is told at the end what was finished and what was left.
    """
    rate = RequestRate(served.config.limits.requests_per_minute, served.config.storage)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await run_in_threadpool(served.start)
        yield
        said(await run_in_threadpool(served.stop))

    return Starlette(
        routes=[
            *(
                Route(each.path, Endpoint(each, served, rate).__call__, methods=[each.method])
                for each in routes
            ),
            *console_routes(served, rate),
        ],
        middleware=_middleware(served.config),
        exception_handlers={HTTPException: _told},
        lifespan=lifespan,
    )


def _middleware(config: ServerConfig) -> list[Middleware]:
    found = [Middleware(_Everywhere, config=config)]
    if config.cors:
        # Pages elsewhere show a token; a cookie is never taken from them.
        found.append(
            Middleware(
                CORSMiddleware,
                allow_origins=list(config.cors),
                allow_methods=["GET", "POST", "PUT", "DELETE"],
                allow_headers=["Authorization", "Content-Type", KEY_HEADER],
                expose_headers=["Location", "Retry-After"],
            )
        )
    return found


async def _told(request: Request, error: Exception) -> Response:
    """What the framework itself refuses: unknown paths and methods."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        problem = Problem(405, "This address does not take that method.")
    else:
        problem = Problem(error.status_code, "There is nothing at this address.")
    if "text/html" in request.headers.get("accept", ""):
        facts = {"status": problem.status, "said": problem.detail}
        return render("refused.html", facts, None, problem.status, error.headers)
    return problem_response(Problem(problem.status, problem.detail, "", error.headers or {}))


class _Everywhere:
    """Refuses requests to other hosts, and gives every answer the same headers."""

    def __init__(self, app: ASGIApp, config: ServerConfig) -> None:
        self._app = app
        self._hosts = {*(each.lower() for each in config.hosts), *LOOPBACK}
        self._headers = dict(HEADERS)
        if config.secure:
            self._headers["Strict-Transport-Security"] = _A_YEAR

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        if not self._is_meant(Headers(scope=scope).getlist("host")):
            problem = Problem(400, "This server is not known by that name; see [server] hosts.")
            await problem_response(problem)(scope, receive, sending)
            return
        await self._app(scope, receive, sending)

    def _is_meant(self, hosts: list[str]) -> bool:
        if len(hosts) != 1:
            return False
        name, mark, port = hosts[0].lower().rpartition(":")
        if not mark or not port.isdecimal():
            name = hosts[0].lower()
        return name in self._hosts
