"""A page says who may see it and what it shows; everything else is the same for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from onesided.errors import OnesidedError
from onesided.ledger.desk import PersonRole
from onesided.server.api import ROUTES
from onesided.server.console.rendering import render
from onesided.server.limiting import RequestRate
from onesided.server.people import Caller, caller
from onesided.server.problems import Problem, problem_of
from onesided.server.reading import read_form
from onesided.server.routing import (
    ANALYST,
    EVERYBODY,
    STEWARD,
    ApiCall,
    ApiRoute,
    Handler,
    Reply,
)
from onesided.server.served import Served

Form: TypeAlias = Mapping[str, Sequence[str]]
ASKING = (STEWARD, ANALYST)


@dataclass(frozen=True)
class Shown:
    """A template with what it shows."""

    template: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class MovedOn:
    """The browser goes to another page of the console."""

    to: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PageCall:
    """One visit of a page: who, where, and what their form says."""

    served: Served
    visitor: Caller | None
    path: Mapping[str, str]
    query: Mapping[str, str]
    form: Form
    request: Request

    @property
    def who(self) -> Caller:
        """The visitor of a page that somebody must sign in for."""
        assert self.visitor is not None
        return self.visitor

    def text(self, name: str, usual: str = "") -> str:
        """What stands in a field of the form."""
        found = self.form.get(name)
        return found[0].strip() if found else usual

    def texts(self, name: str) -> list[str]:
        """What stands in all fields of this name that are not empty."""
        return [each.strip() for each in self.form.get(name, ()) if each.strip()]

    def api(self, handler: Handler, said: Any = None, accept: str = "*/*", **path: str) -> Any:
        """What the API answers to the same person."""
        return self.reply(handler, said, accept, **path).content

    def reply(self, handler: Handler, said: Any = None, accept: str = "*/*", **path: str) -> Reply:
        """The same, with its status and headers."""
        return handler(self.request_to(handler, said, accept, **path))

    def request_to(
        self, handler: Handler, said: Any = None, accept: str = "*/*", **path: str
    ) -> ApiCall:
        """A request that the API has checked, as it comes to one of its functions."""
        route = route_of(handler)
        if self.who.role not in route.roles:
            raise Problem(403, "This is not yours to do or see.")
        body = None if route.body is None else route.body.read("", said)
        return self.call({**self.path, **path}, said, body, accept)

    def call(
        self,
        path: Mapping[str, str] | None = None,
        said: Any = None,
        body: Any = None,
        accept: str = "*/*",
    ) -> ApiCall:
        """A request to the API in the name of the visitor."""
        return ApiCall(
            served=self.served,
            caller=self.who,
            path=self.path if path is None else path,
            query={},
            accept=accept,
            body=body,
            said=said,
        )


Seen: TypeAlias = Shown | MovedOn | Reply
PageHandler: TypeAlias = Callable[[PageCall], Seen]


@dataclass(frozen=True, kw_only=True)
class ConsolePage:
    """One page, or the place where its form goes.

    - `roles`: who may come; none where nobody has to say who they are.
    """

    path: str
    handler: PageHandler
    method: str = "GET"
    roles: Sequence[PersonRole] = EVERYBODY


def route_of(handler: Handler) -> ApiRoute:
    """The route of the API that a function answers."""
    return next(each for each in ROUTES if each.handler is handler)


def address(*parts: object) -> str:
    """The address of a page; a name stays within its part, with any signs in it."""
    return "/" + "/".join(quote(str(each), safe="") for each in parts)


def refusal(error: Exception, *, steward: bool) -> str:
    """The sentence that stands beside a form whose question was refused."""
    if isinstance(error, Problem | OnesidedError):
        return problem_of(error, steward=steward).detail
    raise error


@dataclass
class PageEndpoint:
    """A page as the framework calls it."""

    page: ConsolePage
    served: Served
    rate: RequestRate

    async def __call__(self, request: Request) -> Response:
        """Show the page; what goes wrong is shown as a page too."""
        visitor: Caller | None = None
        try:
            form: Form = {}
            if self.page.method == "POST":
                form = await read_form(request, self.served.config.limits)
            visitor = await self._visitor(request, form)
            if visitor is None and self.page.roles:
                return self._response(MovedOn("/sign-in"), None)
            call = PageCall(
                served=self.served,
                visitor=visitor,
                path=dict(request.path_params),
                query=dict(request.query_params),
                form=form,
                request=request,
            )
            seen = await run_in_threadpool(self.page.handler, call)
            response = await run_in_threadpool(self._response, seen, visitor)
        except Exception as error:
            return await run_in_threadpool(self._refused, error, visitor)
        self._note("page", visitor, response.status_code)
        return response

    async def _visitor(self, request: Request, form: Form) -> Caller | None:
        secure = self.served.config.secure
        sent = (form.get("csrf") or [""])[0]
        try:
            found = await run_in_threadpool(
                caller, request, self.served.desk, secure=secure, sent=sent
            )
        except Problem as problem:
            peer = request.client.host if request.client else ""
            self.rate.take(f"page {peer}")
            if problem.status != 401:
                raise Problem(
                    403, "This form is of another session; open the page again."
                ) from None
            return None
        self.rate.take(f"person {found.name}")
        if self.page.roles and found.role not in self.page.roles:
            raise Problem(403, "This page is not yours to see.")
        return found

    def _response(self, seen: Seen, visitor: Caller | None) -> Response:
        if isinstance(seen, Reply):
            return seen.response()
        if isinstance(seen, MovedOn):
            return Response(status_code=303, headers={**seen.headers, "Location": seen.to})
        return render(seen.template, seen.facts, visitor, seen.status, seen.headers)

    def _refused(self, error: Exception, visitor: Caller | None) -> Response:
        steward = visitor is not None and visitor.is_steward
        problem = problem_of(error, steward=steward)
        if problem is not error and problem.status == 503:
            self.served.log.failure(error, who=visitor and visitor.name, route=self._name)
        self._note("refused", visitor, problem.status)
        facts = {"status": problem.status, "said": problem.detail}
        return render("refused.html", facts, visitor, problem.status, problem.headers)

    def _note(self, what: str, visitor: Caller | None, status: int) -> None:
        name = visitor and visitor.name
        self.served.log.note(
            what, who=name, method=self.page.method, route=self._name, status=status
        )

    @property
    def _name(self) -> str:
        return f"page {self.page.path}"
