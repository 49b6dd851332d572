"""The backup and the drill work as the page prints them, on both databases."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from onesided.ledger.desk import JobState, PersonRole, Rights
from support.desks import Office
from support.ledgers import in_database, in_file
from support.postgres import TestServer

PAGE = Path(__file__).parents[2] / "docs" / "serving" / "backup.md"


def _commands(language: str) -> str:
    """The blocks of the page in their order, ended by the first command that fails."""
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 2
    return "set -eu\n" + "".join(blocks)


def _run(commands: str, folder: Path, **variables: str) -> str:
    tools = Path(sys.executable).parent
    path = f"{tools}{os.pathsep}{variables.pop('PATH', '')}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", commands],
        cwd=folder,
        env={**os.environ, **variables, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


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
def test_the_drill_of_a_file(tmp_path: Path) -> None:
    office = Office.at(in_file(tmp_path / "visits.ledger"))
    _fill(office)
    head = office.ledger.head()
    said = _run(_commands("sqlite"), tmp_path)
    _check(said)
    assert head.hash in said
    assert {path.name for path in tmp_path.glob("copy*")} <= {"copy.ledger-shm", "copy.ledger-wal"}
    office.close()


@pytest.mark.soak
def test_the_drill_of_a_database(
    tmp_path: Path, ledger_database: str, postgres_server: TestServer
) -> None:
    office = Office.at(in_database(ledger_database))
    _fill(office)
    drill = postgres_server.new_database()
    tools = postgres_server.tools
    _check(_run(_commands("postgres"), tmp_path, LEDGER=ledger_database, DRILL=drill, PATH=tools))
    office.place.where = drill
    copy = office.again()
    assert [job.state for job in copy.desk.jobs()] == [JobState.ACCEPTED] * 2
    office.clock.move(10)
    states = [job.state for job in copy.desk.jobs()]
    assert states == [JobState.DONE, JobState.ACCEPTED]
    assert copy.ledger.verify(office.ledger.head()).ok
    for each in (office, copy):
        each.close()
