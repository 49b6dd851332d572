"""Data that grow by a day a night, and the nightly run that is killed in the middle of it."""

from __future__ import annotations

import multiprocessing
import time
from contextlib import chdir, suppress
from dataclasses import dataclass
from datetime import date, timedelta
from multiprocessing.connection import Connection
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from onesided.cli import run
from onesided.data import series
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.ledger import rows, store
from onesided.randomness import seeded
from support.crashing import Fuse

FIRST = date(2026, 1, 1)
ROOMS = ("cafe", "clinic", "hall", "lab")
QUESTIONS = """
dataset = "visits"

[[questions]]
name = "rooms"
ask = "count"
by = "room"
max_groups = 1
epsilon = 0.5
mechanism = "one-sided"

[[questions]]
name = "devices"
ask = "count"
epsilon = 0.25
"""
DESCRIBED = """
[datasets.visits]
source = "visits"
unit = ["device", "day"]
partition_by = ["day"]
policy = "room = 'clinic'"
budget = 1.5
ledger = "visits.ledger"

[datasets.visits.domains]
room = ["cafe", "clinic", "hall", "lab"]
"""


@dataclass(frozen=True)
class Nights:
    """The folder in which everything lies.

    - `in_folders`: each day has a folder of its own; otherwise one file grows.
    """

    folder: Path
    in_folders: bool = True

    def begin(self) -> None:
        (self.folder / "nightly.toml").write_text(QUESTIONS)
        (self.folder / "onesided.toml").write_text(DESCRIBED)

    def grow(self, number: int, devices: int = 30) -> date:
        """The data of one more day."""
        day = FIRST + timedelta(days=number)
        picked = seeded(number + 1).below(len(ROOMS), devices)
        table = pa.table(
            {
                "device": pa.array(range(devices), pa.int64()),
                "room": [ROOMS[int(each)] for each in picked],
            }
        )
        place = self.folder / "visits"
        if self.in_folders:
            place /= f"day={day}"
        place.mkdir(parents=True, exist_ok=True)
        path = place / "part.parquet"
        if not self.in_folders:
            table = table.append_column("day", pa.array([day] * devices, pa.date32()))
            if path.exists():
                table = pa.concat_tables([pq.read_table(path, partitioning=None), table])
        pq.write_table(table, path)
        return day

    def run(self, day: date) -> int:
        """The nightly command; its exit code."""
        with chdir(self.folder):
            return run(command(day))

    def killed(
        self, day: date, *, fuse: Fuse | None = None, seconds: float | None = None
    ) -> int | None:
        """The nightly command in a process of its own, killed by its fuse or after some seconds."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["onesided.cli.runs", "onesided.session", "support.nights"])
        reader, writer = context.Pipe(duplex=False)
        child = context.Process(target=_serve, args=(self.folder, day, writer, fuse))
        child.start()
        writer.close()
        try:
            assert reader.recv() == "ready"
            if seconds is not None:
                time.sleep(seconds)
                child.kill()
            with suppress(EOFError):
                return int(reader.recv())
            return None
        finally:
            reader.close()
            child.join()

    def series(self, name: str) -> set[str]:
        """The days in a series."""
        return series.parts_of((self.folder / "published" / f"{name}.csv").read_text())


def command(day: date) -> list[str]:
    """What stands in the steward's timetable."""
    tomorrow = day + timedelta(days=1)
    words = ["run", "nightly.toml", "--part", "day=yesterday", "--as-of", str(tomorrow)]
    return [*words, "--series", "published"]


def _serve(folder: Path, day: date, writer: Connection, fuse: Fuse | None) -> None:
    writer.send("ready")
    if fuse is not None:
        _lay(fuse)
    writer.send(Nights(folder).run(day))


def _lay(fuse: Fuse) -> None:
    """Count the statements and commits of the ledger, the questions to the engine, the series."""
    plain = rows.LedgerRows.__init__

    def fused(self: rows.LedgerRows, run: rows.StatementRunner, *, lock: str = "") -> None:
        plain(self, fuse.around(run), lock=lock)

    rows.LedgerRows.__init__ = fused  # type: ignore[method-assign]
    for kind in store.Store.__subclasses__():
        kind.commit = fuse.around(kind.commit)
    DuckDBEngine.count = fuse.around(DuckDBEngine.count)
    series.add_part = fuse.around(series.add_part)
