"""Questions whose answers are computed from several releases, kept by the digest of what they say.

Such an answer is computed whenever it is read. Its address has to lead to the question, and a
question may be longer than an address.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class KeptQuestion:
    """What was asked of a data set, and the charges whose releases answer it."""

    dataset: str
    said: Mapping[str, Any]
    charges: tuple[int, ...]


@dataclass(frozen=True)
class KeptQuestions:
    """The questions of a server, each in a file of its own."""

    folder: Path

    def keep(self, question: KeptQuestion) -> str:
        """The name of a question from now on."""
        text = json.dumps(asdict(question), sort_keys=True, default=str).encode()
        name = hashlib.sha256(text).hexdigest()
        path = self.folder / f"{name}.json"
        if not path.exists():
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft = path.with_suffix(f".{os.urandom(8).hex()}")
            draft.write_bytes(text)
            draft.replace(path)
        return name

    def find(self, name: str) -> KeptQuestion | None:
        """The question of this name; None where there is none."""
        if len(name) != 64 or not set(name) <= set("0123456789abcdef"):
            return None
        path = self.folder / f"{name}.json"
        if not path.is_file():
            return None
        said = json.loads(path.read_bytes())
        return KeptQuestion(said["dataset"], said["said"], tuple(said["charges"]))
