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
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from onesided.errors import OnesidedError, RequestError, SourceError
from onesided.server.config import ServerConfig
from onesided.server.problems import Problem
from onesided.session.description import Description
from onesided.session.frozen import FrozenDataset, copied_sources

_POINTER = "state.json"
_COPIED = ("source", "public", "lookups")
_PRIVATE = 0o700


class HostedDataset:
    """A data set under the name that requests know it by."""

    def __init__(self, config: ServerConfig, name: str, described: Description) -> None:
        self.name = name
        self._described = described
        self._sources = config.sources
        short = hashlib.sha256(name.encode()).hexdigest()[:16]
        self._folder = config.storage / short
        self._turn = threading.Lock()
        self._data: FrozenDataset | None = None
        self._seen: str | None = None
        self.notes: list[str] = []
        """What went wrong with the data, for stewards alone."""

    @property
    def account_name(self) -> str:
        """The name that the account is kept under."""
        return str(self._described.arguments["name"])

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

    def start(self) -> None:
        """Open the state that was served before, or the first one; what fails is noted."""
        if self._pointer() is not None:
            self.reopen()
            return
        try:
            self.open_state()
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
                arguments = {**self._described.arguments, **said["arguments"]}
                self._replace(FrozenDataset.open(arguments, opens=False))
            except (OnesidedError, ValueError, KeyError) as error:
                self._replace(None)
                self.note(str(error) if isinstance(error, OnesidedError) else "Open it anew.")

    def open_state(self, source: str | None = None) -> int:
        """Copy the files, open them as the new state, and serve it; the number of its snapshot.

        - `source`: other files than those of the description, below a folder that it names.
        """
        arguments = dict(self._described.arguments)
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
        if before is not None:
            before.close()

    def _allowed(self, source: str) -> str:
        """A source below one of the folders that stewards may choose from."""
        if "source" not in self._described.arguments:
            raise RequestError("The data set lies in a database; open its state without a source.")
        fixed = source
        while any(sign in fixed for sign in "*?["):
            fixed = os.path.dirname(fixed)
        for folder in self._sources:
            real = os.path.realpath(folder / fixed)
            inside = os.path.realpath(folder)
            if ".." not in Path(source).parts and _is_below(real, inside):
                return os.path.join(inside, os.path.relpath(folder / source, folder))
        raise RequestError("The source must lie below a folder that [server] sources names.")

    def _new_folder(self) -> Path:
        try:
            self._folder.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
            self._folder.mkdir(mode=_PRIVATE, exist_ok=True)
            for folder in (self._folder.parent, self._folder):
                folder.chmod(_PRIVATE)
            folder = self._folder / secrets.token_hex(8)
            folder.mkdir(mode=_PRIVATE)
        except OSError:
            raise SourceError(
                f"The folder {self._folder.parent} cannot be written; say another storage."
            ) from None
        return folder

    def _pointer(self) -> str | None:
        try:
            return (self._folder / _POINTER).read_text(encoding="utf-8")
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
        draft.replace(self._folder / _POINTER)
        self._seen = text

    def _remove_others(self, kept: Path) -> None:
        with suppress(OSError):
            for each in self._folder.iterdir():
                if each.is_dir() and each != kept:
                    shutil.rmtree(each, ignore_errors=True)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
