"""The names that Python's DB-API 2.0 (PEP 249) expects of a module, for tools that speak SQL.

    connection = dbapi.connect(dataset, epsilon=0.5, max_groups=1)
    cursor = connection.cursor()
    cursor.execute("SELECT room, COUNT(DISTINCT device) FROM data GROUP BY room")

Every statement is a release at `epsilon` and is charged; repeating one is free. Errors are those of
`onesided.errors` under the names of PEP 249.
"""

from __future__ import annotations

from typing import Any

from onesided.errors import BudgetError, InputError, OnesidedError, ReleaseFailed
from onesided.loss import Number
from onesided.session.cursor import Cursor
from onesided.session.dataset import Dataset

apilevel = "2.0"
#: Threads may share the module and a data set, whose requests run one at a time, but no cursor.
threadsafety = 2
paramstyle = "qmark"

Error = OnesidedError
InterfaceError = OnesidedError
DatabaseError = OnesidedError
DataError = InputError
ProgrammingError = InputError
NotSupportedError = InputError
OperationalError = BudgetError
IntegrityError = ReleaseFailed
InternalError = ReleaseFailed


class Connection:
    """A data set and the options that every statement is asked with; nothing to commit."""

    def __init__(self, dataset: Dataset, epsilon: Number, options: dict[str, Any]) -> None:
        self._dataset = dataset
        self._epsilon = epsilon
        self._options = options

    def cursor(self) -> Cursor:
        """A new cursor."""
        return self._dataset.cursor(epsilon=self._epsilon, **self._options)

    def commit(self) -> None:
        """Does nothing: a release is stored before it is shown."""

    def close(self) -> None:
        """Let go of the data set."""
        self._dataset.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def connect(dataset: Dataset, *, epsilon: Number, **options: Any) -> Connection:
    """A connection whose statements cost `epsilon` each; `options` are those of `Dataset.sql`."""
    return Connection(dataset, epsilon, options)
