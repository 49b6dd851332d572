"""What Spark's errors may say: one sentence, since its own words may quote cells."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from onesided.engine.spark.session import engine_errors
from onesided.errors import ReleaseFailed, SourceError

_LOGGERS = ("SQLQueryContextLogger", "root")


@contextmanager
def quietly() -> Iterator[None]:
    """PySpark and its gateway log every error, with the values that caused it and their stack."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


@contextmanager
def opening() -> Iterator[None]:
    """What goes wrong while a data set is opened; Spark's own words may quote cells."""
    try:
        with quietly():
            yield
    except engine_errors():
        raise SourceError(
            "Spark cannot be reached or cannot read the data; check the connection, the path or "
            "table, and that all files are whole and of one schema."
        ) from None


@contextmanager
def releasing() -> Iterator[None]:
    """What goes wrong after the charge: one sentence for all reasons."""
    try:
        with quietly():
            yield
    except engine_errors():
        raise ReleaseFailed(
            "Spark failed after the charge, which stands; check the cluster, its disks and the "
            "source, and repeat the request, which is paid once."
        ) from None
