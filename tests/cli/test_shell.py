"""`onesided completion` and `onesided man`."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from onesided.cli import run
from onesided.cli.program import cli


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_how_to_complete(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    said = capsys.readouterr().out
    assert "_ONESIDED_COMPLETE" in said
    if shell == "bash" and shutil.which("bash"):
        subprocess.run(["bash", "-n"], input=said, text=True, check=True)


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", "tcsh"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_manual_has_every_command_and_no_request_of_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["man"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in cli.list_commands(None):  # type: ignore[arg-type]
        assert any(line.startswith(f'.SS "onesided {name}') for line in lines), name
    requests = {line.split()[0] for line in lines if line.startswith((".", "'"))}
    assert requests == {".TH", ".SH", ".SS", ".TP", ".PP"}
    assert any(line.startswith("\\fB\\-\\-epsilon") for line in lines)
