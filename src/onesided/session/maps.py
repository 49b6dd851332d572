"""Maps: declared when a data set is opened, read once, and kept in its account by their hash.

A map is public, and so is everything here. Which units it closes is secret, like any answer of a
policy, and no rule may be chosen by that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from onesided.engine.base import Engine
from onesided.engine.duckdb.public import read_public
from onesided.engine.maps import (
    PLACE_TYPES,
    TIME_TYPES,
    ClosedPredicate,
    HeldMap,
    HoldsMaps,
    held_map,
)
from onesided.errors import InputError, PolicyError, RequestError, SourceError
from onesided.language import BoundPredicate, Field, Schema, Type
from onesided.lists import split_list
from onesided.loss import Number, rational
from onesided.maps import ClosedMap, Edges, Place, Rule
from onesided.maps.closing import seconds
from onesided.maps.edges import check_known, microseconds
from onesided.policy import Policy
from onesided.session.scope import AnyPolicy
from onesided.spelling import meant

TERM = "map"
"""What the terms of an account call it."""
MOST_GAP = 10**9
_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Map:
    """A public map, and when moves on it are sensitive.

    - `edges`: a file or a table: from, to and seconds; of two columns, reachability alone.
    - `place`, `time`: the columns of the data that say where and when a row is. A time is a
      timestamp, or a whole number of seconds.
    - `sensitive`: the sensitive places, as a list or a condition on a place; by default the policy
      says it, where it reads the place alone.
    - `places`: a table with a row for each place, whose columns that condition may read as well.
    - `rule`: "certain" or "quickest".
    - `slack`: how many times as slow as the map says people may walk.
    - `gap`: the most seconds between two rows that are taken for a move; by default any.
    - `outside`: the place where walks begin; what S cuts off from it is sensitive too.
    - `directed`: ways lead from the first place to the second, and not back.
    """

    edges: Any
    place: str
    time: str
    sensitive: str | Sequence[Place] | None = None
    places: Any = None
    rule: str = Rule.CERTAIN.value
    slack: Number = 1
    gap: Number | None = None
    outside: Place | None = None
    directed: bool = False

    def closed(self, policy: AnyPolicy | None) -> ClosedMap:
        """The map with its sensitive places found; `policy` says them where nothing else does."""
        if self.rule not in {rule.value for rule in Rule}:
            known = ", ".join(rule.value for rule in Rule)
            raise RequestError(f"There is no rule {self.rule!r} for a map; there are {known}.")
        edges = Edges.of(read_public("of edges", self.edges).content, directed=self.directed)
        outside = None if self.outside is None else _named(edges, [self.outside], "outside,")[0]
        found = self._sensitive(edges, policy)
        if not found:
            raise RequestError(
                "No place of the map is sensitive, so that it would close nothing; name the "
                "sensitive ones."
            )
        return ClosedMap(
            edges=edges,
            sensitive=found,
            rule=Rule(self.rule),
            slack=_slack(self.slack),
            gap=None if self.gap is None else microseconds(_number(self.gap), "gap", MOST_GAP),
            outside=outside,
        )

    def _sensitive(self, edges: Edges, policy: AnyPolicy | None) -> frozenset[Place]:
        said = self.sensitive
        if isinstance(said, str):
            listed = [each.strip() for each in split_list(said)]
            if all(_as_place(edges, each) in edges.numbers for each in listed):
                said = listed
        if said is not None and not isinstance(said, str):
            return frozenset(_named(edges, said, "The sensitive place"))
        schema, rows = self._table_of_places(edges)
        condition = policy if said is None else _condition(said, edges, schema)
        if said is None and not (
            isinstance(policy, Policy) and {*policy.columns} <= {*schema} and policy.columns
        ):
            raise RequestError(
                f"The policy reads more than {self.place}; say which places of the map are "
                "sensitive."
            )
        assert isinstance(condition, Policy)
        bound = condition.bind(schema)
        return frozenset(place for place, row in rows.items() if bound.is_sensitive(row))

    def _table_of_places(self, edges: Edges) -> tuple[Schema, dict[Place, dict[str, Any]]]:
        """What is known of each place; of those without a row all else is NULL, hence sensitive."""
        kind = Field(Type.TEXT if isinstance(edges.places[0], str) else Type.INTEGER)
        if self.places is None:
            rows: dict[Place, dict[str, Any]] = {each: {self.place: each} for each in edges.places}
            return Schema.of({self.place: kind}), rows
        table = read_public("of places", self.places)
        names = list(table.schema)
        key = next((each for each in (self.place, "place") if each in names), names[0])
        rest = {name: field for name, field in table.schema.fields if name != key}
        said = {row.pop(key): row for row in table.content.to_pylist()}
        unknown = dict.fromkeys(rest)
        rows = {each: {**said.get(each, unknown), self.place: each} for each in edges.places}
        return Schema.of({**rest, self.place: kind}), rows


_KNOWN = tuple(each.name for each in fields(Map))


@dataclass(frozen=True)
class MapOfData:
    """A map whose columns are found in the data, and which the engine knows."""

    closed: ClosedMap
    place: str
    time: str
    held: HeldMap

    @property
    def terms(self) -> dict[str, Any]:
        """What the account and each receipt keep of it."""
        columns = {"place": self.place, "time": self.time}
        return {"id": self.closed.id, **self.closed.rule_terms, **columns}

    def over(self, policy: BoundPredicate, schema: Schema) -> ClosedPredicate:
        """The policy, closed."""
        return ClosedPredicate.over(policy, self.closed, self.held, schema, self.place, self.time)


def declared_map(given: Any) -> Map | None:
    """The map as it was declared: a `Map`, or a mapping like it."""
    if given is None or isinstance(given, Map):
        return given
    if not isinstance(given, Mapping):
        raise RequestError("A map is an onesided.Map, or a mapping with its arguments.")
    for key in given:
        if key not in _KNOWN:
            raise RequestError(
                f"The map has an unknown key {key!r}{meant(key, _KNOWN)}; known are "
                f"{', '.join(_KNOWN)}."
            )
    lacking = [name for name in ("edges", "place", "time") if given.get(name) is None]
    if lacking:
        raise RequestError(f"The map needs its {' and its '.join(lacking)}.")
    return Map(**given)


def map_of_data(engine: Engine, declared: Map | None, policy: AnyPolicy) -> MapOfData | None:
    """The map on these data, held by their engine; refused where it does not fit."""
    if declared is None:
        return None
    if engine.unit.is_row:
        raise RequestError(
            "A map needs units of several rows, since a move is made of two: name the key of the "
            "units."
        )
    if not isinstance(engine, HoldsMaps):
        raise SourceError("This engine knows no maps.")
    schema = engine.schema
    place, time = schema.resolve(declared.place), schema.resolve(declared.time)
    kind = schema[place].type
    if kind not in PLACE_TYPES:
        raise SourceError(f"The place of a row must be a text or an integer; {place} is neither.")
    if schema[time].type not in TIME_TYPES:
        raise SourceError(
            f"The time of a row must be a timestamp or a whole number of seconds, and {time} is "
            "neither."
        )
    closed = declared.closed(policy)
    if isinstance(closed.edges.places[0], str) != (kind is Type.TEXT):
        raise SourceError(
            f"The places of the map and those in {place} are of different types: one are texts, "
            "the others integers; write both alike."
        )
    return MapOfData(closed, place, time, held_map(engine, closed))


def map_terms(found: MapOfData | None) -> dict[str, Any]:
    """What an account and a receipt say of it; nothing where there is none."""
    return {} if found is None else {TERM: found.terms}


def map_promise(terms: Mapping[str, Any] | None) -> str:
    """What else is sensitive, in the words of a guarantee; `terms` are those of the account."""
    if not terms:
        return ""
    gap = "" if terms["gap"] is None else f", gap {terms['gap']} s"
    return (
        f", or the unit is closed over {terms['id'][:16]} by the rule {terms['rule']} (slack "
        f"{terms['slack']}{gap}; place {terms['place']}, time {terms['time']})"
    )


def map_notes(found: MapOfData | None) -> tuple[str, ...]:
    """What a plan says of a map."""
    if found is None:
        return ()
    return (f"units are closed over a map by the rule {found.closed.rule.value}: {_short(found)}",)


@dataclass(frozen=True)
class MapFacts:
    """What follows from a map alone: nothing of it depends on any data.

    - `pairs`: ordered pairs of open places, and `moves`: those that give S away if fast enough.
    - `examples`: some of these, with the seconds below which they do; None for any time.
    """

    id: str
    places: int
    ways: int
    sensitive: tuple[Place, ...]
    enclosed: tuple[Place, ...]
    rule: Mapping[str, Any]
    pairs: int
    moves: int
    examples: tuple[tuple[Place, Place, str | None], ...]

    @property
    def sentence(self) -> str:
        """What the map does."""
        if not self.moves:
            inside = f" but {len(self.enclosed):,} enclosed places" if self.enclosed else ""
            return f"A dead end: closure changes nothing here{inside}."
        share = self.moves / self.pairs
        return (
            f"{self.moves:,} of {self.pairs:,} moves between open places ({share:.1%}) lead "
            "through a sensitive place, and can give it away."
        )

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "id": self.id,
            "places": self.places,
            "ways": self.ways,
            "sensitive": list(self.sensitive),
            "enclosed": list(self.enclosed),
            **self.rule,
            "pairs": self.pairs,
            "moves": self.moves,
            "examples": [list(each) for each in self.examples],
            "said": self.sentence,
        }


def map_facts(closed: ClosedMap) -> MapFacts:
    """What follows from a map alone."""
    moves, names = closed.moves, closed.edges.places
    count = len(closed.open_places)
    examples = [
        (names[moves.start[at]], names[moves.end[at]], _limit(int(moves.below[at]), closed))
        for at in range(min(_SHOWN, len(moves)))
    ]
    return MapFacts(
        id=closed.id,
        places=len(names),
        ways=len(closed.edges),
        sensitive=_sorted(closed.sensitive),
        enclosed=_sorted(closed.enclosed),
        rule=closed.rule_terms,
        pairs=count * (count - 1),
        moves=len(moves),
        examples=tuple(examples),
    )


def _condition(text: str, edges: Edges, schema: Schema) -> Policy:
    try:
        condition = Policy(text)
        condition.bind(schema)
    except PolicyError:
        near = meant(text, map(str, edges.places))
        raise RequestError(
            f"The sensitive places {text!r} are neither places of the map{near} nor a condition "
            f"on {', '.join(schema)}."
        ) from None
    return condition


def _named(edges: Edges, places: Sequence[Place], what: str) -> list[Place]:
    """Places of the map by their names."""
    found = [_as_place(edges, each) for each in places]
    check_known(edges, found, what)
    return found


def _as_place(edges: Edges, name: Place) -> Place:
    """A number may be typed as a text."""
    whole = isinstance(name, str) and name.isdecimal() and isinstance(edges.places[0], int)
    return int(name) if whole else name


def _limit(below: int, closed: ClosedMap) -> str | None:
    """The time of a move as seconds, where the walk around S and not the gap bounds it."""
    any_time = closed.rule is Rule.QUICKEST or (closed.gap is not None and below > closed.gap)
    return None if any_time or below > MOST_GAP * 10**6 else seconds(below)


def _sorted(places: frozenset[Place]) -> tuple[Place, ...]:
    return tuple(sorted(places))


def _short(found: MapOfData) -> str:
    return map_facts(found.closed).sentence[:-1].lower()


def _slack(value: Number) -> Fraction:
    try:
        return rational(value, "slack")
    except InputError:
        raise RequestError("slack must be a number, such as 1 or 1.5.") from None


def _number(value: Number) -> Any:
    """A number of seconds as it may be typed."""
    if isinstance(value, str | Fraction):
        exact = rational(value, "gap")
        return exact.numerator if exact.denominator == 1 else float(exact)
    return value
