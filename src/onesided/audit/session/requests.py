"""Requests of every kind, made from what is public of a table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from onesided.audit.session.cells import AGE, MOMENT, ODD, ROOM
from onesided.audit.session.dice import Dice
from onesided.audit.session.worlds import ASIDE
from onesided.language import Schema, Type
from onesided.language.types import NUMERIC
from onesided.mechanisms.base import Kind
from onesided.mechanisms.registry import MECHANISMS, mechanism

PARQUET, CSV, ARROW = "out.parquet", "out.csv", "out.arrow"
MANY_GROUPS = 20
"""More than there ever are: what follows from the number of groups then follows from the data."""
LARGE = "20"
EPSILONS = ("1", "1", "0.1", "4", LARGE)
_KINDS = (
    *("count", "count", "count", "sample", "sample", "sum", "mean", "sql"),
    *("quantile", "distinct", "histogram", "ngrams", "touches"),
)
_USUAL = ("one-sided", "one-sided", "rr", "auto", "laplace", "residual", "hybrid")
_PARTS = {
    Type.DATE: ("weekday({})", "week({})", "monthname({})", "date_trunc('month', {})"),
    Type.TIMESTAMP: (
        *("hour({})", "hour({})", "date({})", "weekday({})", "dayname({})", "dayofyear({})"),
        *("strftime({}, '%Y-%m')", "date_trunc('week', {})"),
    ),
    Type.INTEGER: ("bucket({}, 10)", "bucket({}, 10)", "abs({})", "least({}, 31)"),
    Type.FLOAT: ("round({})", "CAST({} AS INTEGER)"),
    Type.DECIMAL: ("floor({})",),
    Type.TEXT: ("lower({})", "left({}, 2)", "{} || '!'", "split_part({}, 'a', 1)"),
}
_DOMAINS: dict[Type, tuple[tuple[Any, ...], ...]] = {
    Type.TEXT: (
        ("cafe", "hall", "lab"),
        ("cafe", "*"),
        ("cafe", "hiv", "None"),
        ("Cafe", "cafe", "[/x]", "*"),
    ),
    Type.INTEGER: (tuple(range(20)), (7, 31, 64), (7, 31, "*")),
    Type.FLOAT: (("7.0", "31.0"), ("1.5", "7.5", "*")),
    Type.DECIMAL: (("1.5", "7.25", "*"),),
    Type.DATE: (("2024-01-05", "2024-02-06", "*"), ("2024-01-01", "2024-01-02", "2024-01-03")),
    Type.TIMESTAMP: (
        ("2024-01-05 08:30:00", "*"),
        ("2024-01-05 08:30:00", "2024-02-29T08:30:00+01:00"),
    ),
}
_WHERES = (
    *("room = 'cafe'", "room = 'hiv'", "room LIKE '%a%'", "lower(room) = 'cafe'", "room <> ''"),
    *(
        "age > 30",
        "age > 64",
        "age > 9223372036854775807",
        "age BETWEEN 0 AND 50",
        "age IN (7, 31, 99)",
    ),
    *(
        "ts >= TIMESTAMP '2024-02-01 00:00:00'",
        "hour(ts) BETWEEN 8 AND 18",
        "date(ts) <> date '2024-01-05'",
    ),
    *(
        "secret",
        "secret IS NULL",
        "NOT secret",
        "x IS NOT NULL",
        "x IS NULL",
        "upper(room) = 'CAFE'",
    ),
    *(
        "round(age / 2) > 3",
        "abs(age) > 7",
        "least(age, 10) < greatest(age, 8)",
        "epoch(ts) > 1706745600",
        "date_diff('hour', ts, TIMESTAMP '2024-02-01 00:00:00') > 3",
        "ts + INTERVAL 1 HOUR > TIMESTAMP '2024-02-06 18:00:00'",
        "strftime(ts, '%Y-%m') = '2024-02' OR quarter(ts) = 3 OR week(ts) = 1",
        "concat(room, left(room, 1)) <> 'labl'",
    ),
    *("coalesce(age, 0) >= 7", "CASE WHEN age > 30 THEN room = 'cafe' ELSE secret END", "TRUE"),
)


@dataclass(frozen=True)
class Request:
    """One question to a data set, as a method of `Dataset` and its arguments.

    - `outputs`: the files that its answer is written to; among commands there is at most one.
    - `again`: the same question is asked a second time, which is free.
    """

    ask: str
    arguments: Mapping[str, Any]
    outputs: tuple[str, ...] = ()
    again: bool = field(default=False)

    def simpler(self) -> list[Request]:
        """The same with one thing less."""
        found = [replace(self, outputs=())] if self.outputs else []
        found += [replace(self, again=False)] if self.again else []
        for name in self.arguments:
            fewer = {key: value for key, value in self.arguments.items() if key != name}
            found.append(replace(self, arguments=fewer))
            value = self.arguments[name]
            if isinstance(value, list):
                found += [
                    replace(
                        self, arguments={**self.arguments, name: value[:place] + value[place + 1 :]}
                    )
                    for place in range(len(value))
                ]
        return found

    @property
    def unwritten(self) -> Request:
        """The same without files, where nobody looks at them."""
        return replace(self, outputs=()) if self.outputs else self

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "ask": self.ask,
            **self.arguments,
            **({"outputs": list(self.outputs)} if self.outputs else {}),
            **({"again": True} if self.again else {}),
        }

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.ask}({given})"


@dataclass(frozen=True)
class Asking:
    """Makes requests for a table.

    - `comparison`: a condition on the odd column, or nothing.
    - `without`: kinds of requests that cannot be asked here.
    """

    schema: Schema
    unit: Sequence[str]
    policy: str
    comparison: str
    dice: Dice
    without: frozenset[str] = frozenset()

    def request(self) -> Request:
        """One of any kind that there is for units of one row, or of several."""
        without = self.without if self.unit else {*self.without, "ngrams", "touches"}
        kind = self.dice.pick([each for each in _KINDS if each not in without])
        arguments = {"epsilon": self.dice.pick(EPSILONS), **getattr(self, f"_{kind}")()}
        if arguments["epsilon"] == LARGE:
            arguments["yes"] = True
        if self.dice.one_in(6):
            arguments["policy"] = self._stricter()
        if self.dice.one_in(8):
            arguments["fresh"] = True
        if self.dice.one_in(8):
            arguments["purpose"] = "to see [/x] what happens"
        return Request(
            kind,
            arguments,
            tuple(each for each in (PARQUET, CSV, ARROW) if self.dice.one_in(4)),
            again=self.dice.one_in(6),
        )

    def _sample(self) -> dict[str, Any]:
        asked = self._filter()
        if self.dice.one_in(2):
            asked["columns"] = self.dice.some(list(self.schema), 4)
        return {**asked, **self._standing(asked)} if self.dice.one_in(3) else asked

    def _standing(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """By what a sample is to stand for all units; so few units always have much noise."""
        leaving = {*asked.get("columns", self.schema)}
        columns = (ROOM, AGE, ODD, MOMENT, "secret")
        keys = [each for each in columns if self._known(each) and each in leaving]
        if not keys or not leaving.issuperset(self.unit):
            return {}
        by = list(dict.fromkeys(self._key(each) for each in self.dice.some(keys, 2)))
        domain = {each: self._domain(each) for each in by if self.dice.below(4)}
        domain = {each: values for each, values in domain.items() if values}
        return {"stands_for": by, **({"domain": domain} if domain else {}), "noisy": True}

    def _count(self) -> dict[str, Any]:
        asked = self._groups()
        declared = len(asked.get("domain", ())) >= len(asked["by"])
        asked["mechanism"] = name = self.dice.pick(_USUAL) if self.dice.below(4) else self._any()
        if mechanism(name).needs_domain and not declared:
            by = [each for each in asked["by"] if each in asked.get("domain", ())]
            asked["by"] = by or [self._derived("hour")]
        if "max_groups" in asked and self.dice.one_in(8):
            asked["max_groups"] = "auto"
        return asked

    def _ngrams(self) -> dict[str, Any]:
        """What follows what, in an order that ties and gaps may break."""
        names = [each for each in (ROOM, ODD, AGE) if self._known(each)]
        orders = [each for each in (MOMENT, AGE, ODD) if self._known(each)]
        by, order = (self.dice.pick(each or [AGE]) for each in (names, orders))
        asked: dict[str, Any] = {"n": self.dice.pick((1, 2, 2, 3)), "by": by, "order": order}
        asked["mechanism"] = self.dice.pick(("one-sided", "rr", "auto", "laplace"))
        domain = self._domain(by)
        if domain and (asked["mechanism"] == "laplace" or self.dice.one_in(3)):
            asked["domain"] = domain
        if asked["mechanism"] != "rr":
            asked["max_groups"] = self.dice.pick((1, 3))
        return asked

    def _touches(self) -> dict[str, Any]:
        asked = {name: each for name, each in self._groups().items() if name != "max_groups"}
        asked["by"] = asked["by"] or [self._derived("hour")]
        return {**asked, "sampled": True} if self.dice.one_in(3) else asked

    def _sum(self) -> dict[str, Any]:
        asked = {**self._groups(), **self._amount()}
        if self.dice.one_in(3):
            asked["nonnegative"] = True
        return asked

    def _mean(self) -> dict[str, Any]:
        asked = {**self._groups(), **self._amount()}
        if self.unit and self.dice.one_in(2):
            asked["max_rows"] = 2
        return asked

    def _quantile(self) -> dict[str, Any]:
        asked = self._groups()
        asked["column"] = column = self.dice.pick(self._numbers())
        asked["bounds"] = self.dice.pick(([0, 100], [-5, 31]))
        asked["at"] = self.dice.pick(([0.5], [0.0, 0.25, 1.0]))
        if self.dice.below(8):  # as many as are usual take long
            asked["cells"] = self.dice.pick((2, 7, 20))
        if self.unit and column not in self.unit:
            asked["max_groups"] = self.dice.pick((1, 3))
        return asked

    def _histogram(self) -> dict[str, Any]:
        asked = self._groups()
        asked["column"] = column = self.dice.pick(self._numbers())
        asked["edges"] = self.dice.pick(([0, 10, 50], [-5, 7, 8, 31, 64]))
        if column in self.schema and self.schema[column].type is Type.FLOAT:
            asked["edges"] = self.dice.pick(([0, 10, 50], [-0.5, 7.25, 1000]))
        if self.unit and column not in self.unit:
            asked["max_groups"] = self.dice.pick((1, 3))
        return asked

    def _distinct(self) -> dict[str, Any]:
        names = [each for each in (ROOM, AGE, ODD, MOMENT) if self._known(each)]
        asked = {**self._groups(), "column": self._key(self.dice.pick(names))}
        if self.unit:
            asked["max_values"] = self.dice.pick((1, 3))
        return asked

    def _sql(self) -> dict[str, Any]:
        key = self.dice.pick(
            [
                each
                for each in (ROOM, AGE, ODD, f"hour({MOMENT})", *self._aside())
                if self._known(each)
            ]
        )
        units = f"COUNT(DISTINCT {', '.join(self.unit)})" if self.unit else "COUNT(*)"
        column = self.dice.pick(self._numbers())
        figures = [units, f"SUM({column})", f"AVG({column})", f"MEDIAN({column})"]
        figures.append(f"COUNT(DISTINCT {column})")
        chosen = ", ".join(self.dice.some(figures, 2))
        where = self._filter().get("where")
        text = f"SELECT {key} AS g, {chosen} FROM data"
        text += f" WHERE {where}" if where else ""
        text += " GROUP BY g"
        text += self.dice.pick(
            ("", " ORDER BY g", f" HAVING {units} > 1", " ORDER BY g DESC LIMIT 2")
        )
        asked: dict[str, Any] = {
            "query": text,
            "bounds": {column: [0, 50] if "MEDIAN" in text else 50},
            "mechanism": self.dice.pick(("one-sided", "rr", "auto")),
        }
        if self.unit:
            asked |= {"max_groups": 2, "max_rows": 2, "max_values": 2}
        return asked

    def _groups(self) -> dict[str, Any]:
        keys = [
            each
            for each in (ROOM, AGE, ODD, MOMENT, "secret", *self.unit, *self._aside())
            if self._known(each)
        ]
        by = [self._key(each) for each in self.dice.some(keys, 2)] if self.dice.below(8) else []
        asked: dict[str, Any] = {"by": by, **self._filter()}
        domain = {each: self._domain(each) for each in by if self.dice.one_in(2)}
        domain = {each: values for each, values in domain.items() if values}
        if domain:
            asked["domain"] = domain
        if self.unit and not set(by) <= set(self.unit):
            asked["max_groups"] = self.dice.pick((1, 2, MANY_GROUPS))
        return asked

    def _key(self, column: str) -> str:
        parts = _PARTS.get(self.schema[column].type, ())
        return self.dice.pick(parts).format(column) if parts and self.dice.one_in(2) else column

    def _derived(self, part: str) -> str:
        return f"{part}({MOMENT})" if self._known(MOMENT) else "secret"

    def _domain(self, key: str) -> list[Any]:
        known = self.schema.get(key)
        listed = _DOMAINS.get(known.type, ()) if known is not None else ()
        return list(self.dice.pick(listed)) if listed else []

    def _filter(self) -> dict[str, Any]:
        if self.dice.one_in(2):
            return {}
        if self.comparison and self.dice.one_in(3):
            return {"where": self.comparison}
        return {"where": self._spelled(self.dice.pick(_WHERES))}

    def _aside(self) -> list[str]:
        """The columns that are looked up."""
        return [name for name in self.schema if name.startswith(f"{ASIDE}.")]

    def _spelled(self, text: str) -> str:
        """A condition, in which columns that lie in a lookup table are named as there."""
        for name in self._aside():
            bare = name.partition(".")[2]
            if bare not in self.schema:
                text = re.sub(rf"\b{re.escape(bare)}\b(?!')", name, text)
        return text

    def _amount(self) -> dict[str, Any]:
        asked: dict[str, Any] = {"column": self.dice.pick(self._numbers())}
        asked["bound"] = self.dice.pick((1, 50, 1000, "auto"))
        if self.dice.one_in(3):
            asked["grid"] = 1
        return asked

    def _numbers(self) -> list[str]:
        return [name for name in self.schema if self.schema[name].type in NUMERIC] or [AGE]

    def _known(self, key: str) -> bool:
        """Whether one can group by it."""
        column = key[key.find("(") + 1 :].rstrip(")")
        return column in self.schema and self.schema[column].type is not Type.OTHER

    def _stricter(self) -> str:
        more = self.dice.pick(("age > 60", "room = 'hall'", "ts IS NULL", "x IS NULL"))
        more = self._spelled(more)
        return f"({self.policy}) OR {more}"

    def _any(self) -> str:
        sound = [name for name, each in MECHANISMS.items() if each.kind is Kind.SOUND]
        return self.dice.pick(sound)
