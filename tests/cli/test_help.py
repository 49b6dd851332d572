"""`--help` of every command: each option says what it is for and which value it has by default."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from onesided.cli.program import cli
from onesided.cli.reproduce import reproduce
from onesided.experiments.figures import FIGURES


def every_command(group: click.Group, above: str = "") -> Iterator[tuple[str, click.Command]]:
    """All commands below `group`, with the words that call them."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{above}{name}", command
        if isinstance(command, click.Group):
            yield from every_command(command, f"{above}{name} ")


COMMANDS = dict(every_command(cli))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_what_it_does(name: str) -> None:
    assert COMMANDS[name].help


@pytest.mark.parametrize("name", COMMANDS)
def test_an_option_says_what_it_is_for_and_its_default(name: str) -> None:
    for option in COMMANDS[name].params:
        if isinstance(option, click.Option):
            assert option.help, option.name
            has_default = not option.is_flag and option.to_info_dict()["default"] not in (None, "")
            says_it = option.show_default or "default" in option.help
            assert says_it or not has_default or option.multiple, option.name


def test_no_help_loads_an_engine() -> None:
    program = (
        "import sys; from onesided.cli import run; from onesided.cli.program import _COMMANDS\n"
        "for name in _COMMANDS: assert run([name, '--help']) == 0\n"
        "heavy = {'numpy', 'duckdb', 'pyarrow', 'sqlglot', 'rich', 'altair'}\n"
        "heavy = (heavy | {'httpx', 'sqlalchemy'}) & set(sys.modules)\n"
        "sys.exit(', '.join(heavy) or None)"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr


def test_a_command_starts_without_pandas_and_has_it_when_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("room,seen\nhall,1\nhall,2\n")
    program = (
        "import sys; from onesided.cli.program import run_as_program\n"
        "asked = ['count', 'a.csv', '--unit', 'rows', '--policy', 'false', '--epsilon', '1']\n"
        "assert run_as_program([*asked, '--mechanism', 'laplace', '--json']) == 0\n"
        "assert 'pandas' not in sys.modules and 'pyarrow' in sys.modules\n"
        "import pyarrow\n"
        "assert pyarrow.table({'a': [1]}).to_pandas()['a'].tolist() == [1]\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path
    )
    assert answer.returncode == 0, answer.stderr


def test_reproduce_names_every_figure_in_its_order() -> None:
    words = " ".join((reproduce.help or "").split())
    assert f"Figures: {', '.join(figure.name for figure in FIGURES)}." in words
