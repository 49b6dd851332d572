"""An analyst who is killed in the middle of a release, at a chosen step or moment.

Analysts are forked from a server that has loaded everything but started no thread, so that each of
them is a whole session in a process of its own, ready within milliseconds.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from onesided.data.release import Release
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.ledger import rows, store
from onesided.mechanisms.registry import mechanism_names
from onesided.session import Dataset, open_dataset
from support.crashing import Fuse
from support.visits import POLICY, ROOMS, UNIT

STEPS = 60
"""More than one release takes, so that some analysts survive."""

EPSILON = "0.125"


@dataclass(frozen=True)
class Question:
    """What is asked in run number `number`; no two runs ask the same."""

    number: int

    @property
    def kind(self) -> str:
        kinds = ["one-sided", "sample", *(["auto"] if "auto" in mechanism_names() else [])]
        return kinds[self.number % len(kinds)]

    def ask(self, dataset: Dataset) -> str:
        """Ask, and return a digest of what was shown."""
        if self.kind == "sample":
            # The same coins at the same ε: another filter is another request, at no cost.
            release = dataset.sample(EPSILON, where=f"device <> {self.number}")
        else:
            release = dataset.count(
                "room",
                f"device <> {self.number}",
                epsilon=EPSILON,
                max_groups=1,
                mechanism=self.kind,
                domain={"room": [*ROOMS, "*"]},
            )
        return digest(release)


def digest(release: Release) -> str:
    """Names what was shown."""
    content = repr((release.table.to_pylist(), release.receipt.to_json()))
    return hashlib.sha256(content.encode()).hexdigest()


def opened(source: Path, ledger: Path, budget: object) -> Dataset:
    """The data set with its durable account."""
    return open_dataset(source, unit=UNIT, policy=POLICY, budget=budget, ledger=ledger)


@dataclass(frozen=True)
class Analysts:
    """Where killed analysts work."""

    source: Path
    ledger: Path
    budget: str

    def killed(
        self, question: Question, *, fuse: Fuse | None = None, seconds: float = 0.0
    ) -> str | None:
        """Ask in a child that dies by its fuse or after so many seconds; what it has shown."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["onesided.session", "onesided.language.parser"])
        reader, writer = context.Pipe(duplex=False)
        child = context.Process(target=_serve, args=(self, question, writer, fuse))
        child.start()
        writer.close()
        try:
            assert reader.recv() == "ready"
            if fuse is None:
                time.sleep(seconds)
                child.kill()
            with suppress(EOFError):
                return str(reader.recv())
            return None
        finally:
            reader.close()
            child.join()


def _serve(where: Analysts, question: Question, writer: Connection, fuse: Fuse | None) -> None:
    writer.send("ready")
    if fuse is not None:
        _lay(fuse)
    with opened(where.source, where.ledger, where.budget) as dataset:
        writer.send(question.ask(dataset))


def _lay(fuse: Fuse) -> None:
    """Count every statement and commit of the ledger, and every question to the engine."""
    plain = rows.LedgerRows.__init__

    def fused(self: rows.LedgerRows, run: rows.StatementRunner, *, lock: str = "") -> None:
        plain(self, fuse.around(run), lock=lock)

    rows.LedgerRows.__init__ = fused  # type: ignore[method-assign]
    for kind in store.Store.__subclasses__():
        _burn(fuse, kind, "commit")
    for step in ("count", "sample", "output_schema"):
        _burn(fuse, DuckDBEngine, step)


def _burn(fuse: Fuse, owner: Any, name: str) -> None:
    method: Callable[..., Any] = getattr(owner, name)
    setattr(owner, name, fuse.around(method))
