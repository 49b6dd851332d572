"""What a request may say: an allow-list of fields with their types, and the description of both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from onesided.errors import RequestError
from onesided.spelling import meant

LONGEST_TEXT = 20_000
MOST_ITEMS = 20_000
LARGEST_WHOLE = 2**53
LONGEST_NUMBER = 100
Schema = dict[str, Any]


class JsonType(ABC):
    """A type of JSON values: how it is described, and how it is read."""

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """In the words of JSON Schema."""

    @abstractmethod
    def read(self, name: str, value: Any) -> Any:
        """The value as Python takes it; RequestError where it is of another type."""


@dataclass(frozen=True)
class TextType(JsonType):
    """A text, perhaps one of a few."""

    longest: int = LONGEST_TEXT
    least: int = 0
    choices: tuple[str, ...] = ()

    @property
    def schema(self) -> Schema:
        if self.choices:
            return {"type": "string", "enum": list(self.choices)}
        return {"type": "string", "minLength": self.least, "maxLength": self.longest}

    def read(self, name: str, value: Any) -> str:
        if not isinstance(value, str) or not self.least <= len(value) <= self.longest:
            raise RequestError(f"{name} must be a text of at most {self.longest:,} characters.")
        if self.choices and value not in self.choices:
            known = ", ".join(self.choices)
            raise RequestError(f"{name} is one of {known}{meant(value, self.choices)}.")
        return value


@dataclass(frozen=True)
class WholeType(JsonType):
    """A whole number."""

    least: int = 0
    most: int = LARGEST_WHOLE

    @property
    def schema(self) -> Schema:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}

    def read(self, name: str, value: Any) -> int:
        whole = value if isinstance(value, int) and not isinstance(value, bool) else None
        if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
            whole = int(value) if abs(value) <= self.most else None
        if whole is None or not self.least <= whole <= self.most:
            raise RequestError(f"{name} must be a whole number from {self.least} to {self.most}.")
        return whole


@dataclass(frozen=True)
class FlagType(JsonType):
    """True or false."""

    @property
    def schema(self) -> Schema:
        return {"type": "boolean"}

    def read(self, name: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise RequestError(f"{name} must be true or false.")
        return value


@dataclass(frozen=True)
class AmountType(JsonType):
    """A number that is to stay exact: a JSON number, or a text such as "0.1" or "1/3"."""

    @property
    def schema(self) -> Schema:
        return {
            "oneOf": [
                {"type": "number"},
                {"type": "string", "minLength": 1, "maxLength": LONGEST_NUMBER},
            ]
        }

    def read(self, name: str, value: Any) -> int | Decimal | str:
        if isinstance(value, float):
            value = Decimal(repr(value))
        number = isinstance(value, int | Decimal) and not isinstance(value, bool)
        if number or (isinstance(value, str) and 0 < len(value) <= LONGEST_NUMBER):
            found: int | Decimal | str = value
            return found
        raise RequestError(f'{name} must be a number, or a text such as "0.1" or "1/3".')


@dataclass(frozen=True)
class ShareType(JsonType):
    """A number from 0 to 1."""

    @property
    def schema(self) -> Schema:
        return {"type": "number", "minimum": 0, "maximum": 1}

    def read(self, name: str, value: Any) -> float:
        number = isinstance(value, int | Decimal) and not isinstance(value, bool)
        if not number or not 0 <= value <= 1:
            raise RequestError(f"{name} must be a number from 0 to 1.")
        return float(value)


@dataclass(frozen=True)
class CellType(JsonType):
    """A value as a column may hold it; dates, timestamps and decimals are marked as such."""

    @property
    def schema(self) -> Schema:
        def tagged(mark: str) -> Schema:
            return {
                "type": "object",
                "properties": {mark: {"type": "string", "maxLength": LONGEST_NUMBER}},
                "required": [mark],
                "additionalProperties": False,
            }

        plain = {"type": ["string", "number", "boolean", "null"], "maxLength": LONGEST_TEXT}
        return {"anyOf": [plain, *map(tagged, _TAGS)]}

    def read(self, name: str, value: Any) -> Any:
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            raise RequestError(f"{name} holds a text that is too long.")
        if isinstance(value, Decimal):
            return float(value)
        if value is None or isinstance(value, str | int | float | bool):
            return value
        if isinstance(value, dict) and len(value) == 1:
            ((mark, text),) = value.items()
            if mark in _TAGS and isinstance(text, str) and len(text) <= LONGEST_NUMBER:
                try:
                    return _TAGS[mark](text)
                except (ValueError, InvalidOperation):
                    raise RequestError(f"{name} holds a {mark} that is none.") from None
        raise RequestError(f'{name} holds values such as 7, "a" or {{"date": "2024-01-01"}}.')


_TAGS: Mapping[str, Any] = {
    "date": date.fromisoformat,
    "timestamp": datetime.fromisoformat,
    "decimal": Decimal,
}


@dataclass(frozen=True)
class ListType(JsonType):
    """A list of values of one type."""

    of: JsonType
    least: int = 0
    most: int = MOST_ITEMS

    @property
    def schema(self) -> Schema:
        return {
            "type": "array",
            "items": self.of.schema,
            "minItems": self.least,
            "maxItems": self.most,
        }

    def read(self, name: str, value: Any) -> list[Any]:
        if not isinstance(value, list) or not self.least <= len(value) <= self.most:
            raise RequestError(f"{name} must be a list of {self.least} to {self.most:,} values.")
        return [self.of.read(name, each) for each in value]


@dataclass(frozen=True)
class MapType(JsonType):
    """An object whose names are free and whose values are of one type."""

    of: JsonType
    most: int = 100

    @property
    def schema(self) -> Schema:
        return {
            "type": "object",
            "additionalProperties": self.of.schema,
            "maxProperties": self.most,
        }

    def read(self, name: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict) or len(value) > self.most:
            raise RequestError(f"{name} must be an object of at most {self.most} values by name.")
        return {key: self.of.read(name, each) for key, each in value.items()}


@dataclass(frozen=True)
class EitherType(JsonType):
    """A value of the first of these types that it fits."""

    types: tuple[JsonType, ...]

    @property
    def schema(self) -> Schema:
        return {"anyOf": [each.schema for each in self.types]}

    def read(self, name: str, value: Any) -> Any:
        refusals = []
        for each in self.types:
            try:
                return each.read(name, value)
            except RequestError as error:
                refusals.append(error)
        raise refusals[0]


@dataclass(frozen=True)
class BodyType(JsonType):
    """An object with these fields alone."""

    fields: Mapping[str, JsonType]
    required: tuple[str, ...] = ()
    called: str = field(default="The request", compare=False)

    @property
    def schema(self) -> Schema:
        found: Schema = {
            "type": "object",
            "properties": {name: each.schema for name, each in self.fields.items()},
            "additionalProperties": False,
        }
        return {**found, "required": list(self.required)} if self.required else found

    def read(self, name: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise RequestError(f"{self.called} must be a JSON object.")
        for key in value:
            if key not in self.fields:
                known = ", ".join(self.fields)
                hint = meant(key[:LONGEST_NUMBER], self.fields)
                raise RequestError(
                    f"{self.called} has no field {key[:LONGEST_NUMBER]!r}{hint}; "
                    f"there are: {known}."
                )
        missing = [each for each in self.required if each not in value]
        if missing:
            raise RequestError(f"{self.called} needs {' and '.join(missing)}.")
        return {key: self.fields[key].read(key, each) for key, each in value.items()}


TEXT, WHOLE, FLAG, AMOUNT, CELL = TextType(), WholeType(), FlagType(), AmountType(), CellType()


def texts(longest: int = 500) -> JsonType:
    """One text, or a list of them."""
    one = TextType(longest)
    return EitherType((one, ListType(one)))


def one_of(choices: Sequence[str]) -> TextType:
    """One of these words."""
    return TextType(choices=tuple(choices))
