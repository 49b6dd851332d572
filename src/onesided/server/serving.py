"""The sockets of the server: connections that send nothing are closed, and its end is told."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from onesided.errors import SourceError
from onesided.server.app import application
from onesided.server.config import ServerConfig
from onesided.server.operate.logs import RequestLog
from onesided.server.served import Served
from onesided.server.workers import run_workers

_WAITING = 2048
_LONGEST_HEAD = 64 * 1024


class ImpatientProtocol(H11Protocol):
    """HTTP/1.1 that closes connections on which nothing gets on.

    - A request has so many seconds until its head is there, from the connection or from the end of
      the answer before it. Its body has a limit of its own, where it is read.
    - Of an answer something must have been taken in as many seconds.
    """

    seconds = 20.0

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._waiting: asyncio.TimerHandle | None = None
        self._sending: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch_for_head()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._waiting, self._sending):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_sending(None)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._sending is not None:
            self._sending.cancel()

    def _watch_for_head(self) -> None:
        """Time runs while a head is awaited, and a part of one does not stop it."""
        if self.cycle is not None and not self.cycle.response_complete:
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None
        elif self._waiting is None:
            self._waiting = self.loop.call_later(self.seconds, self._close)

    def _watch_sending(self, before: int | None) -> None:
        """Time runs while whoever asked takes nothing of what is sent."""
        left = self.transport.get_write_buffer_size()
        if before is not None and left >= before:
            self.transport.abort()
            return
        self._sending = self.loop.call_later(self.seconds, self._watch_sending, left)

    def _close(self) -> None:
        """What is still being sent is sent first."""
        if not self.transport.is_closing():
            self.transport.close()


def bound(config: ServerConfig) -> socket.socket:
    """The socket that the server listens on, before anything is opened."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((config.host, config.port))
    except OSError:
        sock.close()
        raise SourceError(
            f"Nothing can listen at {config.host}:{config.port}; another program may do so already."
        ) from None
    return sock


def serve(
    config: ServerConfig,
    sock: socket.socket,
    *,
    said: Callable[[str], None],
    log: RequestLog | None = None,
) -> None:
    """Serve until a signal ends it.

    - `said`: is told at the end what was finished and what was left.
    """

    def work() -> None:
        served = Served.of(config, log or RequestLog())
        uvicorn.Server(uvicorn_config(config, application(served, said))).run(sockets=[sock])

    if config.workers == 1:
        work()
    else:
        run_workers(config.workers, work)


def uvicorn_config(config: ServerConfig, app: ASGIApp) -> uvicorn.Config:
    """How uvicorn serves an application."""

    class Protocol(ImpatientProtocol):
        seconds = float(config.limits.send_seconds)

    return uvicorn.Config(
        app,
        http=Protocol,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=_WAITING,
        timeout_keep_alive=config.limits.send_seconds,
        timeout_graceful_shutdown=int(config.stop_seconds) or 1,
        h11_max_incomplete_event_size=_LONGEST_HEAD,
        ssl_certfile=config.tls_cert,
        ssl_keyfile=config.tls_key,
    )
