"""Everything that can go wrong, as one tree.

    OnesidedError
    ├── CheckFailed          exit 1   a check says no (audit rejected, verification failed)
    ├── InputError           exit 2   found before any budget is spent
    │   ├── PolicyError               a predicate or policy is not accepted
    │   ├── SourceError               the data cannot be opened as described
    │   ├── RequestError              the request cannot be answered as asked
    │   ├── OutputError               the output exists already or cannot be written
    │   ├── LedgerError               the ledger cannot be used
    │   └── MechanismRefused          a mechanism refuses what it cannot promise
    ├── BudgetError          exit 3   the budget does not allow it; nothing was spent
    │   └── CapError                  one person's share of the budget does not allow it
    └── ReleaseFailed        exit 4   failed after the charge; the charge stands

Beside the tree, since no handler of errors may swallow it:

    KeyboardInterrupt
    └── Interrupted          exit 130 stopped by the user; says what was charged. The command
                             exits with 143 where it was terminated, and 129 after a hang-up

Each message is one sentence that says what to do. None of them carries a value from the data:
an error is seen by everybody, and only a mechanism may depend on a secret.
"""

from __future__ import annotations


class OnesidedError(Exception):
    """The root; `exit_code` is what the command line returns for it."""

    exit_code = 2


class CheckFailed(OnesidedError):
    """A check was carried out and says no."""

    exit_code = 1


class InputError(OnesidedError):
    """The input is not acceptable; nothing was spent and nothing was written."""


class PolicyError(InputError):
    """A predicate is outside the accepted language, or does not fit the schema."""


class SourceError(InputError):
    """The data set cannot be opened as described."""


class RequestError(InputError):
    """The request is malformed, or cannot be answered as asked."""


class OutputError(InputError):
    """The output exists already, or cannot be written."""


class LedgerError(InputError):
    """The ledger is missing, damaged, of another version or belongs to other data."""


class MechanismRefused(InputError):
    """A mechanism refuses to promise what is asked of it."""


class BudgetError(OnesidedError):
    """The charge would exceed the budget; nothing was spent."""

    exit_code = 3


class CapError(BudgetError):
    """The charge would exceed one person's share of the budget; nothing was spent."""


class ReleaseFailed(OnesidedError):
    """The release failed after its charge; the charge stands, a retry is free where stored."""

    exit_code = 4


class Interrupted(KeyboardInterrupt):
    """Stopped by a signal; the message says what was charged."""
