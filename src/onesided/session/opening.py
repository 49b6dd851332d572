"""Opening a data set: everything is validated once, for the steward, free of charge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from onesided.data.units import ROWS, Unit
from onesided.engine.base import Engine
from onesided.engine.csv_options import CsvOptions
from onesided.engine.packed import is_packed
from onesided.errors import InputError, PolicyError, RequestError
from onesided.language.zones import Zones
from onesided.ledger import agreed_terms, check_ledger, open_ledger
from onesided.loss import Number, privacy_budget
from onesided.notebook import going_on
from onesided.policy import FunctionPolicy, Policy
from onesided.randomness import Randomness, system
from onesided.session.books import Books
from onesided.session.dataset import Dataset
from onesided.session.engines import open_engine
from onesided.session.facts import DatasetFacts
from onesided.session.lookups import beside_and_withheld, declared
from onesided.session.maps import declared_map, map_of_data, map_terms
from onesided.session.public import public_tables
from onesided.session.scope import AnyPolicy
from onesided.session.table import SecretTable
from onesided.session.zones import zone_terms
from onesided.spelling import arguments_named

PolicyLike = str | Policy | FunctionPolicy | Callable[[Mapping[str, Any]], object]


@going_on("onesided is opening the data")
@arguments_named
def open_dataset(
    source: Any = None,
    *,
    policy: PolicyLike,
    table: str | None = None,
    connection: Any = None,
    unit: str | Sequence[str] = (),
    budget: Number | None = None,
    ledger: str | Path | None = None,
    name: str | None = None,
    version: str | None = None,
    partition_by: str | Sequence[str] = (),
    domains: Mapping[str, Sequence[Any]] | None = None,
    public: Mapping[str, Any] | None = None,
    lookups: Mapping[str, Any] | None = None,
    map: Any = None,
    withhold: str | Sequence[str] = (),
    csv: Mapping[str, Any] | None = None,
    memory_limit: str | None = None,
    statement_timeout: float | None = None,
    time_zone: str | Mapping[str, str] | None = None,
    rng: Randomness | None = None,
    asked_by: str = "",
) -> Dataset:
    """Open a table for release.

    - `source`: a path or glob of Parquet or CSV files, packed or not, or a pandas, Polars or Arrow
      table; for Spark a path of Parquet files or a DataFrame.
    - `table`: instead, the name of a table in the database or catalogue at `connection`.
    - `connection`: `postgresql://…`, or a SparkSession, a Spark master such as `local[2]` or
      `spark://…`, or a Spark Connect server `sc://…`; `datafusion` reads files and frames here.
      Passwords in it are kept out of every text.
    - `unit`: what names one record: columns, or hour, weekday, date or bucket of one, such as
      "device,date(ts)"; the word "rows" makes every row a record. Nobody but you can know.
    - `policy`: the predicate that says which rows are sensitive, where NULL is sensitive; for a
      table in memory also a function of a row.
    - `budget`: the most ε that all releases together may cost. Without a ledger and a budget the
      first request is all that is agreed to.
    - `ledger`: a SQLite file or a `postgresql://…` address that keeps the account; without one it
      is kept in memory, with fresh coins, and the receipt says so.
    - `name`: what the account is called; by default the name of the file or table.
    - `version`: the steward's name for this state of the data. By default files are recognised by
      their names, sizes and ends, frames by their content, and tables in PostgreSQL by the
      transactions that wrote their rows. Views and tables of Spark need it.
    - `partition_by`: columns of the unit key whose values split the units into parts; releases on
      different parts compose in parallel.
    - `domains`: the possible values of group keys, used wherever a question groups by them.
    - `public`: tables that everybody may see, by name, from the same kinds of sources; `sql` can
      join them.
    - `lookups`: secret tables beside the data, by name: a source, or a `LookupTable` that says
      more. Their columns become columns of every row, called `name.column`, in the policy too.
    - `map`: a public map, `onesided.Map`, by which units are sensitive too whose moves give away
      that they were at a sensitive place. Its hash and rule are terms of the account.
    - `withhold`: columns that never leave: the policy and the filters of counts may use them.
    - `csv`: how CSV files are written, where that cannot be found out: `delimiter`, `encoding`
      (utf-8, cp1252, latin-1, utf-16), `decimal`, `thousands`, `header`, `types` by column,
      `date_format` and `timestamp_format`.
    - `memory_limit`: what the engine may use, such as "2GB"; more goes to a private directory.
    - `statement_timeout`: seconds after which PostgreSQL gives up on a statement.
    - `time_zone`: where hour, weekday and date of columns with a time zone are taken, such as
      "Europe/Berlin"; or a zone for each column, whose times are in UTC then. Without it, in UTC.
    - `rng`: seeded randomness for tests and experiments; the receipt says so.
    - `asked_by`: a short id of who asks, kept with every charge; names belong elsewhere.

    How the source is read (columns, types, dialect of CSV, order of day and month) is found at the
    first opening and kept with the account: later openings read by it, and look for nothing.
    """
    agreed = None if budget is None else privacy_budget(budget)
    record = _unit(unit, Zones.of(time_zone))
    rules = _policy(policy, durable=ledger is not None)
    named = name or table or _name(source)
    known = agreed_terms(ledger, named)
    beside, way = declared(lookups), declared_map(map)
    engine = open_engine(
        source,
        record,
        table=table,
        connection=connection,
        memory_limit=memory_limit,
        statement_timeout=statement_timeout,
        csv=CsvOptions.of(csv) if csv else None,
        format=None if known is None else known.format,
    )
    try:
        parts = _partition(partition_by, engine)
        agreed_extra = None if known is None else known.extra
        found, withheld, extra = beside_and_withheld(
            engine,
            beside,
            withhold,
            agreed=agreed_extra,
            domains=domains or {},
            taken=(named, *(public or {})),
        )
        withheld.refuse(parts, "a partition column, whose values the ledger shows")
        rules = _fitting(rules, engine)
        tables = public_tables(engine, public or {}, named)
        check_ledger(ledger)
        drawn = rng or system()
        moves = map_of_data(engine, way, rules)
        secret = SecretTable(engine, drawn, version, moves)
        facts = DatasetFacts(
            name=named,
            schema=engine.schema,
            unit=engine.unit,
            rows_are_units=engine.rows_are_units,
            units=secret.units(),
            policy=rules,
            partition_by=parts,
            domains=dict(domains or {}),
            public=tables,
            durable=ledger is not None,
            randomness=drawn.description,
            lookups=found,
            withheld=withheld,
            map=moves,
            extra={**extra, **map_terms(moves), **zone_terms(engine.schema)},
        )
        frozen = known is not None and known.format is not None
        books = Books(
            facts,
            secret,
            lambda: open_ledger(ledger),
            budget=agreed,
            format=None if frozen else engine.format,
            asked_by=asked_by,
        )
        return Dataset(facts, books)
    except BaseException:
        engine.close()
        raise


def _unit(unit: str | Sequence[str] | None, zones: Zones) -> Unit:
    if not unit:
        raise RequestError(
            'Say what one record is: unit="device,day" for the columns that name one, or '
            f'unit="{ROWS}" where every row is a record of its own.'
        )
    return Unit.of(unit, zones)


def _policy(policy: PolicyLike, *, durable: bool) -> AnyPolicy:
    if isinstance(policy, str):
        return Policy(policy)
    if not isinstance(policy, Policy | FunctionPolicy):
        if not callable(policy):
            raise InputError(
                "A policy is a SQL predicate, or a function of a row for tables in memory."
            )
        policy = Policy.from_function(policy)
    if durable and isinstance(policy, FunctionPolicy) and not policy.has_stable_id:
        raise PolicyError(
            "A ledger outlives this process, and a function without a name does not: name it with "
            "Policy.from_function(function, name), or write the policy as SQL."
        )
    return policy


def _fitting(policy: AnyPolicy, engine: Engine) -> AnyPolicy:
    """The policy with its columns spelt as in the schema: one policy, one id, one account."""
    if isinstance(policy, Policy):
        return Policy(policy.bind(engine.schema).sql)
    if not engine.in_memory:
        raise RequestError("A policy in Python needs a table in memory; write it as SQL for files.")
    return policy


def _partition(columns: str | Sequence[str], engine: Engine) -> tuple[str, ...]:
    named = (columns,) if isinstance(columns, str) else columns
    resolved = Unit(tuple(named)).bind(engine.schema).columns
    if not set(resolved) <= set(engine.unit.columns):
        raise RequestError("partition_by takes columns of the unit key: others may cut a unit.")
    return resolved


def _name(source: Any) -> str:
    """Without the endings that say how a file is written and packed."""
    if not isinstance(source, str | Path):
        return "table"
    path = Path(source)
    return Path(path.stem).stem if is_packed(path) else path.stem
