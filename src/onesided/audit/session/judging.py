"""The verdict on a pair of tables: what was seen must follow from the requests and the release.

What was seen over D and over D′ is rendered again over a plain table, from the requests and from
what was released; each outcome must be the same. Listed keys, what `auto` chose and the axes of a
chart follow from released values, and so they are.

Released values are random, and how likely they are is the matter of the audits of mechanisms. Two
things can be said of one draw. A sample holds nothing of sensitive units, so that it is the same
for both tables where one sensitive unit takes the place of another. And a second engine that counts
the same table lets the same values out at the same noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from onesided.audit.session.reference_values import NotCovered
from onesided.audit.session.requests import Request
from onesided.audit.session.surfaces import Run, SecondEngine, SecondStage, Stage
from onesided.audit.session.watching import Outcomes, Seen, indented
from onesided.audit.session.worlds import ASIDE, Side, World
from onesided.data.release import table_of
from onesided.errors import ReleaseFailed

VALUES = "released values"
KEYS = "keys"
COLUMNS = "columns"
ANSWER = "whether there is an answer"
FAILURE = "a failure after the charge"
_MARK = b"PAR1"


@dataclass(frozen=True)
class Difference:
    """An outcome that does not follow from the requests and what was released.

    - `request`: which request, by its place; None for what is left in the ledger.
    - `seen`, `explained`: the outcome as it was seen, and as it should have been.
    - `side`: over which of the two tables.
    """

    request: int | None
    outcome: str
    side: Side
    seen: str
    explained: str


def judged(
    stage: Stage,
    world: World,
    requests: Sequence[Request],
    seed: int,
    *,
    second: SecondEngine | None = None,
    twice: bool = False,
) -> tuple[Run, list[Difference]]:
    """What was seen over D, and all differences.

    - `twice`: look at keys too: what is the same key each time over D must be public.
    """
    first = stage.ask(Side.FIRST, requests, seed)
    other = stage.ask(Side.SECOND, requests, seed)
    explained = stage.explain(first, requests)
    found = [*_columns(stage, world), *_differences(Side.FIRST, first, explained)]
    found += [*_answers(first, other), *_failures(Side.FIRST, first)]
    found += _failures(Side.SECOND, other)
    if (other.seen, other.account) != (first.seen, first.account):
        found += _differences(Side.SECOND, other, stage.explain(other, requests))
    if world.both:
        found += _samples(requests, first, other)
    if twice:
        bare = [request.unwritten for request in requests]
        found += _keys(first, explained, stage.ask(Side.FIRST, bare, seed))
    if second is not None and isinstance(stage, SecondStage):
        for side, run in ((Side.FIRST, first), (Side.SECOND, other)):
            answer = stage.ask_second(side, requests, seed, second)
            if answer is not None:
                found += _values(side, run, answer)
    return first, found


def _columns(stage: Stage, world: World) -> Iterator[Difference]:
    """A column that goes by another name than was written could be taken for another one.

    A lookup table is read without its columns of other types.
    """
    opened, written = list(stage.schema), [name.strip() for name in world.known]
    written = [name for name in written if name in opened or not name.startswith(f"{ASIDE}.")]
    if sorted(opened) != sorted(written):  # a column in the names of folders stands elsewhere
        yield Difference(None, COLUMNS, Side.PLAIN, "\n".join(opened), "\n".join(written))


def _answers(first: Run, other: Run) -> Iterator[Difference]:
    """What is answered for one table is answered for the other."""
    for place, (one, two) in enumerate(zip(first.seen, other.seen, strict=True)):
        if one.answered != two.answered:
            yield Difference(place, ANSWER, Side.FIRST, shown(one), shown(two))


def _failures(side: Side, run: Run) -> Iterator[Difference]:
    """No value of a column makes a release fail that was paid for."""
    for place, seen in enumerate(run.seen):
        if f".{ReleaseFailed.__name__}: " in seen.outcomes.get("exception", ""):
            yield Difference(place, FAILURE, side, shown(seen), "an answer")


def _differences(side: Side, run: Run, explained: Run) -> Iterator[Difference]:
    for place, (seen, again) in enumerate(zip(run.seen, explained.seen, strict=True)):
        for name, one, two in _unequal(seen.outcomes, again.outcomes):
            yield Difference(place, name, side, one, two)
    for name, one, two in _unequal(run.account, explained.account):
        yield Difference(None, name, side, one, two)


def _unequal(seen: Outcomes, explained: Outcomes) -> Iterator[tuple[str, str, str]]:
    for name in dict.fromkeys((*seen, *explained)):
        one, two = (each.get(name, "(nothing)") for each in (seen, explained))
        if one != two:
            yield name, indented(one), indented(two)


def _samples(requests: Sequence[Request], first: Run, other: Run) -> Iterator[Difference]:
    """One sensitive unit in place of another changes no sample, and nothing counted in one."""
    for place, (request, one, two) in enumerate(zip(requests, first.seen, other.seen, strict=True)):
        if not _reads_a_sample(request) or not (one.answered and two.answered):
            continue
        if one.released != two.released:
            yield Difference(place, VALUES, Side.FIRST, shown(one), shown(two))


def _reads_a_sample(request: Request) -> bool:
    """Whether nothing is read but the sample that coins draw."""
    if request.ask == "sample":
        return not request.arguments.get("stands_for")
    return request.ask == "count" and request.arguments.get("mechanism") == "rr"


def _keys(first: Run, explained: Run, again: Run) -> Iterator[Difference]:
    stable = (first.keys & again.keys) - explained.keys
    if stable:
        listed = "\n".join(sorted(stable))
        yield Difference(None, KEYS, Side.FIRST, listed, "keys that are new each time")


def _values(side: Side, run: Run, second: Run) -> Iterator[Difference]:
    for place, (seen, other) in enumerate(zip(run.seen, second.seen, strict=True)):
        if NotCovered.__name__ in other.outcomes.get("exception", ""):
            continue
        if seen.answered and (seen.released, other.answered) != (other.released, True):
            yield Difference(place, VALUES, side, shown(seen), shown(other))


def shown(seen: Seen) -> str:
    """The released values as a table, or why there are none."""
    if not seen.answered:
        return seen.outcomes.get("exception", "")
    return "\n".join(map(_payload, seen.released))


def _payload(payload: bytes) -> str:
    if payload.startswith(_MARK):
        import pyarrow as pa
        import pyarrow.parquet as pq

        return str(pq.read_table(pa.BufferReader(payload)).to_string(preview_cols=20))
    try:
        return str(table_of(payload).to_string(preview_cols=20))
    except Exception:  # a sample that lies elsewhere is described in JSON
        return payload.decode(errors="replace")
