"""Real trouble for the engines: full disks, rights withdrawn, and connections that are cut."""

from __future__ import annotations

import ctypes
import os
import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

NOBODY = 65534


@contextmanager
def full_disk(process: int, size: int) -> Iterator[None]:
    """Every write of a running process beyond `size` bytes of a file fails, as on a full disk."""
    before = _file_limit(process)
    _file_limit(process, (size, before[1]))
    try:
        yield
    finally:
        with suppress(ProcessLookupError, FileNotFoundError):
            _file_limit(process, before)


def _file_limit(process: int, *limits: tuple[int, int]) -> tuple[int, int]:
    """The limit of another process can be set under its own user only."""
    owner = Path(f"/proc/{process}").stat()
    own_user, own_group = os.getuid(), os.getgid()
    os.setresgid(owner.st_gid, -1, -1)
    os.setresuid(owner.st_uid, -1, -1)
    try:
        return resource.prlimit(process, resource.RLIMIT_FSIZE, *limits)
    finally:
        os.setresuid(own_user, -1, -1)
        os.setresgid(own_group, -1, -1)


@contextmanager
def without_right(path: Path) -> Iterator[None]:
    """This thread may not open `path`; root is stopped by no mode, and acts as nobody meanwhile."""
    mode = path.stat().st_mode
    path.chmod(0)
    library = ctypes.CDLL(None, use_errno=True)
    is_root = os.geteuid() == 0
    if is_root:
        library.setfsuid(NOBODY)
    try:
        yield
    finally:
        if is_root:
            library.setfsuid(0)
        path.chmod(mode)


class Proxy:
    """Stands between a client and the local socket of a PostgreSQL server, until it is cut."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        folder = Path(parse_qs(parts.query)["host"][0])
        self._server = next(str(each) for each in folder.glob(".s.PGSQL.*[0-9]"))
        self._entry = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = []
        address = f"postgres@127.0.0.1:{self._entry.getsockname()[1]}"
        self.url = f"postgresql://{address}{parts.path}?sslmode=disable&gssencmode=disable"
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def cut(self) -> None:
        """Drop every connection; new ones are let through."""
        for end in self._ends:
            _shut(end)

    def close(self) -> None:
        _shut(self._entry)
        self.cut()
        for thread in self._threads:
            thread.join()
        for end in (self._entry, *self._ends):
            end.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._entry.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._server)
            self._ends += [client, server]
            for pair in ((client, server), (server, client)):
                self._threads.append(threading.Thread(target=_forward, args=pair))
                self._threads[-1].start()


def _forward(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
    _shut(source)
    _shut(target)


def _shut(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
