"""The server as one more engine of the audit of whole releases, over real sockets.

Statuses, headers, bodies and their lengths are outcomes. A question that was answered is asked
again of a server over the plain table, on a copy of the ledger: there it is a repeat, and all that
is said of it must be the same. What is said before the answer is there must be the same as for the
same questions to a server over the plain table with a ledger of its own.

Deadlines are off here: what can be measured of time is the matter of a test of its own.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import uvicorn

from onesided.audit.session import sources
from onesided.audit.session.cells import Form
from onesided.audit.session.commands import CommandRun, opened_ledger, plain, released_since
from onesided.audit.session.dice import Dice
from onesided.audit.session.in_python import (
    BUDGET,
    NAME,
    VERSION,
    PythonStage,
    account_of,
    staged_in_python,
)
from onesided.audit.session.requests import Request
from onesided.audit.session.sources import Source
from onesided.audit.session.surfaces import Run, Stage, Surface
from onesided.audit.session.watching import Seen, document, masked
from onesided.audit.session.worlds import Side, World
from onesided.data.units import ROWS
from onesided.language import Schema
from onesided.ledger import agreed_terms
from onesided.ledger.desk import PersonRole, Rights, open_desk
from onesided.server.app import application
from onesided.server.config import Deadlines, ServerConfig, ServerLimits
from onesided.server.operate.logs import RequestLog
from onesided.server.served import Served
from onesided.server.serving import bound, uvicorn_config
from onesided.server.tables import DATA_TYPES
from onesided.session.description import Description

WHO = "somebody-who-asks"
_PATH = f"/api/v1/datasets/{NAME}"
_BEFORE = ("accepted", "ended", "exception")
"""The outcomes of what is said before the answer is there."""
_AROUND = "GET "
"""How the names of outcomes begin that everybody sees of the data set."""
_NOT_COMPARED = ("date",)
_SECONDS = 60.0
_RENAMED = {"query": "statement"}
_NOT_SAID = ("at", "fresh", "into")


@dataclass
class Conversation:
    """A connection to a server that runs, and somebody who may ask."""

    connection: HTTPConnection
    token: str

    def send(
        self, method: str, path: str, body: Any = None, accept: str = "*/*"
    ) -> tuple[int, dict[str, str], bytes]:
        """One request: status, headers and body of its answer."""
        headers = {"Authorization": f"Bearer {self.token}", "Accept": accept}
        content = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(body, default=str)
        self.connection.request(method, path, content, headers)
        answer = self.connection.getresponse()
        told = {name.lower(): each for name, each in answer.getheaders()}
        return answer.status, told, answer.read()

    def ask(self, request: Request) -> dict[str, str]:
        """Everything that is said of a question, until its answer was read in every form."""
        said = question(request)
        status, headers, body = self.send("POST", f"{_PATH}/questions", said)
        if status == 202:
            job = json.loads(body)["job"]
            shown = {name: each for name, each in job.items() if name != "cost"}
            text = masked(json.dumps(shown, sort_keys=True)).replace(job["id"], "<job>")
            location = {**headers, "location": "", "content-length": ""}
            found = {"accepted": f"{status} {_listed(location)}\n{text}"}
            found |= self._ended(job["url"])
            if "exception" in found:
                return found
            status, headers, body = self.send("POST", f"{_PATH}/questions", said)
        else:
            found = {"accepted": f"{status}", "ended": ""}
        if status != 200:
            return {**found, "refused": _told(status, headers, body)}
        found["repeat"] = _told(status, headers, body)
        return found | self._read(json.loads(body)["release"])

    def _ended(self, url: str) -> dict[str, str]:
        """How a job has ended."""
        begun = time.monotonic()
        while time.monotonic() - begun < _SECONDS:
            status, _, body = self.send("GET", url)
            said = json.loads(body)
            if said["state"] != "accepted":
                ended = {"ended": f"{status} {said['state']} {said.get('detail', '')}"}
                if said["state"] == "done":
                    return ended
                failed = f"onesided.errors.ReleaseFailed: {said.get('detail', '')}"
                return {**ended, "exception": failed}
            time.sleep(0.002)
        return {"ended": "never", "exception": "onesided.errors.ReleaseFailed: never"}

    def _read(self, release: Mapping[str, Any]) -> dict[str, str]:
        """Receipt and rows, in every form."""
        found = {"receipt": _told(*self.send("GET", release["url"]))}
        for kind in DATA_TYPES:
            status, headers, body = self.send("GET", release["data_url"], accept=kind)
            found[f"rows as {kind}"] = f"{status} {_listed(headers)}\n{body.hex()}"
        return found

    def look_around(self) -> dict[str, str]:
        """What everybody sees of the data set."""
        paths = ("", "/releases", "/account")
        return {f"{_AROUND}{path}": _told(*self.send("GET", f"{_PATH}{path}")) for path in paths}


def question(request: Request) -> dict[str, Any]:
    """A request as it is sent."""
    said: dict[str, Any] = {"kind": request.ask}
    for name, value in request.arguments.items():
        if name not in _NOT_SAID:
            said[_RENAMED.get(name, name)] = _plain(value)
    return said


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _told(status: int, headers: Mapping[str, str], body: bytes) -> str:
    text = body.decode(errors="replace")
    return masked(f"{status} {_listed(headers)}\n{text}")


def _listed(headers: Mapping[str, str]) -> str:
    return json.dumps({name: each for name, each in headers.items() if name not in _NOT_COMPARED})


@dataclass
class HttpStage:
    """A world whose tables are served, beside the same world in Python."""

    inner: PythonStage
    folder: Path
    _count: list[int] = field(default_factory=list)

    @property
    def schema(self) -> Schema:
        return self.inner.schema

    def ask(self, side: Side, requests: Sequence[Request], seed: int) -> CommandRun:
        ledger = self._ledger()
        seen = []
        known: set[int] = set()
        with self._served(side, ledger) as talk, opened_ledger(ledger) as book:
            for request in requests:
                outcomes = talk.ask(plain(request))
                released, known = released_since(book, known)
                seen.append(Seen(outcomes, released, "repeat" in outcomes))
            seen[-1] = replace(seen[-1], outcomes={**seen[-1].outcomes, **talk.look_around()})
            account, keys = account_of(book)
        agreed = agreed_terms(ledger, NAME)
        account["format"] = document(None if agreed is None else agreed.format)
        account = {name: each.replace(WHO, "") for name, each in account.items()}
        return CommandRun(tuple(seen), account, keys, ledger)

    def explain(self, run: Run, requests: Sequence[Request]) -> Run:
        assert isinstance(run, CommandRun)
        again = run.ledger.with_suffix(".again")
        shutil.copy(run.ledger, again)
        fresh = self._again(requests, self._ledger())
        repeated = self._again(requests, again)
        seen = [
            replace(each, outcomes=_joined(new, old, refused=not each.answered))
            for each, new, old in zip(run.seen, fresh, repeated, strict=True)
        ]
        return Run(tuple(seen), run.account, run.keys)

    def _again(self, requests: Sequence[Request], ledger: Path) -> list[dict[str, str]]:
        """All requests to one server over the plain table, and a look around at the end."""
        with self._served(Side.PLAIN, ledger) as talk:
            found = [talk.ask(plain(request)) for request in requests]
            found[-1] |= talk.look_around()
        return found

    @contextmanager
    def _served(self, side: Side, ledger: Path) -> Iterator[Conversation]:
        self._count.append(1)
        config = self._config(side, ledger, self.folder / f"served{len(self._count)}")
        desk = open_desk(ledger)
        desk.set_rights(NAME, WHO, Rights())
        token = desk.add_token(WHO, PersonRole.ANALYST)
        desk.close()
        with bound(config) as sock:
            port = sock.getsockname()[1]
            app = application(Served.of(config.on_port(port), RequestLog(lambda line: None)))
            server = uvicorn.Server(uvicorn_config(config, app))
            thread = threading.Thread(target=lambda: server.run(sockets=[sock]))
            thread.start()
            try:
                while not server.started and thread.is_alive():
                    time.sleep(0.002)
                connection = HTTPConnection("127.0.0.1", port, timeout=_SECONDS)
                try:
                    yield Conversation(connection, token)
                finally:
                    connection.close()
            finally:
                server.should_exit = True
                thread.join()
        shutil.rmtree(config.storage, ignore_errors=True)

    def _config(self, side: Side, ledger: Path, storage: Path) -> ServerConfig:
        world = self.inner.world
        arguments = {
            **self.inner.opened[side][0],
            "policy": world.spelled_policy,
            "unit": list(world.unit) or ROWS,
            "name": NAME,
            "budget": BUDGET,
            "ledger": str(ledger),
            "version": VERSION,
        }
        file = self.folder / "onesided.toml"
        return ServerConfig(
            file=file,
            datasets={NAME: Description(NAME, file, arguments)},
            storage=storage,
            port=0,
            deadlines=Deadlines(off=True),
            limits=ServerLimits(requests_per_minute=10**9),
        )

    def _ledger(self) -> Path:
        ledger = self.inner.ledger()
        assert ledger is not None  # a server keeps its account for all
        return ledger


def _joined(
    fresh: Mapping[str, str], repeated: Mapping[str, str], *, refused: bool
) -> dict[str, str]:
    """What is said before an answer is there, as of a new question; all else as of a repeat.

    What was refused is asked anew in both. The look around is at what was released, in any case.
    """
    before = {
        name: each
        for name, each in fresh.items()
        if name in _BEFORE or (refused and not name.startswith(_AROUND))
    }
    return {**{name: each for name, each in repeated.items() if name not in _BEFORE}, **before}


@dataclass(frozen=True)
class ServedTables:
    """Files here, asked over HTTP."""

    folder: Path
    forms: Sequence[Form] = (Form.TYPED, Form.CSV)
    lookups: bool = True
    declares: bool = True
    without: frozenset[str] = frozenset()

    def sources(self, form: Form) -> Sequence[Source]:
        return [each for each in sources.sources() if each.form is form and each.files]

    @contextmanager
    def staged(self, world: World, source: Source, dice: Dice) -> Iterator[Stage]:
        with (
            tempfile.TemporaryDirectory(dir=self.folder) as folder,
            staged_in_python(world, source, Path(folder), durable=True) as stage,
        ):
            yield HttpStage(stage, Path(folder))


@contextmanager
def over_http(connection: Any) -> Iterator[Surface]:
    """What opens the engine `http` of `onesided audit session`."""
    with tempfile.TemporaryDirectory() as folder:
        yield ServedTables(Path(folder))
