"""SQLAlchemy speaks to a data set: it compiles SELECTs, and reflects tables and columns.

Nothing here asks by itself: reflection, pings and transactions are free. Every statement that is
executed is a release, at the ε of its execution options, of a comment in it, or of the address.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import sqlalchemy as sa
from sqlalchemy import types
from sqlalchemy.engine import Connection, default, reflection
from sqlalchemy.sql import compiler

from onesided import dbapi
from onesided.client.connecting import connect as open_remote
from onesided.data.askable import Askable
from onesided.dbapi.statements import EPSILON, OPTIONS, options_of
from onesided.language import Type
from onesided.loss import privacy_loss

_TYPES: Mapping[Type, type[types.TypeEngine[Any]]] = {
    Type.INTEGER: types.BigInteger,
    Type.WIDE_INTEGER: types.Numeric,
    Type.DECIMAL: types.Numeric,
    Type.FLOAT: types.Float,
    Type.TEXT: types.Text,
    Type.BOOLEAN: types.Boolean,
    Type.DATE: types.Date,
    Type.TIMESTAMP: types.DateTime,
    Type.OTHER: types.NullType,
}
_RELEASE = ("domain", "nonnegative", "policy", "part", "fresh", "purpose")
"""What else the options of an execution may say, in the words of `Dataset.sql`."""
_MOST, _TOKEN_FILE = "most", "token_file"
_NO_KEY: Mapping[str, Any] = {"constrained_columns": [], "name": None}


class SelectCompiler(compiler.SQLCompiler):
    """Writes numbers of LIMIT and OFFSET as they are, since they are no values of the data."""

    def limit_clause(self, select: Any, **kw: Any) -> str:
        written: str = super().limit_clause(  # type: ignore[no-untyped-call]
            select, **{**kw, "literal_execute": True}
        )
        return written


class OnesidedDialect(default.DefaultDialect):
    """A data set in the process: `create_engine("onesided://", creator=…)`.

    The creator gives a connection of `onesided.dbapi`.
    """

    name = "onesided"
    driver = "onesided"
    statement_compiler = SelectCompiler
    supports_statement_cache = True
    supports_native_boolean = True
    supports_native_decimal = True
    supports_sane_rowcount = False
    supports_sane_multi_rowcount = False
    supports_alter = False
    supports_views = False
    postfetch_lastrowid = False
    default_paramstyle = "qmark"

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        return dbapi

    def _get_server_version_info(self, connection: Connection) -> None:
        return None

    def _get_default_schema_name(self, connection: Connection) -> str:
        return ""

    def do_ping(self, dbapi_connection: Any) -> bool:
        """A statement would cost ε; whether the connection is open is known without one."""
        dbapi_connection.commit()
        return True

    def do_execute(self, cursor: Any, statement: str, parameters: Any, context: Any = None) -> None:
        said = {} if context is None else context.execution_options
        options = {name: said[name] for name in (*OPTIONS, *_RELEASE) if name in said}
        cursor.execute(statement, parameters, **options)

    def do_execute_no_params(self, cursor: Any, statement: str, context: Any = None) -> None:
        self.do_execute(cursor, statement, (), context)

    @reflection.cache
    def get_table_names(
        self, connection: Connection, schema: str | None = None, **kw: Any
    ) -> list[str]:
        return list(self._tables(connection))

    @reflection.cache
    def get_columns(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        return [
            {"name": name, "type": _TYPES[kind](), "nullable": True, "default": None}
            for name, kind in self._table(connection, table_name).items()
        ]

    def has_table(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> bool:
        return schema is None and table_name in self._tables(connection)

    def get_schema_names(self, connection: Connection, **kw: Any) -> list[str]:
        return []

    def get_view_names(
        self, connection: Connection, schema: str | None = None, **kw: Any
    ) -> list[str]:
        return []

    def get_pk_constraint(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> Any:
        """A unit may have many rows, so its key names none of them."""
        self._table(connection, table_name)
        return dict(_NO_KEY)

    def get_foreign_keys(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        self._table(connection, table_name)
        return []

    def get_indexes(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        self._table(connection, table_name)
        return []

    def _table(self, connection: Connection, name: str) -> Mapping[str, Type]:
        found = self._tables(connection).get(name)
        if found is None:
            from sqlalchemy.exc import NoSuchTableError

            raise NoSuchTableError(name)
        return found

    def _tables(self, connection: Connection) -> dict[str, Mapping[str, Type]]:
        """The data set by its name, and its public tables."""
        dataset: Askable = connection.connection.dbapi_connection.dataset  # type: ignore[union-attr]
        return {dataset.name: dataset.types, **dataset.public}


class WebDialect(OnesidedDialect):
    """A data set at a server: `onesided+https://:token@host/visits?epsilon=0.1&most=1`.

    The part before the host is the token; without one it is looked for as `connect` does. Behind
    the question mark stand the options of all statements, and `most`, which all connections of an
    engine share.
    """

    driver = "https"
    supports_statement_cache = True

    def create_connect_args(self, url: sa.URL) -> Any:
        said = {name: _once(name, each) for name, each in url.query.items()}
        with dbapi.translated():
            purse = dbapi.Purse(said.pop(_MOST, None))
            file = said.pop(_TOKEN_FILE, None)
            options = options_of(iter(said.items()))
            if EPSILON in options:
                privacy_loss(options[EPSILON])
        host = f"[{url.host}]" if ":" in (url.host or "") else url.host
        where = host if url.port is None else f"{host}:{url.port}"
        address = f"{self.driver}://{where}/{url.database or ''}"
        # SQLAlchemy hides what stands in the place of a password, so that comes first.
        token = url.password or url.username or None
        opening = {"token": None if token is None else str(token), "token_file": file}
        return [address], {"opening": opening, "most": purse, "options": options}

    def connect(self, *cargs: Any, **cparams: Any) -> Any:
        """A connection to the data set, which is closed with it."""
        options = dict(cparams["options"])
        epsilon = options.pop(EPSILON, None)
        with dbapi.translated():
            dataset = open_remote(*cargs, **cparams["opening"])
            return dbapi.Connection(dataset, epsilon, cparams["most"], options, owns=True)


class PlainWebDialect(WebDialect):
    """The same on this machine alone, without a cipher: `onesided+http://127.0.0.1:8642/visits`."""

    driver = "http"
    supports_statement_cache = True


def _once(name: str, value: str | tuple[str, ...]) -> str:
    if isinstance(value, str):
        return value
    raise dbapi.ProgrammingError(f"The address says {name} twice; say it once.")
