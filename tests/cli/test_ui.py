"""`onesided ui`: one command, one address that works once, and nobody else."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from onesided.cli import run
from support.visits import write_visits


@contextmanager
def console(*words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A console as a process of its own, and the address that it prints."""
    command = [sys.executable, "-m", "onesided", "ui", "--no-browser", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def test_a_file_is_enough(tmp_path: Path) -> None:
    write_visits(tmp_path, devices=20)
    with console(str(tmp_path / "visits.parquet")) as (process, address):
        assert address.startswith("http://127.0.0.1:")
        transport = httpx.HTTPTransport(retries=20)
        with httpx.Client(transport=transport, timeout=60) as browser:
            entered = browser.get(address, follow_redirects=True)
            assert entered.url.path == "/new"
            assert "visits.parquet" in entered.text
            base = str(entered.url.copy_with(path="/"))
            elsewhere = browser.get(base, headers={"Host": "evil.test"})
            assert elsewhere.status_code == 400
        with httpx.Client() as another:
            assert another.get(address).status_code == 404  # it was used
            assert another.get(base).headers["location"] == "/sign-in"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 143
    kept = tmp_path / "visits.onesided"
    assert kept.stat().st_mode & 0o077 == 0
    assert 'deadlines = "off"' in (kept / "onesided.toml").read_text()


def test_what_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ui", str(tmp_path / "no.parquet"), "--no-browser"]) == 2
    assert "There is no file" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
