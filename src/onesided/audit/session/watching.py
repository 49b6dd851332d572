"""Everything that an outsider sees of one request, as texts by the name of the outcome."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from onesided.audit.session.requests import Request
from onesided.data.release import PlacedRelease, QueryRelease, Release
from onesided.session import Dataset

Outcomes = Mapping[str, str]
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?")
_KEY = re.compile(r"\b[0-9a-f]{64}\b|\b[0-9a-f]{32}\b")
_SHOWN_ROWS = 20


@dataclass(frozen=True)
class Seen:
    """What was seen of one request.

    - `outcomes`: by name; times and keys are masked in them.
    - `released`: what the question let out, looks included; on this the outcomes may depend.
    - `answered`: it got an answer; otherwise the outcome `exception` says why not.
    """

    outcomes: Outcomes
    released: tuple[bytes, ...]
    answered: bool


def masked(text: str) -> str:
    """A text without times, nonces and keys, which are new each time."""
    return _KEY.sub("<key>", _TIME.sub("<time>", text))


def keys_in(text: str) -> frozenset[str]:
    """What is masked as a key: most of them are new each time, and the others must be public."""
    return frozenset(_KEY.findall(text))


def document(content: Any) -> str:
    """A document on one line, masked."""
    return masked(json.dumps(content, sort_keys=True, default=repr, ensure_ascii=False))


def indented(text: str) -> str:
    """A document on many lines, so that two of them can be held side by side; else the text."""
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except ValueError:
        return text


def seen_in_python(dataset: Dataset, request: Request, folder: Path) -> tuple[dict[str, str], bool]:
    """The outcomes of a request, and whether it was answered; files go to the empty `folder`."""
    outcomes: dict[str, str] = {}

    def look() -> None:
        outcomes.update(_of_release(_asked(dataset, request), request, folder))

    with _overheard(outcomes):
        answered = _tried(outcomes, look)
    return outcomes, answered


def answered_in_python(dataset: Dataset, request: Request) -> tuple[dict[str, str], bool]:
    """Whether a request is answered, where nobody looks at more than what it lets out."""
    outcomes: dict[str, str] = {}
    with _overheard(outcomes):
        answered = _tried(outcomes, lambda: _asked(dataset, request))
    return outcomes, answered


def _tried(outcomes: dict[str, str], look: Callable[[], object]) -> bool:
    """Whether there is an answer; why not, where there is none."""
    try:
        look()
    except Exception as error:  # all of them are seen
        outcomes["exception"] = f"{type(error).__module__}.{type(error).__name__}: {error}"
        return False
    return True


def of_files(folder: Path) -> dict[str, str]:
    """The names of the files in a folder, and all bytes of each; a receipt is read as text."""
    names = sorted(str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file())
    outcomes = {"names of files": "\n".join(names)}
    for name in names:
        path = folder / name
        if path.suffix == ".json":
            outcomes[name] = document(json.loads(path.read_bytes()))
            continue
        outcomes[name] = _digest(path.read_bytes())
        if path.suffix == ".parquet":
            outcomes[f"layout of {name}"] = _layout(path)
    return outcomes


@contextmanager
def overheard() -> Iterator[Callable[[], tuple[bytes, bytes]]]:
    """What goes to standard output and standard error, whoever writes it."""
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        _leading_to(1, out),
        _leading_to(2, err),
    ):
        yield lambda: (_content(out), _content(err))


@contextmanager
def _overheard(outcomes: dict[str, str]) -> Iterator[None]:
    """Notes standard output, standard error and warnings."""
    with warnings.catch_warnings(record=True) as warned, overheard() as heard:
        warnings.simplefilter("always")
        yield
        _flush()
        out, err = heard()
    outcomes["stdout"], outcomes["stderr"] = (each.decode(errors="replace") for each in (out, err))
    told = (each for each in warned if not issubclass(each.category, ResourceWarning))
    outcomes["warnings"] = "\n".join(f"{each.category.__name__}: {each.message}" for each in told)


@contextmanager
def _leading_to(number: int, file: IO[bytes]) -> Iterator[None]:
    _flush()
    kept = os.dup(number)
    os.dup2(file.fileno(), number)
    try:
        yield
    finally:
        _flush()
        os.dup2(kept, number)
        os.close(kept)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def _content(file: IO[bytes]) -> bytes:
    _flush()
    file.seek(0)
    return file.read()


def _asked(dataset: Dataset, request: Request) -> Release:
    """The release, which is that of the second time where a request is asked again."""
    for _ in range(1 + request.again):
        release: Release = getattr(dataset, request.ask)(**request.arguments)
    return release


def _of_release(release: Release, request: Request, folder: Path) -> dict[str, str]:
    outcomes = {
        "receipt": document(release.receipt.content),
        "loss": str(release.loss),
        "promise": release.guarantee,
        "error": document(release.error),
        "kind": release.kind.value,
    }
    outcomes["shown"] = masked("\n".join([repr(release), str(release), release._repr_html_()]))
    if isinstance(release, PlacedRelease):
        return outcomes
    outcomes["chart"] = _of_chart(release)
    outcomes |= _of_table(release.to_arrow())
    if isinstance(release, QueryRelease):
        for name, figure in release.figures.items():
            outcomes[f"receipt of {name}"] = document(figure.receipt.content)
    for name in request.outputs:
        place = folder / name.rpartition(".")[2]
        place.mkdir()
        outcomes[f"written {name}"] = _failure(lambda: release.write(place / name, receipt=True))  # noqa: B023
    return outcomes | of_files(folder)


def _of_chart(release: Release) -> str:
    """What is drawn, and what is said of it; how that failed, where it did."""
    try:
        drawn = release.plot()
    except Exception as error:  # all of them are seen
        return f"{type(error).__name__}: {error}"
    return document([drawn.to_dict(), drawn.said, drawn.rows])


def _failure(work: Callable[[], object]) -> str:
    """How a step failed, or nothing."""
    try:
        work()
    except Exception as error:  # all of them are seen
        return f"{type(error).__name__}: {error}"
    return ""


def _of_table(table: pa.Table) -> dict[str, str]:
    shown = table.slice(0, _SHOWN_ROWS)
    return {
        "columns": table.schema.to_string(show_schema_metadata=True),
        "batches": str([len(batch) for batch in table.to_batches()]),
        "values": f"{len(table)} rows, {_digest(_bytes(table))}\n{_rows(shown)}",
    }


def _rows(table: pa.Table) -> str:
    from onesided.data.values import python_rows

    return "\n".join(repr(row)[:200] for row in python_rows(table))


def _bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(memoryview(sink.getvalue()))


def _digest(content: bytes) -> str:
    return f"{len(content)} bytes, {hashlib.sha256(content).hexdigest()[:20]}"


def _layout(path: Path) -> str:
    found = pq.read_metadata(path)
    groups = [found.row_group(place).num_rows for place in range(found.num_row_groups)]
    return f"{found.num_rows} rows in groups of {groups}, {found.created_by}, {found.metadata}"
