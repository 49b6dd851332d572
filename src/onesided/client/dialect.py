"""SQLAlchemy speaks to a data set: it compiles SELECTs, and reflects tables and columns.

Nothing here asks by itself: reflection, pings and transactions are free. Every statement that is
executed is a release, at the ε of its execution options, of a comment in it, or of the address.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from sqlalchemy import types
from sqlalchemy.engine import Connection, default, reflection
from sqlalchemy.sql import compiler

from onesided import dbapi
from onesided.data.askable import Askable
from onesided.dbapi.statements import OPTIONS
from onesided.language import Type

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
