"""Files and tables on Spark: a session that is given, or a local one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from onesided.audit.session import sources
from onesided.audit.session.cells import Form
from onesided.audit.session.dice import Dice
from onesided.audit.session.in_python import staged_in_python
from onesided.audit.session.sources import Source, Written
from onesided.audit.session.surfaces import Stage, Surface
from onesided.audit.session.worlds import World
from onesided.engine.spark.session import started

_LOCAL = "local[2]"
_PARTITIONS = {"spark.sql.shuffle.partitions": "2"}


@dataclass(frozen=True)
class Spark:
    """Files of Parquet, and DataFrames that read them."""

    spark: Any
    forms: Sequence[Form] = (Form.TYPED,)
    lookups: bool = True
    declares: bool = True
    without: frozenset[str] = frozenset()

    def sources(self, form: Form) -> Sequence[Source]:
        files = [each for each in sources.sources() if each.form is form and each.files]
        return (*files, Source("Spark DataFrame", form, self._frame, files=False))

    @contextmanager
    def staged(self, world: World, source: Source, dice: Dice) -> Iterator[Stage]:
        with (
            tempfile.TemporaryDirectory() as folder,
            staged_in_python(
                world, source, Path(folder), durable=True, connection=self.spark
            ) as stage,
        ):
            yield stage

    def _frame(self, table: pa.Table, folder: Path) -> Written:
        (write,) = (each.write for each in sources.PARQUET[:1])
        path = write(table, folder)["source"]
        return {"source": self.spark.read.parquet(path)}


@contextmanager
def spark(connection: Any) -> Iterator[Surface]:
    """The given session, or one on a master, which is ended afterwards."""
    with closing(started(connection or _LOCAL)) as session:
        if session.owned:
            for name, value in _PARTITIONS.items():
                session.spark.conf.set(name, value)
        yield Spark(session.spark)
