"""The errors of PEP 249. Each says the sentence of the error that caused it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from onesided import errors


class Warning(Exception):
    """Of PEP 249; never raised here."""


class Error(Exception):
    """The root of all others."""


class InterfaceError(Error):
    """A connection or cursor is used that was closed."""


class DatabaseError(Error):
    """The root of what a data set refuses."""


class DataError(DatabaseError):
    """Of PEP 249; never raised here: after the charge no value of the data is an error."""


class OperationalError(DatabaseError):
    """The budget, the ledger, the source or the network does not allow it."""


class IntegrityError(DatabaseError):
    """Of PEP 249; never raised here, since nothing can be written."""


class InternalError(DatabaseError):
    """The release failed after its charge, which stands; asking again is free."""


class ProgrammingError(DatabaseError):
    """The statement or its options are not accepted; nothing was spent."""


class NotSupportedError(DatabaseError):
    """A mechanism refuses to promise it, or the interface has no use for it."""


#: The first that fits: special ones before their roots.
_KINDS: tuple[tuple[type[errors.OnesidedError], type[DatabaseError]], ...] = (
    (errors.BudgetError, OperationalError),
    (errors.ReleaseFailed, InternalError),
    (errors.SourceError, OperationalError),
    (errors.LedgerError, OperationalError),
    (errors.OutputError, OperationalError),
    (errors.MechanismRefused, NotSupportedError),
    (errors.InputError, ProgrammingError),
)


@contextmanager
def translated() -> Iterator[None]:
    """What is raised within leaves as an error of PEP 249."""
    try:
        yield
    except errors.OnesidedError as error:
        kind = next((into for known, into in _KINDS if isinstance(error, known)), DatabaseError)
        raise kind(str(error)) from error
