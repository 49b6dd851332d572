"""The pages on serving, followed word by word, with processes and sockets of their own."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from onesided.server.api import ROUTES
from onesided.server.config import ServerConfig, ServerLimits
from onesided.server.questions import FIELDS
from support.visits import write_visits

PAGES = Path(__file__).parents[2] / "docs" / "serving"
TUTORIAL = (PAGES / "tutorial.md").read_text()
ONESIDED = (sys.executable, "-c", "from onesided.cli import main; main()")
SECONDS = 120


def blocks(text: str, kind: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [content for named, content in found if named == kind]


class Steps:
    """Commands of a page in a folder, on a port that is free."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = dict(os.environ)
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            self.port = str(sock.getsockname()[1])
        self.server: subprocess.Popen[str] | None = None

    def do(self, command: str) -> str:
        words = command.replace("\\\n", " ").replace("8642", self.port)
        if words.startswith("onesided serve onesided.toml"):
            return self._serve()
        if words.startswith("onesided"):
            words = words.replace("onesided", shlex.join(ONESIDED), 1)
        found = subprocess.run(
            ["bash", "-c", words],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert found.returncode == 0, (command, found.stderr)
        return found.stdout

    def _serve(self) -> str:
        self.server = subprocess.Popen(
            [*ONESIDED, "serve", "onesided.toml", "--port", self.port],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.server.stdout is not None
        said = self.server.stdout.readline()
        while True:
            try:
                socket.create_connection(("127.0.0.1", int(self.port)), 1).close()
                return said
            except OSError:
                assert self.server.poll() is None
                time.sleep(0.05)

    def end(self) -> None:
        if self.server is not None:
            self.server.terminate()
            self.server.communicate(timeout=60)


@pytest.fixture
def steps(tmp_path: Path) -> Iterator[Steps]:
    if shutil.which("curl") is None or shutil.which("bash") is None:
        pytest.skip("The pages use bash and curl, which are not here.")
    write_visits(tmp_path)
    found = Steps(tmp_path)
    yield found
    found.end()


def test_the_tutorial_word_by_word(steps: Steps) -> None:
    begun = time.monotonic()
    (described,) = blocks(TUTORIAL, "toml")
    (steps.folder / "onesided.toml").write_text(described)
    token_and_rights, serve, *asking = blocks(TUTORIAL, "")
    add, rights = token_and_rights.strip().splitlines()
    steps.environment["TOKEN"] = steps.do(add).split()[-1]
    steps.do(rights)
    assert "at http://127.0.0.1:" in steps.do(serve)
    facts, plan, ask, wait, rows = asking
    assert json.loads(steps.do(facts))["units"] > 1900
    assert json.loads(steps.do(plan))["options"]
    job = json.loads(steps.do(ask))["job"]
    steps.environment["JOB"] = job["url"]
    assert json.loads(steps.do(wait))["state"] == "accepted"
    time.sleep(job["retry_after"])
    done = json.loads(steps.do(wait))
    assert done["state"] == "done"
    steps.environment["ROWS"] = done["release"]["data_url"]
    answer = steps.do(rows).splitlines()
    assert answer[0].startswith('"room"')
    assert len(answer) > 4
    (sql,) = [each for each in blocks((PAGES / "api.md").read_text(), "") if "curl" in each]
    assert json.loads(steps.do(sql))["job"]["kind"] == "sql"
    assert time.monotonic() - begun < SECONDS


def test_the_page_on_deployment_can_be_read(tmp_path: Path) -> None:
    (described,) = blocks((PAGES / "deployment.md").read_text(), "toml")
    (tmp_path / "onesided.toml").write_text(described)
    config = ServerConfig.read(tmp_path / "onesided.toml")
    assert config.hosts == ("data.example.org",)
    assert config.deadlines.length("sample", 1_000_000).total_seconds() == 30
    limits = tomllib.loads(described)["server"]["limits"]
    assert all(getattr(ServerLimits(), name) == each for name, each in limits.items())


def test_the_page_on_the_api_names_every_route_and_field() -> None:
    page = (PAGES / "api.md").read_text() + (PAGES / "deployment.md").read_text()
    for kind, fields in FIELDS.items():
        assert f"`{kind}`" in page
        assert not [name for name in fields if f"`{name}`" not in page]
    for route in ROUTES:
        short = re.sub(r"\{\w+\}", "{", route.path.removeprefix("/api/v1"))
        last = [part for part in short.split("/") if part and part != "{"]
        assert not last or last[-1].split(".")[0] in page, route.path


def test_what_was_not_run_says_so() -> None:
    folder = PAGES.parents[1] / "examples" / "serving"
    for name in ("Dockerfile", "compose.yaml"):
        assert "never run" in (folder / name).read_text().splitlines()[0]
    assert "never run" in (PAGES / "deployment.md").read_text()
