"""The files that a command needs itself, which its output must not replace."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from onesided.errors import OutputError, SourceError

_BESIDE_A_LEDGER = ("", "-wal", "-shm", "-journal")


def refuse_needed(
    outputs: Sequence[Path], arguments: Mapping[str, Any], others: Iterable[str | Path | None]
) -> None:
    """Refuse outputs that the data set, its account or `others` are kept in, by any name.

    - `arguments`: those of `onesided.open`.
    """
    from onesided.data.output import refuse_inputs

    if not outputs:
        return
    lookups = (each.get("source") for each in (arguments.get("lookups") or {}).values())
    maps = [(arguments.get("map") or {}).get(name) for name in ("edges", "places")]
    sources = [arguments.get("source"), *(arguments.get("public") or {}).values(), *lookups, *maps]
    needed = [Path(each) for each in others if each is not None]
    needed += ledger_files(arguments.get("ledger"))
    for source in filter(None, sources):
        needed += source_files(source)
        for output in outputs:
            if _would_be_read(output, source):
                raise OutputError(
                    f"{output} would become a part of the data; write it into another folder."
                )
    refuse_inputs(outputs, needed)


def ledger_files(ledger: str | Path | None) -> Iterator[Path]:
    """The files of a ledger that is kept in one."""
    if ledger is not None and "://" not in str(ledger):
        for ending in _BESIDE_A_LEDGER:
            yield Path(f"{ledger}{ending}")


def source_files(source: str | Path) -> tuple[Path, ...]:
    """What the name of a source stands for; nothing where that is not in this file system."""
    from onesided.engine.sources import Files

    try:
        return Files.find(str(source)).paths
    except SourceError:
        return ()


def _would_be_read(output: Path, source: str | Path) -> bool:
    """Whether a source names `output` too, once that is there."""
    pattern = os.path.abspath(os.path.expanduser(str(source)))
    if os.path.isfile(pattern):
        return False
    if os.path.isdir(pattern):
        pattern = os.path.join(pattern, "**", "*.parquet")
    return _matches(Path(os.path.abspath(output)).parts, Path(pattern).parts)


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern or not parts:
        return not pattern and not parts
    if pattern[0] == "**":
        return _matches(parts, pattern[1:]) or _matches(parts[1:], pattern)
    return fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])
