"""The programs and commands on the page about clients work as printed, against a real server."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from onesided.cli import run
from support.dialects import register_dialects
from support.serving import ServerAtWork, describe, serving

PAGE = (Path(__file__).parents[2] / "docs" / "clients.md").read_text(encoding="utf-8")
QUESTIONS = '[[questions]]\nask = "count"\nby = "room"\nmax_groups = 4\nepsilon = 0.5\n'
PRINTED = "127.0.0.1:8642"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerAtWork]:
    with serving(describe(tmp_path_factory.mktemp("served"), seconds=None)) as at_work:
        yield at_work


@pytest.fixture
def page(server: ServerAtWork, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The page with the address of the server, in a folder that has the data."""
    (tmp_path / "visits.parquet").symlink_to(server.config.storage.parent / "visits.parquet")
    (tmp_path / "questions.toml").write_text(QUESTIONS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("ONESIDED_TOKEN", server.token("ann"))
    return PAGE.replace(PRINTED, server.address.removeprefix("http://"))


def commands(page: str, program: str) -> list[str]:
    return [
        line.removeprefix("$ ")
        for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL)
        for line in block.splitlines()
        if line.startswith((f"$ {program} ", f"$ ({program} "))
    ]


def test_the_programs_work(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    register_dialects()
    names: dict[str, Any] = {}
    for program in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(program, "clients.md", "exec"), names)
    shown = capsys.readouterr().out
    assert "nothing was spent" in shown
    assert Path("rooms.csv").exists()
    names["engine"].dispose()
    names["local"].dispose()
    names["here"].close()
    names["ds"].close()


def test_the_commands_work(page: str) -> None:
    found = commands(page, "onesided")
    assert len(found) >= 5
    for command in found:
        assert run(shlex.split(command)[1:]) == 0, command


def test_curl_works(page: str) -> None:
    found = commands(page, "curl")
    assert len(found) >= 4
    for command in found:
        answer = _typed(command)
        for _ in range(100):  # nobody types faster than an answer comes
            if answer.returncode == 0:
                break
            time.sleep(0.1)
            answer = _typed(command)
        assert answer.returncode == 0, (command, answer.stdout)
        assert "text/csv" in command or json.loads(answer.stdout)


def _typed(command: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["bash", "-c", f"{command} --fail-with-body"], capture_output=True)


def test_the_file_of_a_token_is_made_as_it_is_printed(
    page: str, server: ServerAtWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ONESIDED_TOKEN")
    token = server.token("bob")
    for command in [*commands(page, "mkdir"), *commands(page, "umask")]:
        subprocess.run(["bash", "-c", command], input=f"{token}\n".encode(), check=True)
    assert run(["budget", f"{server.address}/visits"]) == 0
