"""What the table `[server]` of onesided.toml says; everything in it has a default.

[server]
host = "127.0.0.1"              # loopback alone, unless TLS is given or behind_proxy is said
port = 8642
storage = "served"              # the frozen copies of files, mode 0700
hosts = ["data.example.org"]    # names that requests may use, besides those of the loopback
behind_proxy = false
tls_cert = "server.pem"
tls_key = "server.key"
cors = ["https://app.example.org"]
sources = ["data"]              # folders from which a steward may choose a new state
ledger = "all.ledger"           # of data sets that are added while it serves
workers = 1                         # processes that serve as one
stop_seconds = 30
approval_hours = 72

[server.deadlines]              # or: deadlines = "off"
default = 5                     # seconds from the start of a question to its answer
sample = { seconds = 5, per_million_units = 10 }

[server.limits]
requests_per_minute = 600       # of one person
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from onesided.errors import SourceError
from onesided.session.description import USUAL_FILE, Description, descriptions, file_content
from onesided.session.several import KINDS
from onesided.spelling import meant

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MOST_WORKERS = 64
_OFF = "off"


@dataclass(frozen=True)
class QuestionTime:
    """How long a kind of question has, from its start to its deadline."""

    seconds: float = 5.0
    per_million_units: float = 10.0


@dataclass(frozen=True)
class Deadlines:
    """The deadlines by kind of question; they are public, and depend on the kind and n alone.

    - `off`: answers are handed over when they are there. Then their times tell about the data.
    """

    default: QuestionTime = field(default_factory=QuestionTime)
    by_kind: Mapping[str, QuestionTime] = field(default_factory=dict)
    off: bool = False

    def length(self, kind: str, units: int) -> timedelta | None:
        """What a question of this kind gets on n units; None where deadlines are off."""
        if self.off:
            return None
        time = self.by_kind.get(kind, self.default)
        return timedelta(seconds=time.seconds + time.per_million_units * units / 1_000_000)


@dataclass(frozen=True)
class ServerLimits:
    """What one request, one person and one data set may ask of the server.

    - `body_bytes`, `text_characters`, `list_items`, `depth`: of the JSON of a request.
    - `requests_per_minute`: of one person, and of all that come without a valid token together.
    - `open_jobs`, `open_jobs_of_one`: questions before their deadline, of a data set.
    - `send_seconds`: how long a request may take to arrive, and a connection may stay idle.
    """

    body_bytes: int = 1_000_000
    text_characters: int = 20_000
    list_items: int = 20_000
    depth: int = 20
    requests_per_minute: int = 600
    open_jobs: int = 1_000
    open_jobs_of_one: int = 100
    send_seconds: int = 20


@dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """How data sets are served."""

    file: Path
    datasets: Mapping[str, Description]
    storage: Path
    host: str = "127.0.0.1"
    port: int = 8642
    hosts: tuple[str, ...] = ()
    behind_proxy: bool = False
    tls_cert: Path | None = None
    tls_key: Path | None = None
    cors: tuple[str, ...] = ()
    sources: tuple[Path, ...] = ()
    own_ledger: str | None = None
    workers: int = 1
    stop_seconds: float = 30.0
    approval_hours: float = 72.0
    deadlines: Deadlines = field(default_factory=Deadlines)
    limits: ServerLimits = field(default_factory=ServerLimits)

    @classmethod
    def read(cls, file: str | Path = USUAL_FILE, **changes: Any) -> ServerConfig:
        """What a file says, with what the command says instead; refused where it is not safe."""
        path = Path(file)
        content = file_content(path)
        said = _checked(path, content.get("server", {}))
        said["own_ledger"] = said.pop("ledger", None)
        # With a ledger of its own a server may begin without a data set: a steward adds one.
        empty = said["own_ledger"] is not None and "datasets" not in content
        datasets = {} if empty else descriptions(path)
        changed = {name: each for name, each in changes.items() if each is not None}
        said.setdefault("storage", path.parent / "served")
        found = cls(file=path, datasets=datasets, **{**said, **changed})
        found._check()
        return found

    @property
    def secure(self) -> bool:
        """Whether browsers reach the server by TLS, its own or that of a proxy."""
        return self.tls_cert is not None or self.behind_proxy

    @property
    def ledger(self) -> str:
        """The one ledger of all data sets."""
        (ledger,) = self._ledgers
        return ledger

    @property
    def _ledgers(self) -> set[str]:
        named = {str(each.arguments["ledger"]) for each in self.datasets.values()}
        return named | ({self.own_ledger} if self.own_ledger else set())

    @property
    def address(self) -> str:
        """Where it is reached from this machine."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' if self.tls_cert else ''}://{host}:{self.port}"

    def on_port(self, port: int) -> ServerConfig:
        """The same on the port that the system gave."""
        return replace(self, port=port)

    def _check(self) -> None:
        without = [name for name, each in self.datasets.items() if "ledger" not in each.arguments]
        if without:
            raise SourceError(
                f"{self.file}: {without[0]} needs a ledger: a server keeps its account for all."
            )
        if len(self._ledgers) > 1:
            raise SourceError(
                f"{self.file}: the data sets of one server share one ledger, which also keeps "
                "tokens and rights; name the same for all."
            )
        if (self.tls_cert is None) != (self.tls_key is None):
            raise SourceError("TLS needs both: a certificate and its key.")
        if not _is_loopback(self.host) and not self.secure:
            raise SourceError(
                f"The server would be reached at {self.host} without encryption; give it "
                "--tls-cert and --tls-key, or say --behind-proxy where a proxy encrypts."
            )
        if (not _is_loopback(self.host) or self.behind_proxy) and not self.hosts:
            raise SourceError(
                f'{self.file}: say in [server] by which names it is reached, hosts = ["…"].'
            )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _checked(path: Path, table: Any) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise SourceError(f"{path}: server must be a table [server].")
    readers = {**_READERS, "deadlines": _deadlines, "limits": _limits}
    _known(path, "[server]", table, readers)
    return {name: readers[name](path, name, value) for name, value in table.items()}


def _known(path: Path, where: str, table: Mapping[str, Any], known: Any) -> None:
    for key in table:
        if key not in known:
            raise SourceError(f"{path}: {where} has an unknown key {key!r}{meant(key, known)}.")


def _text(path: Path, name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise SourceError(f"{path}: {name} must be a text.")
    return value


def _path(path: Path, name: str, value: Any) -> Path:
    return path.parent / _text(path, name, value)


def _ledger(path: Path, name: str, value: Any) -> str:
    text = _text(path, name, value)
    return text if "://" in text else str(path.parent / text)


def _flag(path: Path, name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise SourceError(f"{path}: {name} must be true or false.")
    return value


def _port(path: Path, name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 65_535:
        raise SourceError(f"{path}: {name} must be a number of a port.")
    return value


def _workers(path: Path, name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_WORKERS:
        raise SourceError(f"{path}: {name} must be a whole number from 1 to {MOST_WORKERS}.")
    return value


def _number(path: Path, name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise SourceError(f"{path}: {name} must be a number of at least 0.")
    return float(value)


def _texts(path: Path, name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise SourceError(f"{path}: {name} must be a list of texts.")
    return tuple(_text(path, name, each) for each in value)


def _folders(path: Path, name: str, value: Any) -> tuple[Path, ...]:
    return tuple(path.parent / each for each in _texts(path, name, value))


def _deadlines(path: Path, name: str, value: Any) -> Deadlines:
    if value == _OFF:
        return Deadlines(off=True)
    if not isinstance(value, dict):
        raise SourceError(f'{path}: {name} must be a table [server.deadlines], or "{_OFF}".')
    _known(path, "[server.deadlines]", value, ("default", *KINDS))
    times = {kind: _time(path, kind, each) for kind, each in value.items()}
    return Deadlines(default=times.pop("default", QuestionTime()), by_kind=times)


def _time(path: Path, name: str, value: Any) -> QuestionTime:
    if not isinstance(value, dict):
        return QuestionTime(_above_zero(path, name, value), 0.0)
    known = ("seconds", "per_million_units")
    _known(path, f"the deadline of {name}", value, known)
    return QuestionTime(
        _above_zero(path, name, value.get("seconds", QuestionTime.seconds)),
        _number(path, name, value.get("per_million_units", 0)),
    )


def _above_zero(path: Path, name: str, value: Any) -> float:
    seconds = _number(path, name, value)
    if not seconds:
        raise SourceError(f"{path}: the deadline of {name} must be above 0 seconds.")
    return seconds


def _limits(path: Path, name: str, value: Any) -> ServerLimits:
    known = [each.name for each in fields(ServerLimits)]
    if not isinstance(value, dict):
        raise SourceError(f"{path}: {name} must be a table [server.limits].")
    _known(path, "[server.limits]", value, known)
    for key, each in value.items():
        if isinstance(each, bool) or not isinstance(each, int) or each < 1:
            raise SourceError(f"{path}: {key} must be a whole number of at least 1.")
    return ServerLimits(**value)


_READERS: dict[str, Any] = {
    "host": _text,
    "port": _port,
    "storage": _path,
    "hosts": _texts,
    "behind_proxy": _flag,
    "tls_cert": _path,
    "tls_key": _path,
    "cors": _texts,
    "sources": _folders,
    "workers": _workers,
    "stop_seconds": _number,
    "ledger": _ledger,
    "approval_hours": _number,
}
