"""A world that was opened in Python, and sessions on it with fixed noise."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from onesided.audit.session.cells import DAY, DAYS, SECRET
from onesided.audit.session.requests import Request
from onesided.audit.session.sources import Source, Written, written
from onesided.audit.session.surfaces import NotOpened, Run, SecondEngine
from onesided.audit.session.tape import Tape, TapedDataset
from onesided.audit.session.watching import (
    Seen,
    answered_in_python,
    document,
    keys_in,
    masked,
    seen_in_python,
)
from onesided.audit.session.worlds import ASIDE, Side, World
from onesided.data.units import ROWS
from onesided.engine.base import Engine
from onesided.errors import InputError
from onesided.language import Schema
from onesided.ledger import Ledger, open_ledger
from onesided.policy import Policy
from onesided.session import Dataset, open_dataset

BUDGET = Fraction(1000)
NAME = "visits"
VERSION = "as the steward named it"
SEEDS_A_REQUEST = 1000


@dataclass
class PythonStage:
    """Three opened tables.

    - `opened`: each table, and how it was handed over.
    - `agreed`: a ledger in which the account was opened on the plain table, so that its format is
      frozen; None for accounts in memory, where each table is opened for itself.
    """

    world: World
    folder: Path
    opened: Mapping[Side, tuple[Written, Dataset]]
    agreed: Path | None
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def schema(self) -> Schema:
        """The public columns."""
        return self.opened[Side.PLAIN][1]._facts.schema

    def ask(self, side: Side, requests: Sequence[Request], seed: int) -> Run:
        return self.session(side, requests, _noise(seed, requests))

    def explain(self, run: Run, requests: Sequence[Request]) -> Run:
        tapes = [Tape(played=seen.released) if seen.answered else Tape(seed=0) for seen in run.seen]
        return self.session(Side.PLAIN, requests, tapes)

    def ask_second(
        self, side: Side, requests: Sequence[Request], seed: int, second: SecondEngine
    ) -> Run | None:
        if self.world.aside:
            return None
        handed, dataset = self.opened[side]
        engine = second(self.world.table(side), handed, dataset._table.engine)
        if engine is None:
            return None
        return self.session(side, requests, _noise(seed, requests), engine, bare=True)

    def ask_of_more(self, side: Side, requests: Sequence[Request], seed: int) -> Run:
        return self.session(side, requests, _noise(seed, requests), more=1, bare=True)

    def session(
        self,
        side: Side,
        requests: Sequence[Request],
        tapes: Sequence[Tape],
        engine: Engine | None = None,
        more: int = 0,
        bare: bool = False,
    ) -> Run:
        """The requests on an account of its own, each over a tape.

        - `bare`: nobody looks at more than what they let out.
        """
        ledger = self.ledger()
        dataset = TapedDataset(
            self.opened[side][1],
            lambda: open_ledger(ledger),
            BUDGET,
            frozen=ledger is not None,
            engine=engine,
            more=more,
        )
        seen = []
        for request, tape in zip(requests, tapes, strict=True):
            dataset.tape = tape
            if bare:
                outcomes, answered = answered_in_python(dataset, request)
            else:
                place = self.new_folder()
                outcomes, answered = seen_in_python(dataset, request, place)
                shutil.rmtree(place)
            seen.append(Seen(outcomes, tuple(tape.values), answered))
        if bare:
            dataset.leave()
            return Run(tuple(seen), {})
        dataset.budget  # opens the account where no request got that far  # noqa: B018
        account, keys = account_of(dataset.ledger)
        account["format"] = document(dataset.format)
        dataset.leave()
        return Run(tuple(seen), account, keys)

    def ledger(self) -> Path | None:
        """A new ledger on which the account was opened already."""
        if self.agreed is None:
            return None
        copy = self.folder / f"{next(self._numbers)}.ledger"
        shutil.copy(self.agreed, copy)  # its mode too: nobody else may read it
        return copy

    def new_folder(self) -> Path:
        """An empty folder."""
        folder = self.folder / f"out{next(self._numbers)}"
        folder.mkdir()
        return folder


def _noise(seed: int, requests: Sequence[Request]) -> list[Tape]:
    return [Tape(seed=seed + SEEDS_A_REQUEST * number) for number in range(len(requests))]


def account_of(ledger: Ledger) -> tuple[dict[str, str], frozenset[str]]:
    """What auditors and analysts see of the account, and which keys were masked in it."""
    (account,) = ledger.accounts()
    balance, export = account.balance(), ledger.export()
    found = {
        "budget": f"{balance.spent} of {balance.budget}, {balance.plain_sum}",
        "charges": masked("\n".join(map(repr, balance.charges))),
        "export": document(export),
        "verification": str(ledger.verify().problem),
    }
    return found, keys_in(repr(export))


@contextmanager
def staged_in_python(
    world: World, source: Source, folder: Path, *, durable: bool, **options: Any
) -> Iterator[PythonStage]:
    """The world, handed over by `source` and opened with these options of `open_dataset`.

    - `durable`: the account is in a file, opened on the plain table, and goes on with the others.
    """
    handed = {}
    for side in Side:
        place = folder / side.name.lower()
        place.mkdir()
        handed[side] = {**_written(world, side, source, place), **options}
    with ExitStack() as opened:
        agreed = folder / "agreed.ledger" if durable else None
        datasets = {}
        for side in Side:
            dataset = _opened(world, handed[side], agreed)
            opened.callback(dataset.close)
            datasets[side] = (handed[side], dataset)
        yield PythonStage(world, folder, datasets, agreed)


def _written(world: World, side: Side, source: Source, folder: Path) -> dict[str, Any]:
    """One of the tables, handed over, with what lies aside as a file or frame of the same make."""
    table, beside = world.handed_over(side)
    found: dict[str, Any] = {**written(source, table, folder), "withhold": world.withheld}
    if beside is not None:
        # Not below the other, since a folder stands for all files in it.
        place = folder.parent / ASIDE / folder.name
        place.mkdir(parents=True)
        handed = written(source, beside, place)
        lookup = {kind: handed[kind] for kind in ("source", "table") if kind in handed}
        lookup |= {"on": list(world.on), "max_units": world.max_units}
        found["lookups"] = {ASIDE: lookup}
    if world.map is not None:
        found["map"] = world.map
    if world.max_units is not None:
        found["domains"] = {DAY: list(DAYS)}
    return found


def _is_secret(row: Mapping[str, Any]) -> bool:
    """As the policy that names the column alone: NULL is sensitive."""
    return row[SECRET] is not False


def _opened(world: World, handed: Written, ledger: Path | None) -> Dataset:
    function = world.function and not isinstance(handed.get("source"), str)
    arguments: dict[str, Any] = {
        **handed,
        "policy": Policy.from_function(_is_secret, SECRET) if function else world.spelled_policy,
        "unit": list(world.unit) or ROWS,
        "name": NAME,
        "budget": BUDGET,
    }
    if ledger is not None:
        arguments |= {"ledger": ledger, "version": VERSION}
    try:
        dataset = open_dataset(**arguments)
        dataset.budget  # opens the account, which freezes the format  # noqa: B018
        dataset._books.close()  # a ledger in use cannot be copied
    except InputError as error:
        raise NotOpened(str(error)) from None
    return dataset
