"""A route says who may come, what they may say and what they may be told; the rest is the same."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from onesided.errors import RequestError
from onesided.ledger.desk import PersonRole
from onesided.server.fields import JsonType, Schema
from onesided.server.limiting import RequestRate
from onesided.server.people import Caller, caller
from onesided.server.problems import MEDIA_TYPE, Problem, problem_of
from onesided.server.reading import kept, read_json

if TYPE_CHECKING:
    from onesided.server.hosted import HostedDataset
    from onesided.server.served import Served

STEWARD, ANALYST, AUDITOR = PersonRole.STEWARD, PersonRole.ANALYST, PersonRole.AUDITOR
EVERYBODY = (STEWARD, ANALYST, AUDITOR)
JSON_TYPE = "application/json"
KEY_HEADER, KEY_PATTERN = "Idempotency-Key", re.compile(r"[A-Za-z0-9_-]{1,200}")
_PART_BYTES = 1 << 18


@dataclass(frozen=True)
class ApiCall:
    """One request, checked: who asks, for what, and what they say.

    - `body`: the fields of a request as Python takes them; `said`: the same as plain JSON.
    - `key`: what names the request where it is sent again, of a route that takes one.
    """

    served: Served
    caller: Caller
    path: Mapping[str, str]
    query: Mapping[str, str]
    accept: str
    key: str = ""
    body: Any = None
    said: Any = None

    @property
    def dataset(self) -> HostedDataset:
        """The data set that the path names, as far as the caller may see it."""
        return self.served.dataset(self.path["dataset"], self.caller)


@dataclass(frozen=True)
class Reply:
    """An answer: JSON, or bytes of another type, or a file.

    - `log`: what the log says of it besides who asked for which route.
    """

    content: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = JSON_TYPE
    file: str | None = None
    log: Mapping[str, Any] = field(default_factory=dict)
    done: Callable[[], object] | None = None
    """What is done when the answer was sent."""

    def with_headers(self, headers: Mapping[str, str]) -> Reply:
        """The same with more headers."""
        return replace(self, headers={**self.headers, **headers})

    def response(self) -> Response:
        """As it is sent."""
        headers = dict(self.headers)
        if self.file is not None:
            task = None if self.done is None else BackgroundTask(self.done)
            # A file of the framework would tell when it was made.
            headers["Content-Length"] = str(os.path.getsize(self.file))
            return StreamingResponse(
                _parts(self.file), self.status, headers, media_type=self.media_type, background=task
            )
        content = self.content
        if self.media_type == JSON_TYPE:
            content = json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
        return Response(content, self.status, headers, media_type=self.media_type)


def _parts(file: str) -> Iterator[bytes]:
    with open(file, "rb") as content:
        while part := content.read(_PART_BYTES):
            yield part


Handler: TypeAlias = Callable[[ApiCall], Reply]


@dataclass(frozen=True, kw_only=True)
class ApiRoute:
    """One route.

    - `roles`: who may come; none where nobody has to say who they are.
    - `body`: what a request holds; None where it holds nothing.
    - `answers`: by status what an answer is: a schema, or media types; refusals come by themselves.
    - `refusals`: statuses besides those that every route of its kind has.
    - `keyed`: sent again with the same `Idempotency-Key`, a request is answered as the first was.
    """

    method: str
    path: str
    handler: Handler
    summary: str
    roles: Sequence[PersonRole] = EVERYBODY
    body: JsonType | None = None
    answers: Mapping[int, Schema | tuple[str, ...]] = field(default_factory=dict)
    refusals: Sequence[int] = ()
    keyed: bool = False

    @property
    def name(self) -> str:
        """What the log and the description call it."""
        return self.handler.__name__.strip("_")

    @property
    def statuses(self) -> tuple[int, ...]:
        """All refusals that it may answer with."""
        found = {400, 429, 503, *self.refusals}
        if self.roles:
            found |= {401}
        if len(self.roles) < len(EVERYBODY) or self.method not in ("GET", "HEAD"):
            found |= {403}
        if "{" in self.path:
            found |= {404}
        if self.body is not None:
            found |= {413, 415}
        return tuple(sorted(found))


@dataclass
class Endpoint:
    """A route as the framework calls it."""

    route: ApiRoute
    served: Served
    rate: RequestRate

    async def __call__(self, request: Request) -> Response:
        """Answer; what is refused is told by a problem."""
        who: Caller | None = None
        try:
            who, reply = await self._answered(request)
        except Exception as error:
            return self._refused(error, getattr(request.state, "caller", who))
        self.served.log.note(
            "request",
            who=None if who is None else who.name,
            method=self.route.method,
            route=self.route.name,
            dataset=_known(request, self.served),
            status=reply.status,
            **reply.log,
        )
        return reply.response()

    async def _answered(self, request: Request) -> tuple[Caller | None, Reply]:
        who = await self._caller(request)
        request.state.caller = who
        body = said = None
        if self.route.body is not None:
            said = await read_json(request, self.served.config.limits)
            body = self.route.body.read("", said)
        assert who is not None or not self.route.roles
        call = ApiCall(
            served=self.served,
            caller=who,  # type: ignore[arg-type]
            path=dict(request.path_params),
            query=_query(request),
            accept=request.headers.get("accept", "*/*"),
            key=_key(request) if self.route.keyed else "",
            body=body,
            said=kept(said),
        )
        return who, await run_in_threadpool(self.route.handler, call)

    async def _caller(self, request: Request) -> Caller | None:
        if not self.route.roles:
            self.rate.take(f"route {self.route.name}")
            return None
        secure = self.served.config.secure
        try:
            who = await run_in_threadpool(caller, request, self.served.desk, secure=secure)
        except Problem:
            self.rate.take(f"address {request.client.host if request.client else ''}")
            raise
        self.rate.take(f"person {who.name}")
        if who.role not in self.route.roles:
            raise Problem(403, f"As {_article(who.role)} you may not do this.")
        return who

    def _refused(self, error: Exception, who: Caller | None) -> Response:
        problem = problem_of(error, steward=who is not None and who.is_steward)
        facts = {"who": None if who is None else who.name, "route": self.route.name}
        if problem is not error and problem.status == 503:
            self.served.log.failure(error, **facts)
        self.served.log.note("refused", method=self.route.method, status=problem.status, **facts)
        return problem_response(problem)


def problem_response(problem: Problem) -> Response:
    """A refusal as it is sent."""
    return Response(problem.content, problem.status, dict(problem.headers), media_type=MEDIA_TYPE)


def _query(request: Request) -> dict[str, str]:
    found = dict(request.query_params)
    if len(found) < len(request.query_params.multi_items()):
        raise RequestError("A parameter stands twice in the address.")
    return found


def _key(request: Request) -> str:
    """What names a request that may be sent again; empty where nothing does."""
    found = request.headers.getlist(KEY_HEADER)
    if not found:
        return ""
    if len(found) > 1 or not KEY_PATTERN.fullmatch(found[0]):
        raise RequestError(f"{KEY_HEADER} is one word of at most 200 letters, digits, - and _.")
    return found[0]


def _known(request: Request, served: Served) -> str | None:
    """The data set of a route, if it is one: what somebody types does not go into the log."""
    name = request.path_params.get("dataset")
    return name if name in served.datasets else None


def _article(role: PersonRole) -> str:
    return f"a{'' if role is STEWARD else 'n'} {role.value}"
