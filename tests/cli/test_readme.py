"""The commands and the program in the README work as printed, in an empty folder."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from onesided.cli import run
from support.readme import README, printed


def test_the_readme_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands, program = printed()
    assert len(commands) >= 8
    for command in commands:
        assert run(shlex.split(command)) == 0, command
    exec(compile(program, "README.md", "exec"), {})
    assert (tmp_path / "true.parquet").exists()


def test_every_page_that_is_linked_exists() -> None:
    house = README.parent
    for page in [*house.glob("*.md"), *house.glob("docs/**/*.md"), *house.glob("src/**/*.md")]:
        prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)[)#]", prose):
            assert (page.parent / target).exists(), f"{page.name} → {target}"
