"""Files and frames in DataFusion."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onesided.audit.session import sources
from onesided.audit.session.cells import Form
from onesided.audit.session.dice import Dice
from onesided.audit.session.in_python import staged_in_python
from onesided.audit.session.sources import Source
from onesided.audit.session.surfaces import Stage, Surface
from onesided.audit.session.worlds import World
from onesided.engine.datafusion.entry import CONNECTION


@dataclass(frozen=True)
class DataFusion:
    """Files of Parquet, and frames."""

    forms: Sequence[Form] = (Form.TYPED,)
    lookups: bool = True
    declares: bool = True
    without: frozenset[str] = frozenset()

    def sources(self, form: Form) -> Sequence[Source]:
        return [each for each in sources.sources() if each.form is form]

    @contextmanager
    def staged(self, world: World, source: Source, dice: Dice) -> Iterator[Stage]:
        with (
            tempfile.TemporaryDirectory() as folder,
            staged_in_python(
                world, source, Path(folder), durable=dice.one_in(3), connection=CONNECTION
            ) as stage,
        ):
            yield stage


@contextmanager
def datafusion(connection: Any) -> Iterator[Surface]:
    """Each opened table has a DataFusion of its own."""
    yield DataFusion()
