"""What engines have in common whose data lie elsewhere: in PostgreSQL, or on Spark."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from onesided.data.units import Unit
from onesided.errors import RequestError, SourceError
from onesided.language import BoundPredicate, Schema, Type


class RemoteEngine(ABC):
    """A table that is not in this process, and its units.

    Whoever derives from it sets `_unit`, the unit with its columns spelt as in the schema.
    """

    _unit: Unit

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """The columns in our types."""

    @property
    @abstractmethod
    def _leaving(self) -> pa.Schema:
        """The columns as they leave."""

    @property
    @abstractmethod
    def format(self) -> dict[str, Any]:
        """What was found at the opening, and stays as it is from then on; public."""

    @property
    def unit(self) -> Unit:
        return self._unit

    @property
    def rows_are_units(self) -> bool:
        return self._unit.is_row

    @property
    def in_memory(self) -> bool:
        return False

    def output_schema(self, columns: tuple[str, ...]) -> pa.Schema:
        """As for every engine; columns of types that engines do not share are refused."""
        for column in columns:
            if self.schema[column].type is Type.OTHER:
                raise RequestError(
                    f"The column {column} has a type that not all engines know; "
                    "leave it out of the columns."
                )
        return pa.schema([self._leaving.field(column) for column in columns])

    def evaluate_policy(self, function: Callable[[Mapping[str, Any]], bool]) -> BoundPredicate:
        raise RequestError("A policy in Python needs a table in memory; write it as SQL.")


def check_format(found: Mapping[str, Any], frozen: Mapping[str, Any] | None) -> None:
    """Refuse a source whose columns are not those that an account was opened with.

    Another engine has other words for the same types: only the names can be held against it.
    """
    if frozen is None or found == frozen:
        return
    now, before = ([each["name"] for each in one["columns"]] for one in (found, frozen))
    changed = []
    if found["reader"] == frozen["reader"]:
        both = zip(found["columns"], frozen["columns"], strict=False)
        changed = [this["name"] for this, that in both if this != that]
    kinds = (
        ("missing", [name for name in before if name not in now]),
        ("new", [name for name in now if name not in before]),
        ("of another type or place", changed),
    )
    told = [f"{', '.join(names)} {word}" for word, names in kinds if names]
    if told:
        raise SourceError(
            f"The columns are not those that the account was opened with ({told[0]}); bring them "
            "back, or begin a new account."
        )


def cast_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch in the announced types: an engine may hand out narrower or wider ones."""
    columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
