"""Where the rows come from: files by path or glob, or a frame in memory."""

from __future__ import annotations

import glob
import hashlib
import os
import shutil
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import pyarrow as pa

from onesided.engine.packed import CSV_ENDINGS, is_packed
from onesided.errors import SourceError

_TAG_DIGITS = 10
_FOOTER_BYTES = 64 * 1024
_SHOWN = 200
_MAGIC = frozenset("*?[")


class Format(Enum):
    """How a file is read."""

    PARQUET = "parquet"
    CSV = "csv"


@dataclass(frozen=True)
class Files:
    """Files of one format below `base`; a row is named by its file's relative name and position."""

    base: Path
    paths: tuple[Path, ...]
    format: Format

    @classmethod
    def find(cls, text: str) -> Files:
        """The files that a path, a folder (all Parquet files in it) or a glob stands for."""
        try:
            fixed, found = _found(os.path.expanduser(text))
            base = fixed.resolve()
            paths = tuple(sorted({each.resolve() for each in found}))
        except (OSError, ValueError):  # a name too long or with a NUL, or a folder that just went
            paths = ()
        if not paths:
            raise SourceError(f"There is no file {text[:_SHOWN]}; check the path.")
        return cls(base, paths, _format_of(paths, text))

    def relative(self, path: Path) -> str:
        """The name of a file below the base, the same wherever the folder lies."""
        return Path(os.path.relpath(path, self.base)).as_posix()

    def tags(self) -> dict[Path, str]:
        """A short name for each file that fits, with a row's number, into one block of the hash."""
        tags = {path: file_tag(self.relative(path)) for path in self.paths}
        if len(set(tags.values())) != len(tags):
            raise SourceError("Two of the files have the same name; rename one of them.")
        return tags

    def copied(self, text: str, folder: Path) -> str:
        """Copy them below `folder`, each under its relative name; what stands for the copies.

        - `text`: what stood for the files themselves.
        """
        names = [self.relative(path) for path in self.paths]
        if any(name.startswith("../") for name in names):
            raise SourceError("A link leads out of the folder of the files; copy them into it.")
        try:
            for path, name in zip(self.paths, names, strict=True):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, folder / name)
        except OSError:
            raise SourceError("The files cannot be copied; check the disk and rights.") from None
        pattern = os.path.expanduser(text)
        if os.path.isdir(pattern):
            return str(folder)
        if os.path.isfile(pattern):
            return str(folder / names[0])
        return os.path.join(glob.escape(str(folder)), _parts(pattern)[1])

    def fingerprint(self) -> str:
        """Relative names, sizes and ends of the files; a Parquet file has its footer there."""
        digest = hashlib.sha256(b"onesided files")
        for path in self.paths:
            size = path.stat().st_size
            with path.open("rb") as file:
                file.seek(max(0, size - _FOOTER_BYTES))
                end = hashlib.sha256(file.read()).hexdigest()
            digest.update(os.fsencode(f"\0{self.relative(path)}\0{size}\0{end}"))
        return digest.hexdigest()


def _found(pattern: str) -> tuple[Path, list[Path]]:
    """The folder that all of the files lie in, and the files."""
    if not os.path.exists(pattern) and not _MAGIC.isdisjoint(pattern):
        fixed, wild = _parts(pattern)
        written = os.path.join(glob.escape(str(fixed)), wild)
        found = glob.glob(written, recursive=True)
        return fixed, [Path(each) for each in found if os.path.isfile(each)]
    if os.path.isdir(pattern):
        return Path(pattern), list(Path(pattern).rglob("*.parquet"))
    return Path(pattern).parent, [Path(pattern)] if os.path.isfile(pattern) else []


def file_tag(relative: str) -> str:
    """The first ten hexadecimal digits of the SHA-256 of a relative file name."""
    return hashlib.sha256(os.fsencode(relative)).hexdigest()[:_TAG_DIGITS]


def _parts(pattern: str) -> tuple[Path, str]:
    """The folder above the first wildcard of a glob, and the rest of it.

    A folder that exists under a name with brackets is that folder, and no wildcard.
    """
    parts = Path(pattern).parts
    fixed, place = Path(), 0
    while _MAGIC.isdisjoint(parts[place]) or (fixed / parts[place]).is_dir():
        fixed, place = fixed / parts[place], place + 1
    return fixed, os.path.join(*parts[place:])


def _format_of(paths: tuple[Path, ...], text: str) -> Format:
    endings = {_ending(path) for path in paths}
    if endings <= {".parquet", ".pq"}:
        return Format.PARQUET
    if endings <= CSV_ENDINGS:
        return Format.CSV
    raise SourceError(f"{text} must be Parquet or CSV files by their endings, and not both.")


def _ending(path: Path) -> str:
    """What a file is, below how it is packed; an archive may leave it out."""
    if not is_packed(path):
        return path.suffix.lower()
    inner = Path(path.stem).suffix.lower()
    return inner if inner in CSV_ENDINGS or path.suffix.lower() != ".zip" else ".csv"


def arrow_table(frame: Any) -> pa.Table:
    """A pandas, Polars or Arrow table, or anything else that speaks Arrow's stream protocol."""
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    try:
        if (
            hasattr(frame, "__arrow_c_stream__")
            and type(frame).__module__.partition(".")[0] != "pandas"
        ):
            return pa.table(frame)
        return pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    except (TypeError, ValueError, AttributeError, pa.ArrowException):
        raise SourceError(
            "The data must be a path, a glob, or a pandas, Polars or Arrow table."
        ) from None


def frame_fingerprint(table: pa.Table) -> str:
    """The state of a table in memory: its schema and everything in it."""
    digest = hashlib.sha256(b"onesided frame")
    digest.update(str(table.schema).encode())
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    digest.update(memoryview(sink.getvalue()))
    return digest.hexdigest()
