"""The same in Python, on the command line and over HTTP: what a page gives to copy is true."""

from __future__ import annotations

import html
import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from onesided.cli.program import cli
from support.pages import ask, csrf, in_browser
from support.serving import ServerAtWork, describe, serving

GROUPS = {"by": ["room", "", ""], "values": ["", "", ""], "max_groups": "2"}
SQL = "SELECT room, COUNT(DISTINCT device, day) AS n FROM data GROUP BY room"
FORMS: Mapping[str, Mapping[str, Any]] = {
    "count": {
        **GROUPS,
        "values": ["lab, hall, *", "", ""],
        "where": "consent AND room <> 'it''s'",
        "purpose": "plan \"rooms\" & 'more'",
    },
    "sample": {"columns": ["room", "day"], "where": "room <> 'x'"},
    "sum": {**GROUPS, "column": "device", "bound": "9"},
    "mean": {"column": "device", "bound": "9", "max_groups": "1", "yes": "1"},
    "quantile": {"column": "device", "low": "0", "high": "60", "max_groups": "1"},
    "histogram": {"column": "device", "edges": "0, 10, 60", "max_groups": "1"},
    "distinct": {"value": "room", "max_values": "3"},
    "ngrams": {"n": "2", "path": "room", "order": "ts", "max_groups": "3"},
    "touches": {**GROUPS, "max_groups": ""},
    "sql": {"statement": SQL, "max_groups": "2"},
}
COMMANDS = {*FORMS} - {"ngrams", "touches"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerAtWork]:
    with serving(describe(tmp_path_factory.mktemp("ways"), seconds=None)) as found:
        yield found


@pytest.fixture(scope="module")
def token(server: ServerAtWork) -> str:
    return server.token("ann")


def ways_of(page: str) -> dict[str, str]:
    """What a page gives to copy, by its name."""
    found = re.findall(r"(?s)<h3>([^<]+)</h3>\s*<pre[^>]*><code>(.*?)</code>", page)
    return {name: html.unescape(code) for name, code in found}


@pytest.mark.parametrize("kind", FORMS)
def test_each_way_asks_the_question_of_the_form(
    server: ServerAtWork, token: str, kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Asked by the form first, the same question is free in every other way."""
    monkeypatch.setenv("ONESIDED_TOKEN", token)
    monkeypatch.chdir(tmp_path)
    with in_browser(server, token) as ann:
        form = {"epsilon": "0.25", **FORMS[kind], "csrf": csrf(ann)}
        planned = ann.post(f"/data/visits/ask/{kind}/plan", data=form).text
        ways = ways_of(planned)
        ask(server, ann, kind, form)
    spent = server.desk.spent("visits", "ann")
    assert spent > 0
    in_a_command = ["Command line"] if kind in COMMANDS else []
    assert [*ways] == ["Python", *in_a_command, "HTTP"]
    scope: dict[str, Any] = {}
    exec(f"import datetime, decimal\n{ways['Python']}".replace("\nds.", "\nfound = ds."), scope)
    assert scope["found"].receipt
    scope["ds"].close()
    if "Command line" in ways:
        run_command(ways["Command line"], tmp_path)
    answer = run_curl(ways["HTTP"], token)
    assert answer["job"] is None
    assert server.desk.spent("visits", "ann") == spent


def run_command(line: str, folder: Path) -> None:
    words = shlex.split(line)
    assert words.pop(0) == "onesided"
    more = ["--out", str(folder / "answer.parquet")] if words[0] == "sample" else []
    done = CliRunner().invoke(cli, [*words, *more], catch_exceptions=False)
    assert done.exit_code == 0, done.output


def run_curl(line: str, token: str) -> Any:
    done = subprocess.run(
        ["bash", "-c", f"curl -s{line[4:]}"],
        env={**os.environ, "ONESIDED_TOKEN": token},
        capture_output=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)
