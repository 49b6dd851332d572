"""Whether the installed sqlglot reads policies as the one that was tested.

A new version may read a text as another tree, and then a policy would mean something else. So a
version that was not tested has to read a few hundred texts, and must give the known trees. This is
done once for each version, and remembered in the user's folder for caches if it can be written.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path

import sqlglot

from onesided.errors import PolicyError
from onesided.language.tree import Expression

#: Versions on which all tests were run.
TESTED = ("30.30.0",)
REFUSED = "refused"
_CORPUS = "vectors.json"


def check_parser(read: Callable[[str], Expression]) -> None:
    """Refuse to read anything by a version that gives other trees; free for one that is known."""
    version = str(vars(sqlglot)["__version__"])
    if version not in TESTED and not _agrees(version, read):
        raise PolicyError(
            f"sqlglot {version} reads policies differently from the version that was tested; "
            f"install sqlglot=={TESTED[-1]}."
        )


def digest(text: str, read: Callable[[str], Expression]) -> str:
    """What names the tree of a text; the word for texts that are refused."""
    try:
        tree = repr(read(text))
    except PolicyError:
        return REFUSED
    return hashlib.sha256(tree.encode()).hexdigest()[:12]


def corpus() -> dict[str, str]:
    """The texts, each with what names its tree."""
    known: dict[str, str] = json.loads(_corpus_text())
    return known


def differing(read: Callable[[str], Expression]) -> list[str]:
    """The texts of the corpus that are not read as they were."""
    return [text for text, known in corpus().items() if digest(text, read) != known]


@cache
def _agrees(version: str, read: Callable[[str], Expression]) -> bool:
    mark = _mark(version)
    try:
        if mark.exists():
            return True
    except OSError:
        pass
    if differing(read):
        return False
    try:
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    except OSError:
        pass  # then every process does it anew
    return True


def _mark(version: str) -> Path:
    """An empty file that is there once this corpus was read by this version."""
    content = hashlib.sha256(_corpus_text().encode()).hexdigest()[:12]
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return _cache_folder() / f"sqlglot-{version}-python-{python}-corpus-{content}"


def _cache_folder() -> Path:
    named = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return (Path(named) if named else Path.home() / ".cache") / "onesided"
    except RuntimeError:  # nobody's home
        return Path(os.devnull) / "onesided"


def _corpus_text() -> str:
    return files("onesided.language").joinpath(_CORPUS).read_text(encoding="utf-8")
