"""The surfaces there are: one line of `SURFACES` each."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from onesided.audit.session import sources
from onesided.audit.session.cells import Form
from onesided.audit.session.commands import CommandStage, Shell, shell
from onesided.audit.session.dice import Dice
from onesided.audit.session.in_python import staged_in_python
from onesided.audit.session.on_datafusion import datafusion
from onesided.audit.session.on_postgres import postgres
from onesided.audit.session.on_spark import spark
from onesided.audit.session.sources import Source
from onesided.audit.session.surfaces import Stage, Surface
from onesided.audit.session.worlds import World


@dataclass(frozen=True)
class DuckDB:
    """Files and frames here."""

    forms: Sequence[Form] = (Form.TYPED, Form.TYPED, Form.CSV)
    lookups: bool = True
    declares: bool = True
    without: frozenset[str] = frozenset()

    def sources(self, form: Form) -> Sequence[Source]:
        return [each for each in sources.sources() if each.form is form]

    @contextmanager
    def staged(self, world: World, source: Source, dice: Dice) -> Iterator[Stage]:
        # What is found in a CSV file is frozen by a ledger alone.
        durable = world.form is Form.CSV or dice.one_in(3)
        with (
            tempfile.TemporaryDirectory() as folder,
            staged_in_python(world, source, Path(folder), durable=durable) as stage,
        ):
            yield stage


@dataclass(frozen=True)
class CommandLine:
    """Files here, asked by commands."""

    shell: Shell
    forms: Sequence[Form] = (Form.TYPED, Form.CSV)
    lookups: bool = True
    declares: bool = False
    without: frozenset[str] = frozenset({"ngrams", "touches"})

    def sources(self, form: Form) -> Sequence[Source]:
        return [each for each in sources.sources() if each.form is form and each.files]

    @contextmanager
    def staged(self, world: World, source: Source, dice: Dice) -> Iterator[Stage]:
        with (
            tempfile.TemporaryDirectory() as folder,
            staged_in_python(world, source, Path(folder), durable=True) as stage,
        ):
            yield CommandStage(stage, self.shell)


@contextmanager
def _command_line(connection: Any) -> Iterator[Surface]:
    with shell() as opened:
        yield CommandLine(opened)


@contextmanager
def _duckdb(connection: Any) -> Iterator[Surface]:
    yield DuckDB()


Opener: TypeAlias = Callable[[Any], AbstractContextManager[Surface]]
SURFACES: dict[str, Opener] = {
    "duckdb": _duckdb,
    "postgres": postgres,
    "datafusion": datafusion,
    "spark": spark,
    "command": _command_line,
}
"""By the name of the engine: what opens it, given a connection or None, and closes it."""
