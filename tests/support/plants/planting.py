"""How a fault is planted: what the code of today calls is replaced, for as long as a block runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest


class Where(Enum):
    """What has to run for a fault to show."""

    ANYWHERE = "any engine"
    DUCKDB = "DuckDB"
    POSTGRES = "PostgreSQL"
    SPARK = "Spark"
    POLICIES = "the comparison of policies"


@dataclass(frozen=True)
class Plant:
    """A fault of the past: its number, what leaks, and what puts it back into the code."""

    number: int
    leaks: str
    planted: Callable[[], AbstractContextManager[None]]
    where: Where = Where.ANYWHERE

    def __str__(self) -> str:
        return f"{self.number}-{self.leaks.replace(' ', '-')}"


@contextmanager
def replaced(*changes: tuple[Any, str, Any]) -> Iterator[None]:
    """Each change is an owner, the name of what it has, and what stands there instead."""
    with pytest.MonkeyPatch.context() as patch:
        for owner, name, value in changes:
            patch.setattr(owner, name, value)
        yield
