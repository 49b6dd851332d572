"""The backup and the drill work as the page prints them, on both databases."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from string import Template

import pytest

from onesided.cli import run
from onesided.ledger.desk import JobState, PersonRole, Rights
from support.desks import Office
from support.ledgers import in_database, in_file
from support.postgres import TestServer

PAGE = Path(__file__).parents[2] / "docs" / "serving" / "backup.md"


def _commands(language: str) -> list[str]:
    """The commands of the page in their order."""
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 2
    return "".join(blocks).splitlines()


def _follow(commands: list[str], **variables: str) -> None:
    """Run them one after the other, our own within this process."""
    for command in commands:
        if command.startswith("onesided "):
            words = shlex.split(Template(command).substitute(variables))
            assert run(words[1:]) == 0, command
        else:
            env = {**os.environ, **variables}
            subprocess.run(["bash", "-c", command], env=env, check=True)


def _fill(office: Office) -> None:
    office.desk.add_token("ann", PersonRole.ANALYST)
    office.desk.set_rights("visits", "ann", Rights(needs_approval=True))
    done, _ = office.asked("ann", "answered"), office.asked("ann", "open")
    assert office.answer(done)


def _check(said: str) -> None:
    assert "visits" in said
    assert "ann" in said
    assert "needed" in said
    assert "verified" in said


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="sqlite3 is not installed")
def test_the_drill_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    office = Office.at(in_file(tmp_path / "visits.ledger"))
    _fill(office)
    head = office.ledger.head()
    _follow(_commands("sqlite"))
    said = capsys.readouterr().out
    _check(said)
    assert head.hash in said
    assert {path.name for path in tmp_path.glob("copy*")} <= {"copy.ledger-shm", "copy.ledger-wal"}
    office.close()


@pytest.mark.soak
def test_the_drill_of_a_database(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    ledger_database: str,
    postgres_server: TestServer,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", postgres_server.tools, prepend=os.pathsep)
    office = Office.at(in_database(ledger_database))
    _fill(office)
    drill = postgres_server.new_database()
    _follow(_commands("postgres"), LEDGER=ledger_database, DRILL=drill)
    _check(capsys.readouterr().out)
    office.place.where = drill
    copy = office.again()
    assert [job.state for job in copy.desk.jobs()] == [JobState.ACCEPTED] * 2
    office.clock.move(10)
    states = [job.state for job in copy.desk.jobs()]
    assert states == [JobState.DONE, JobState.ACCEPTED]
    assert copy.ledger.verify(office.ledger.head()).ok
    for each in (office, copy):
        each.close()
