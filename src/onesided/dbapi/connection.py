"""A connection: a data set, the ε of its statements, and the most that they may cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Self

from onesided.data.askable import Askable
from onesided.data.release import QueryRelease
from onesided.dbapi import errors
from onesided.dbapi.cursor import Cursor
from onesided.dbapi.purse import Purse
from onesided.dbapi.statements import EPSILON, joined, said
from onesided.errors import RequestError
from onesided.language.tree import Value
from onesided.loss import Number, privacy_loss


class Connection:
    """A data set and the options that every statement is asked with; nothing to commit."""

    Warning = errors.Warning
    Error = errors.Error
    InterfaceError = errors.InterfaceError
    DatabaseError = errors.DatabaseError
    DataError = errors.DataError
    OperationalError = errors.OperationalError
    IntegrityError = errors.IntegrityError
    InternalError = errors.InternalError
    ProgrammingError = errors.ProgrammingError
    NotSupportedError = errors.NotSupportedError

    def __init__(
        self,
        dataset: Askable,
        epsilon: Number | None,
        purse: Purse,
        options: Mapping[str, Any],
        *,
        owns: bool = False,
    ) -> None:
        """`owns`: the data set is closed with the connection."""
        if epsilon is not None:
            privacy_loss(epsilon)
        self._dataset: Askable | None = dataset
        self._options = joined(options, {} if epsilon is None else {EPSILON: epsilon})
        self._owns = owns
        self.purse = purse

    @property
    def dataset(self) -> Askable:
        """What is asked; its plans are free."""
        if self._dataset is None:
            raise errors.InterfaceError("The connection is closed; open a new one.")
        return self._dataset

    def cursor(self) -> Cursor:
        """A new cursor."""
        _ = self.dataset
        return Cursor(self)

    def ask(
        self,
        operation: str,
        parameters: Sequence[Value] | Mapping[str, Value] = (),
        **options: Any,
    ) -> QueryRelease:
        """The answer to a statement; `options` come before those in it and in the connection."""
        dataset = self.dataset
        with errors.translated():
            statement = said(operation, parameters)
            asked = joined(joined(self._options, statement.options), options)
            epsilon = _epsilon(asked)
            paid = repr((statement.text, statement.parameters, epsilon, sorted(asked.items())))
            # A question that pays anew is never one that was paid for.
            key = object() if asked.get("fresh") else paid
            with self.purse.paying(key, epsilon):
                return dataset.sql(statement.text, statement.parameters, epsilon=epsilon, **asked)

    def commit(self) -> None:
        """Does nothing: a release is stored before it is shown."""
        _ = self.dataset

    def rollback(self) -> None:
        """Does nothing: what was charged stays charged."""
        _ = self.dataset

    def close(self) -> None:
        """Let go of the data set, which stays open for others unless it was opened for this."""
        dataset, self._dataset = self._dataset, None
        if self._owns and dataset is not None:
            dataset.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _epsilon(asked: dict[str, Any]) -> Fraction:
    """Takes the ε out of the options."""
    epsilon = asked.pop(EPSILON, None)
    if epsilon is None:
        raise RequestError(
            "Say what the statement may cost: connect(…, epsilon=0.1), or /* epsilon=0.1 */ in it."
        )
    return privacy_loss(epsilon)
