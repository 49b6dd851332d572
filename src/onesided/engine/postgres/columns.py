"""The columns of a table in PostgreSQL: what they are for us, and how they are read.

Every value has a reading: what our types cannot hold is NULL, and nothing that somebody else may
have defined, such as a cast or a domain, takes part in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from onesided.engine.postgres.flavour import PostgresFlavour
from onesided.language import Field, Type

_FLAVOUR = PostgresFlavour()
_MOST_DIGITS = 38
# The first day and the first moment that a timestamp of 64 bits since 1970 cannot hold. A number
# that has a zone is read as well where there is none.
_NO_DAY = "294247-01-11"
_NO_MOMENT = "294247-01-10 04:00:54.775808+00"
_TYPES = {
    **dict.fromkeys(("int2", "int4", "int8"), Type.INTEGER),
    **dict.fromkeys(("float4", "float8"), Type.FLOAT),
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "uuid"), Type.TEXT),
    **dict.fromkeys(("timestamp", "timestamptz"), Type.TIMESTAMP),
    "bool": Type.BOOLEAN,
    "date": Type.DATE,
}
#: All columns of a table. A domain is described by the type at its bottom. A constraint that was
#: not checked yet does not keep NULL out.
COLUMNS = """WITH RECURSIVE found AS (
        SELECT a.attnum, a.attname, a.atttypid AS type, a.atttypmod AS modifier,
            FALSE AS is_domain,
            a.attnotnull AND NOT EXISTS (SELECT FROM pg_constraint k
                WHERE k.conrelid = a.attrelid AND k.contype = 'n' AND NOT k.convalidated
                    AND a.attnum = ANY (k.conkey)) AS required
        FROM pg_attribute a
        WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
        SELECT f.attnum, f.attname, t.typbasetype,
            CASE WHEN t.typtypmod >= 0 THEN t.typtypmod ELSE f.modifier END, TRUE, f.required
        FROM found f JOIN pg_type t ON t.oid = f.type
        WHERE t.typtype = 'd')
    SELECT f.attname::text, t.typname::text, t.typtype::text, f.modifier::bigint, f.required,
        f.is_domain, n.nspname = 'pg_catalog', format_type(f.type, f.modifier)
    FROM found f JOIN pg_type t ON t.oid = f.type JOIN pg_namespace n ON n.oid = t.typnamespace
    WHERE t.typtype <> 'd' ORDER BY f.attnum"""


@dataclass(frozen=True)
class PostgresColumn:
    """A column as the catalogue has it.

    - `kind`, `category`, `modifier`: its type, and for a domain the one at its bottom.
    - `required`: certainly without NULL.
    - `builtin`: the type is PostgreSQL's own, and not one of the same name.
    - `shown`: the type as the catalogue writes it.
    """

    name: str
    kind: str
    category: str
    modifier: int
    required: bool
    is_domain: bool
    builtin: bool
    shown: str

    @property
    def identity(self) -> tuple[Any, ...]:
        return (self.name, self.kind, self.category, self.modifier)

    @property
    def described(self) -> dict[str, Any]:
        """The column in the words of a format."""
        return {"name": self.name, "type": self.shown, "nullable": not self.required}

    @property
    def field(self) -> Field:
        if self.category == "e" or (self.category == "b" and self.kind == "citext"):
            return Field(Type.TEXT, not self.required)
        if not self.builtin:
            return Field(Type.OTHER, not self.required)
        if self.kind == "numeric" and self.modifier >= 4:
            # Precision and scale lie in the two halves; a scale below 0 has no counterpart.
            precision, scale = (self.modifier - 4) >> 16, (self.modifier - 4) & 0x7FF
            if precision <= _MOST_DIGITS and scale <= precision:
                return Field.decimal(precision, scale, nullable=True)
        if self.kind in ("date", "timestamp", "timestamptz"):
            return Field(_TYPES[self.kind], zoned=self.kind == "timestamptz")
        return Field(_TYPES.get(self.kind, Type.OTHER), not self.required)

    @property
    def normalised(self) -> str:
        """The column in the form that our types promise.

        Texts compare by code point in any collation, times are UTC, all NaN are the same one, and
        values that no other engine has (infinite or very far dates and times, NaN among decimals)
        are NULL. Of a type that is not ours only whether it is NULL can be read.
        """
        return f"{self._read()} AS {_FLAVOUR.name(self.name)}"

    @property
    def with_zone(self) -> str:
        """As `normalised`, but a time keeps its zone."""
        return f"{self._moment(self._plain)} AS {_FLAVOUR.name(self.name)}"

    def _read(self) -> str:
        plain, field = self._plain, self.field
        match field.type:
            case Type.TEXT:
                return f'({self._text()} COLLATE "C")'
            case Type.FLOAT:
                return f"CASE WHEN {plain} = 'NaN' THEN 'NaN' ELSE {plain} END"
            case Type.DECIMAL if field.digits is not None:
                # A table keeps to its digits; what a view gives need not.
                rounded = f"round({plain}, {field.digits.fraction})"
                return f"CASE WHEN abs({rounded}) < {10**field.digits.whole} THEN {rounded} END"
            case Type.DATE:
                return f"CASE WHEN {plain} > '-infinity' AND {plain} < '{_NO_DAY}' THEN {plain} END"
            case Type.TIMESTAMP:
                zoned = self.kind == "timestamptz"
                return self._moment(f"timezone('UTC', {plain})" if zoned else plain)
            case Type.OTHER:
                # IS NOT NULL would look into a row, whose fields may all be NULL.
                return f"CASE WHEN {plain} IS DISTINCT FROM NULL THEN TRUE END"
            case _:
                return plain

    def _moment(self, shown: str) -> str:
        plain = self._plain
        return f"CASE WHEN {plain} > '-infinity' AND {plain} < '{_NO_MOMENT}' THEN {shown} END"

    def _text(self) -> str:
        """The owner of an enumeration may define a cast of it; how it is shown nobody can."""
        name = _FLAVOUR.name(self.name)
        if self.category == "e":
            return f"CASE WHEN {name} IS NOT NULL THEN concat({name}) END"
        return f"CAST({name} AS TEXT)"

    @property
    def _plain(self) -> str:
        """The column without a domain around it."""
        name = _FLAVOUR.name(self.name)
        if self.is_domain and self.builtin and self.category == "b":
            return f"CAST({name} AS pg_catalog.{_FLAVOUR.name(self.kind)})"
        return name
