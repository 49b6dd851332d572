"""A way to a server on which connections break: what is sent arrives, and answers are lost."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass
class CutWay:
    """Hands requests on, and drops the answers to those that begin like one of `dropped`.

    - `seen`: the first lines of all requests.
    - `instead`: an answer that is given in place of the server's, by the beginning of a request.
    """

    address: str
    dropped: dict[bytes, int] = field(default_factory=dict)
    instead: dict[bytes, bytes] = field(default_factory=dict)
    seen: list[bytes] = field(default_factory=list)


@contextmanager
def cut_way(server: str) -> Iterator[CutWay]:
    """A way to the server at this address, for the time of the block."""
    parts = urlsplit(server)
    target = (parts.hostname or "", parts.port or 80)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        way = CutWay(f"http://127.0.0.1:{listening.getsockname()[1]}")
        thread = threading.Thread(target=_accept, args=(listening, target, way), daemon=True)
        thread.start()
        yield way
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
    thread.join(5)


def _accept(listening: socket.socket, target: tuple[str, int], way: CutWay) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        threading.Thread(target=_serve, args=(connection, target, way), daemon=True).start()


def _serve(connection: socket.socket, target: tuple[str, int], way: CutWay) -> None:
    """One request at a time on one connection."""
    with connection, socket.create_connection(target) as behind, suppress(OSError):
        while request := _message(connection):
            first = request.split(b"\r\n", 1)[0]
            way.seen.append(first)
            answer = next((each for name, each in way.instead.items() if name in first), None)
            if answer is not None:
                connection.sendall(answer)
                return
            behind.sendall(request)
            reply = _message(behind)
            name = next((each for each in way.dropped if each in first), None)
            if name is not None and way.dropped[name] > 0:
                way.dropped[name] -= 1
                return
            connection.sendall(reply)


def _message(source: socket.socket) -> bytes:
    """A message with the body that its Content-Length announces."""
    content = b""
    while b"\r\n\r\n" not in content:
        piece = source.recv(65_536)
        if not piece:
            return b""
        content += piece
    head, _, body = content.partition(b"\r\n\r\n")
    lengths = [
        int(line.partition(b":")[2])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length:")
    ]
    while len(body) < sum(lengths):
        body += source.recv(65_536)
    return head + b"\r\n\r\n" + body
