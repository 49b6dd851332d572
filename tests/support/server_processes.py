"""Servers as processes of their own: started by the command, killed, and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

PATIENCE = 60
"""Seconds within which a server is up, or has ended."""


@dataclass
class ServerProcess:
    """`onesided serve FILE` with a port of its own; what it logs goes to a file beside FILE."""

    file: Path
    name: str
    process: subprocess.Popen[str] | None = None
    address: str = ""
    logs: list[Path] = field(default_factory=list)

    def start(self) -> None:
        """Start it, and wait until it can be asked."""
        log = self.file.parent / f"{self.name}-{len(self.logs)}.log"
        self.logs.append(log)
        with log.open("w") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "onesided", "serve", str(self.file), "--port", "0"],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        assert said.startswith("serving"), log.read_text()
        self.address = said.split()[-1]
        end = time.monotonic() + PATIENCE
        while not self.is_ready():
            assert self.process.poll() is None, log.read_text()
            assert time.monotonic() < end, "the server does not get ready"
            time.sleep(0.02)

    def is_ready(self) -> bool:
        """Whether it can be asked."""
        try:
            return httpx.get(f"{self.address}/readyz", timeout=PATIENCE).status_code == 200
        except httpx.TransportError:
            return False

    def kill(self) -> None:
        """End it at once, in the middle of anything."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def end(self) -> str:
        """End it by SIGTERM; what it says at last."""
        assert self.process is not None
        self.process.terminate()
        self.process.communicate(timeout=PATIENCE)
        return self.logs[-1].read_text()

    def logged(self) -> list[dict[str, object]]:
        """All lines of all its logs."""
        lines = "".join(log.read_text() for log in self.logs).splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]


@contextmanager
def server_processes(file: Path, number: int = 1) -> Iterator[list[ServerProcess]]:
    """So many servers on one description; none outlives the block."""
    servers = [ServerProcess(file, f"server-{each}") for each in range(number)]
    try:
        for server in servers:
            server.start()
        yield servers
    finally:
        for server in servers:
            if server.process is not None and server.process.poll() is None:
                with suppress(ProcessLookupError):
                    server.kill()
