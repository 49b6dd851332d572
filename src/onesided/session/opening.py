"""Opening a data set: everything is validated once, for the steward, free of charge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from onesided.data.units import Unit
from onesided.engine.duckdb import DuckDBEngine
from onesided.errors import InputError, RequestError
from onesided.language import Schema
from onesided.ledger import open_ledger
from onesided.loss import Number, positive
from onesided.policy import FunctionPolicy, Policy
from onesided.randomness import Randomness, system
from onesided.session.dataset import Dataset

PolicyLike = str | Policy | FunctionPolicy | Callable[[Mapping[str, Any]], object]


def open_dataset(
    source: Any,
    *,
    policy: PolicyLike,
    unit: str | Sequence[str] | None = None,
    budget: Number | None = None,
    ledger: str | Path | None = None,
    name: str | None = None,
    version: str | None = None,
    partition_by: str | Sequence[str] = (),
    domains: Mapping[str, Sequence[Any]] | None = None,
    memory_limit: str | None = None,
    rng: Randomness | None = None,
) -> Dataset:
    """Open a table for release.

    - `source`: a path or glob of Parquet or CSV files, or a pandas, Polars or Arrow table.
    - `unit`: the columns that name one record; None makes every row a record.
    - `policy`: the predicate that says which rows are sensitive, where NULL is sensitive; for a
      table in memory also a function of a row.
    - `budget`: the most ε that all releases together may cost. Without a ledger and a budget the
      first request is all that is agreed to.
    - `ledger`: a SQLite file or a `postgresql://…` address that keeps the account; without one it
      is kept in memory, with fresh coins, and the receipt says so.
    - `name`: what the account is called; the name of the file unless told.
    - `version`: the steward's name for this state of the data; otherwise files are told by their
      names, sizes and ends, and tables by their content.
    - `partition_by`: columns of the unit key whose values split the units into parts; releases on
      different parts compose in parallel.
    - `domains`: the possible values of group keys, used wherever a question groups by them.
    - `memory_limit`: what the engine may use, such as "2GB"; more goes to a private directory.
    - `rng`: seeded randomness for tests and experiments; the receipt says so.
    """
    agreed = None if budget is None else positive(budget, "budget")
    rules = _policy(policy)
    engine = DuckDBEngine(source, Unit.of(unit), memory_limit=memory_limit)
    try:
        _check_policy(rules, engine)
        account = open_ledger(ledger)
        return Dataset(
            engine,
            rules,
            account,
            name=name or _name(source),
            budget=agreed,
            durable=ledger is not None,
            rng=rng or system(),
            version=version,
            partition_by=_partition(partition_by, engine),
            domains=domains,
        )
    except BaseException:
        engine.close()
        raise


def schema_of(source: Any) -> Schema:
    """The columns and types of a source, to check policies against."""
    engine = DuckDBEngine(source, Unit())
    try:
        return engine.schema
    finally:
        engine.close()


def _policy(policy: PolicyLike) -> Policy | FunctionPolicy:
    if isinstance(policy, Policy | FunctionPolicy):
        return policy
    if isinstance(policy, str):
        return Policy(policy)
    if callable(policy):
        return Policy.from_function(policy)
    raise InputError("A policy is a SQL predicate, or a function of a row for tables in memory.")


def _check_policy(policy: Policy | FunctionPolicy, engine: DuckDBEngine) -> None:
    if isinstance(policy, Policy):
        policy.bind(engine.schema)
    elif not engine.in_memory:
        raise RequestError("A policy in Python needs a table in memory; write it as SQL for files.")


def _partition(columns: str | Sequence[str], engine: DuckDBEngine) -> tuple[str, ...]:
    named = (columns,) if isinstance(columns, str) else columns
    resolved = tuple(map(engine.schema.resolve, named))
    if not set(resolved) <= set(engine.unit.columns):
        raise RequestError("partition_by takes columns of the unit key: others may cut a unit.")
    return resolved


def _name(source: Any) -> str:
    return Path(source).stem if isinstance(source, str | Path) else "table"
