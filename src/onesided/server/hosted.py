"""One data set as it is served: a frozen state, which a steward alone replaces by a newer one.

Files are copied into a private folder when a state is opened, and read from there for as long as
it is served, by every process of the server and after every restart. Which copy is served says a
small file beside the copies. What lies in a database stays there: where it changes, paid questions
end like late ones, and a steward is told.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from onesided.data.owner import locked
from onesided.errors import OnesidedError, RequestError, SourceError
from onesided.ledger import agreed_terms
from onesided.loss import privacy_budget
from onesided.server.config import ServerConfig
from onesided.server.problems import Problem
from onesided.server.sources import allowed_source
from onesided.session.checking import SourceCheck
from onesided.session.description import Description
from onesided.session.frozen import FrozenDataset, copied_sources
from onesided.session.opening import open_dataset
from onesided.session.several import AskedTogether

_POINTER, _SAMPLES, _LOCK = "state.json", "samples", "lock"
_COPIED = ("source", "public", "lookups")
_PRIVATE = 0o700
_MOST_CHECKED = 10_000


class HostedDataset:
    """A data set under the name that requests know it by.

    - `folder`: where the copies of its files lie.
    - `checked`: questions by their jobs, from their charge until their run.
    """

    def __init__(self, config: ServerConfig, name: str, described: Description) -> None:
        self.name = name
        self._described = described
        self._sources = config.sources
        short = hashlib.sha256(name.encode()).hexdigest()[:16]
        self.folder = config.storage / short
        self.checked: dict[str, AskedTogether] = {}
        self._turn = threading.Lock()
        self._charging = threading.Lock()
        self._opening = False
        self._data: FrozenDataset | None = None
        self._seen: str | None = None
        self.notes: list[str] = []
        """What went wrong with the data, for stewards alone."""

    @property
    def account_name(self) -> str:
        """The name that the account is kept under."""
        return str(self._described.arguments["name"])

    @property
    def was_opened(self) -> bool:
        """Whether there is a state of it, which this process or another one has opened."""
        return self._pointer() is not None

    @property
    def data(self) -> FrozenDataset:
        """The state that is served; 503 where there is none."""
        if self._pointer() != self._seen:  # another process of the server has opened another one
            self.reopen()
        if self._data is None:
            raise Problem(
                503,
                "The data set is not open; a steward opens it.",
                headers={"Retry-After": "60"},
            )
        return self._data

    @contextmanager
    def charging(self) -> Iterator[FrozenDataset]:
        """The state, on which something is charged: no other one is opened meanwhile."""
        with self._charging:
            if self._opening:
                raise Problem(
                    503,
                    "A new state of the data set is being opened; ask again when it is there.",
                    headers={"Retry-After": "5"},
                )
            yield self.data

    @contextmanager
    def opening(self) -> Iterator[None]:
        """Nothing is charged in the block, which may refuse to open a new state."""
        with self._charging:
            if self._opening:
                raise Problem(409, "A new state of the data set is being opened already.")
            self._opening = True
        try:
            yield
        finally:
            self._opening = False

    def keep_checked(self, job: str, asked: AskedTogether) -> None:
        """Spare the run of a question to check it again; what another process runs is let go."""
        if len(self.checked) >= _MOST_CHECKED:
            self.checked.clear()
        self.checked[job] = asked

    def keep_sample(self, charge: int, drawn: Path) -> None:
        """Keep a sample that is too large for the ledger, durably, before it is released."""
        kept = self._sample(charge)
        kept.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        draft = kept.with_suffix(f".{secrets.token_hex(8)}")
        shutil.copyfile(drawn, draft)
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.replace(kept)

    def kept_sample(self, charge: int) -> Path | None:
        """Where such a sample lies."""
        kept = self._sample(charge)
        return kept if kept.is_file() else None

    def _sample(self, charge: int) -> Path:
        return self.folder / _SAMPLES / f"{charge}.parquet"

    def start(self) -> None:
        """Open the state that was served before, or the first one; what fails is noted."""
        try:
            with self._alone():
                if self._pointer() is None:
                    self._open_anew(None)
            self.reopen()
        except OnesidedError as error:
            self.note(str(error))

    def reopen(self) -> None:
        """Open the state that was opened last."""
        with self._turn:
            pointer = self._pointer()
            if pointer is None or pointer == self._seen:
                return
            self._seen = pointer
            try:
                said = json.loads(pointer)
                arguments = {**self._arguments(), **said["arguments"]}
                self._replace(FrozenDataset.open(arguments, opens=False))
            except (OnesidedError, ValueError, KeyError) as error:
                self._replace(None)
                self.note(str(error) if isinstance(error, OnesidedError) else "Open it anew.")

    def open_state(self, source: str | None = None) -> int:
        """Copy the files, open them as the new state, and serve it; the number of its snapshot.

        - `source`: other files than those of the description, below a folder that it names.
        """
        with self._alone():
            return self._open_anew(source)

    def _open_anew(self, source: str | None) -> int:
        arguments = self._arguments()
        if source is not None:
            arguments["source"] = self._allowed(source)
        with self._turn:
            folder = self._new_folder()
            opened: FrozenDataset | None = None
            try:
                copied = copied_sources(arguments, folder)
                opened = FrozenDataset.open(copied, opens=True)
                self._point(copied, folder)
            except BaseException:
                if opened is not None:
                    opened.close()
                shutil.rmtree(folder, ignore_errors=True)
                raise
            self.notes.clear()
            self._replace(opened)
            self._remove_others(folder)
            return opened.kernel().snapshot.number

    def _arguments(self) -> dict[str, Any]:
        """Those of the description; of a budget that was raised since, the ledger alone knows."""
        arguments = dict(self._described.arguments)
        agreed = agreed_terms(arguments["ledger"], self.account_name)
        now = None if agreed is None else agreed.budget
        if now is not None and "budget" in arguments and privacy_budget(arguments["budget"]) < now:
            del arguments["budget"]
        return arguments

    def check(self, who: str) -> SourceCheck:
        """What a steward should look at; read beside what runs, and noted in the ledger."""
        pointer = self._pointer()
        copies = {} if pointer is None else json.loads(pointer)["arguments"]
        with open_dataset(**{**self._arguments(), **copies}, asked_by=who) as opened:
            return opened.check()

    def note(self, finding: str) -> None:
        """Keep what a steward should know of the data; the latest few."""
        if finding not in self.notes:
            self.notes = [*self.notes[-9:], finding]

    def close(self) -> None:
        """Let go of the data; the copies stay for the next start."""
        with self._turn:
            self._replace(None)

    def _replace(self, data: FrozenDataset | None) -> None:
        before, self._data = self._data, data
        self.checked.clear()
        if before is not None:
            before.close()

    def _allowed(self, source: str) -> str:
        """A source below one of the folders that stewards may choose from."""
        if "source" not in self._described.arguments:
            raise RequestError("The data set lies in a database; open its state without a source.")
        return allowed_source(source, self._sources)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody else opens a state in the block, in this process or in another one."""
        with ExitStack() as stack:
            try:
                self.folder.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
                self.folder.mkdir(mode=_PRIVATE, exist_ok=True)
                for folder in (self.folder.parent, self.folder):
                    folder.chmod(_PRIVATE)
                stack.enter_context(locked(self.folder / _LOCK))
            except OSError:
                raise _unwritable(self.folder) from None
            yield

    def _new_folder(self) -> Path:
        try:
            folder = self.folder / secrets.token_hex(8)
            folder.mkdir(mode=_PRIVATE)
        except OSError:
            raise _unwritable(self.folder) from None
        return folder

    def _pointer(self) -> str | None:
        try:
            return (self.folder / _POINTER).read_text(encoding="utf-8")
        except OSError:
            return None

    def _point(self, arguments: Mapping[str, Any], folder: Path) -> None:
        """Say durably, and all at once, which copy is served."""
        copies = {name: arguments[name] for name in _COPIED if name in arguments}
        text = json.dumps({"folder": folder.name, "arguments": copies}, indent=1)
        draft = folder / "draft.json"
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.folder / _POINTER)
        self._seen = text

    def _remove_others(self, kept: Path) -> None:
        with suppress(OSError):
            for each in self.folder.iterdir():
                if each.is_dir() and each != kept and each.name != _SAMPLES:
                    shutil.rmtree(each, ignore_errors=True)


def _unwritable(folder: Path) -> SourceError:
    return SourceError(f"The folder {folder.parent} cannot be written; say another storage.")
