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

_WAITING = 2048
_LONGEST_HEAD = 64 * 1024


class ImpatientProtocol(H11Protocol):
    """HTTP/1.1 that closes a connection on which no whole request arrives in time."""

    seconds = 20.0

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._patience = self.loop.call_later(self.seconds, self._close_if_idle)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._patience is not None:
            self._patience.cancel()
        super().connection_lost(exc)

    def _close_if_idle(self) -> None:
        """Nothing has come but a part of a head; from the first request on others are in charge."""
        if self.cycle is None and not self.transport.is_closing():
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
    served = Served.of(config, log or RequestLog())
    uvicorn.Server(uvicorn_config(config, application(served, said))).run(sockets=[sock])


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
