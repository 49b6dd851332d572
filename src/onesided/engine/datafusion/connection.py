"""A private DataFusion, and what may be said of its errors, whose own words can quote cells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from datafusion import RuntimeEnvBuilder, SessionConfig, SessionContext

from onesided.errors import OnesidedError, ReleaseFailed, RequestError, SourceError

_SETTINGS = {
    # It has an operator for the exclusive or, and reads no backslash in a string.
    "datafusion.sql_parser.dialect": "PostgreSQL",
    "datafusion.sql_parser.map_string_types_to_utf8view": "false",
    # Its two planners may disagree on whether a column can be NULL, and one of them would give up.
    "datafusion.execution.skip_physical_aggregate_schema_check": "true",
}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b\s*", re.IGNORECASE)
_PANIC = "PanicException"


def connect(folder: Path, memory_limit: str | None) -> SessionContext:
    """A context of its own, which spills into the private folder."""
    runtime = RuntimeEnvBuilder().with_disk_manager_specified(str(folder))
    if memory_limit is not None:
        runtime = runtime.with_fair_spill_pool(_bytes(memory_limit))
    config = SessionConfig()
    for name, value in _SETTINGS.items():
        config = config.set(name, value)
    return SessionContext(config, runtime)


def _bytes(limit: str) -> int:
    found = _SIZE.fullmatch(limit)
    if found is None:
        raise RequestError("A memory limit looks like 2GB.")
    power = " kmgt".index(found[2].lower() or " ")
    return int(float(found[1]) * (1024 if found[3] else 1000) ** power)


@contextmanager
def opening() -> Iterator[None]:
    """What goes wrong while a data set is opened; an engine's own words may quote cells."""
    try:
        yield
    except BaseException as error:
        if _is_of_engine(error):
            raise SourceError(
                "The data cannot be read: check that the files are whole, readable and of one "
                "schema."
            ) from None
        raise


@contextmanager
def releasing() -> Iterator[None]:
    """What goes wrong after the charge: one sentence for all reasons."""
    try:
        yield
    except BaseException as error:
        if _is_of_engine(error):
            raise ReleaseFailed(
                "The engine failed after the charge, which stands; check disk, memory and the "
                "source, and ask again."
            ) from None
        raise


def _is_of_engine(error: BaseException) -> bool:
    """DataFusion raises plain exceptions, and a panic below it is not even one of them."""
    if isinstance(error, OnesidedError):
        return False
    return isinstance(error, Exception) or type(error).__name__ == _PANIC
