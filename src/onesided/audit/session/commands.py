"""The command line: every request a process, whose noise nobody can fix.

What it printed and wrote is rendered again by the same command over the plain table, on the ledger
in which the release was stored: it is a repeat there. What the ledger holds is made again in
Python, from what was released.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyarrow.csv import write_csv

from onesided.audit.session.in_python import BUDGET, NAME, VERSION, PythonStage, account_of
from onesided.audit.session.requests import PARQUET, Request
from onesided.audit.session.surfaces import Run
from onesided.audit.session.tape import Tape
from onesided.audit.session.watching import Seen, document, masked, of_files
from onesided.audit.session.worlds import Side
from onesided.data.units import ROWS
from onesided.language import Schema
from onesided.ledger import Ledger, agreed_terms, open_ledger
from onesided.session.questions.base import LOOKS

COLD_IN = 10
"""One command in so many is a new interpreter; the others fork from a warm one."""
_AFTER_THE_CHARGE = (1, 4)
_OPTIONS = {
    "policy": "--stricter-policy",
    "where": "--where",
    "mechanism": "--mechanism",
    "column": "--column",
    "cells": "--cells",
    "bound": "--bound",
    "grid": "--grid",
    "max_groups": "--max-groups",
    "max_rows": "--max-rows",
    "max_values": "--max-values",
    "epsilon": "--epsilon",
    "purpose": "--purpose",
}


@dataclass(frozen=True)
class CommandRun(Run):
    """Its ledger has what was released."""

    ledger: Path = Path()


class Shell:
    """Runs commands."""

    def __init__(self) -> None:
        self._warm = subprocess.Popen(
            [sys.executable, "-m", "onesided.audit.session.warm"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._count = 0

    def run(self, arguments: Sequence[str], folder: Path) -> tuple[int, str, str]:
        """The exit code, standard output and standard error of a command run in `folder`."""
        self._count += 1
        if self._count % COLD_IN == 1:
            cold = subprocess.run(
                [sys.executable, "-m", "onesided", *arguments],
                cwd=folder,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                check=False,
            )
            return cold.returncode, _text(cold.stdout), _text(cold.stderr)
        out, err = (folder.parent / f"{folder.name}.{name}" for name in ("stdout", "stderr"))
        job = {"arguments": list(arguments), "folder": str(folder), "stdout": str(out)}
        assert self._warm.stdin is not None
        assert self._warm.stdout is not None
        self._warm.stdin.write(json.dumps({**job, "stderr": str(err)}) + "\n")
        self._warm.stdin.flush()
        code = int(self._warm.stdout.readline())
        return code, _text(out.read_bytes()), _text(err.read_bytes())

    def close(self) -> None:
        """End the warm process."""
        self._warm.communicate()


@dataclass
class CommandStage:
    """A world whose tables are files, beside the same world in Python."""

    inner: PythonStage
    shell: Shell

    @property
    def schema(self) -> Schema:
        return self.inner.schema

    def ask(self, side: Side, requests: Sequence[Request], seed: int) -> CommandRun:
        ledger = self._ledger()
        seen = []
        known: set[int] = set()
        for request in requests:
            outcomes = self._asked(side, request, ledger)
            with opened_ledger(ledger) as book:
                released, known = released_since(book, known)
            seen.append(Seen(outcomes, released, outcomes["exit code"] == "0"))
        with opened_ledger(ledger) as book:
            account, keys = account_of(book)
        agreed = agreed_terms(ledger, NAME)
        account["format"] = document(None if agreed is None else agreed.format)
        return CommandRun(tuple(seen), account, keys, ledger)

    def explain(self, run: Run, requests: Sequence[Request]) -> Run:
        assert isinstance(run, CommandRun)
        again = self._copied(run.ledger)
        seen = [
            replace(seen, outcomes=self._asked(Side.PLAIN, request, again))
            if seen.answered
            else replace(seen, outcomes=self._asked(Side.PLAIN, request, self._ledger()))
            for seen, request in zip(run.seen, requests, strict=True)
        ]
        booked = [
            (plain(request), Tape(played=seen.released) if seen.answered else Tape(seed=0))
            for seen, request in zip(run.seen, requests, strict=True)
            if seen.answered or int(seen.outcomes["exit code"]) in _AFTER_THE_CHARGE
        ]
        made = self.inner.session(
            Side.PLAIN, [request for request, _ in booked], [tape for _, tape in booked]
        )
        return Run(tuple(seen), made.account, made.keys)

    def _asked(self, side: Side, request: Request, ledger: Path) -> dict[str, str]:
        """Run the command of a request; what it wrote, printed and returned."""
        handed = self.inner.opened[side][0]
        source, beside = str(handed["source"]), handed.get("lookups", {})
        folder = self.inner.new_folder()
        arguments = [*command(request, source), *self._account_options(ledger), *_beside(beside)]
        code, out, err = self.shell.run(arguments, folder)
        hidden = {str(each["source"]): "LOOKUP" for each in beside.values()}
        hidden |= {source: "SOURCE", str(ledger): "LEDGER", str(folder): "FOLDER"}
        outcomes = {
            "exit code": str(code),
            "stdout": _hiding(hidden, out),
            "stderr": _hiding(hidden, err),
            **of_files(folder),
        }
        shutil.rmtree(folder)
        return outcomes

    def _account_options(self, ledger: Path) -> list[str]:
        world = self.inner.world
        unit = ["--unit", ",".join(world.unit) or ROWS]
        named = ["--name", NAME, "--data-version", VERSION, "--budget", str(BUDGET)]
        withheld = ["--withhold", ",".join(world.withheld)] if world.withheld else []
        policy = ["--policy", world.spelled_policy]
        return [*policy, *unit, *withheld, *self._map_options(), "--ledger", str(ledger), *named]

    def _map_options(self) -> list[str]:
        way = self.inner.world.map
        if way is None:
            return []
        edges = self.inner.folder / "ways.csv"
        if not edges.exists():
            write_csv(way["edges"], edges)
        said = {"": edges, **{f"-{name}": way[name] for name in way if name != "edges"}}
        said["-sensitive"] = ",".join(way["sensitive"])
        return [part for name, value in said.items() for part in (f"--map{name}", str(value))]

    def _ledger(self) -> Path:
        ledger = self.inner.ledger()
        assert ledger is not None  # commands share nothing else
        return ledger

    def _copied(self, ledger: Path) -> Path:
        copy = ledger.with_suffix(".again")
        shutil.copy(ledger, copy)
        return copy


def plain(request: Request) -> Request:
    """The request as a command makes it: once, and paid once."""
    arguments = {name: value for name, value in request.arguments.items() if name != "fresh"}
    return replace(request, arguments=arguments, outputs=(), again=False)


def command(request: Request, source: str) -> list[str]:
    """The arguments of `onesided` for a request."""
    given = request.arguments
    line = [request.ask, *([given["query"]] if "query" in given else []), source]
    for name, value in given.items():
        if name in _OPTIONS:
            line += [_OPTIONS[name], str(value)]
    for name in ("by", "columns"):
        if given.get(name):
            line += [f"--{name}", ",".join(given[name])]
    for key, values in given.get("domain", {}).items():
        line += ["--domain", f"{key}={','.join(map(str, values))}"]
    line += _bounds(given.get("bounds", {}))
    if "edges" in given:
        line += ["--edges", ",".join(map(str, given["edges"]))]
    if "at" in given:
        line += ["--at", ",".join(map(str, given["at"]))]
    if given.get("stands_for"):
        line += ["--stands-for", ",".join(given["stands_for"])]
    line += [f"--{name}" for name in ("nonnegative", "noisy", "yes") if given.get(name)]
    outputs = request.outputs or ((PARQUET,) if request.ask == "sample" else ())
    if outputs:
        line += ["--out", outputs[0]]
    return line if len(request.outputs) != 1 else [*line, "--json"]


def _bounds(bounds: Mapping[str, Any] | Sequence[Any]) -> list[str]:
    """Those of one column, or of each column of a statement: a number, or a pair of them."""
    if not isinstance(bounds, Mapping):
        return ["--bounds", ",".join(map(str, bounds))]
    said = {
        name: ":".join(map(str, each)) if isinstance(each, list) else str(each)
        for name, each in bounds.items()
    }
    return [part for name, each in said.items() for part in ("--bound", f"{name}={each}")]


def _beside(lookups: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The options that name the lookup tables."""
    return [
        option
        for name, each in lookups.items()
        for option in ("--lookup", f"{name}={each['source']}", "--on", ",".join(each["on"]))
    ]


def released_since(ledger: Ledger, known: set[int]) -> tuple[tuple[bytes, ...], set[int]]:
    """What was stored for charges that are not `known` yet, in their order; and all charges."""
    (account,) = ledger.accounts()
    snapshot = account.snapshot(f"declared version {VERSION}")
    charges = [record.charge for record in account.balance().charges]
    released: list[bytes] = []
    for charge in charges:
        if charge.number in known:
            continue
        looks = [account.step(charge, name) for name in LOOKS]
        stored = account.stored(charge.request, snapshot)
        released += [look for look in looks if look is not None]
        released += [] if stored is None else [stored.payload]
    return tuple(released), {charge.number for charge in charges}


@contextmanager
def opened_ledger(path: Path) -> Iterator[Ledger]:
    ledger = open_ledger(path, create=False)
    try:
        yield ledger
    finally:
        ledger.close()


def _hiding(names: dict[str, str], text: str) -> str:
    """A text with the names of this machine's folders masked, and what is new each time."""
    for name, mark in names.items():
        text = text.replace(name, mark)
    return masked(text)


def _text(content: bytes) -> str:
    return content.decode(errors="replace")


@contextmanager
def shell() -> Iterator[Shell]:
    """A shell, which is closed in the end."""
    opened = Shell()
    try:
        yield opened
    finally:
        opened.close()
