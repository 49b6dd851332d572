"""A closed policy on a trace of 5 million rows: CPU seconds beside the plain statements.

The trace has few moments that several rows of a unit share, or many (`--ties`). Each job is run
alternately with its twins, and the best of `--repeat` runs counts: the statement with LAG, which
takes one row at each moment for all, and a plain pass over the policy. Exits with 1 where a ratio
is above its goal. With `--places` only least times on a made-up map are found.

    python benchmarks/maps.py --picture docs/maps.svg      draws the picture of docs/maps.md
    python benchmarks/maps.py --republica      what a map closes where devices are polled coarsely
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import zipfile
from collections.abc import Callable
from math import dist
from pathlib import Path
from time import process_time

import duckdb
import pyarrow as pa

import onesided as osd
from onesided.charts.maps import DrawnPlace, map_picture
from onesided.data.files import write_batches
from onesided.data.units import Unit
from onesided.datasets.wifi import republica_archive
from onesided.engine.base import Coins, CountQuery, SampleQuery
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.engine.maps import ClosedPredicate, held_map
from onesided.language import Predicate
from onesided.loss import quantity
from onesided.maps import ClosedMap, Edges
from onesided.maps.edges import MICROSECONDS
from onesided.randomness import fresh_coin_key, seeded

GRID = 8
UNITS = 250_000
POLICY = "NOT consent"
AGAINST_LAG = {"few": 1.3, "many": 1.6}
AGAINST_PASS, AGAINST_SAMPLE = 9.0, 2.5
YARD = "raucherhof"
COLUMNS = ("device", "ts", "ap", "consent")
SECONDS = {"few": 1, "many": 2250}
"""Moments are whole multiples of so many seconds of a day: 40 % of rows then share theirs."""


def grid(side: int, sensitive: int, gap: int | None) -> ClosedMap:
    """Places in a square with ways of 20 to 60 seconds; some of them are sensitive."""
    draw = seeded(1).generator()
    ways = []
    for x in range(side):
        for y in range(side):
            for dx, dy in ((0, 1), (1, 0)):
                if x + dx < side and y + dy < side:
                    time = int(draw.integers(20, 60)) * MICROSECONDS
                    ways.append((f"{x}-{y}", f"{x + dx}-{y + dy}", time))
    edges = Edges.between(ways)
    chosen = draw.permutation(len(edges.places))[:sensitive].tolist()
    names = frozenset(edges.places[each] for each in chosen)
    return ClosedMap(edges=edges, sensitive=names, gap=gap)


def make(path: Path, rows: int, closed: ClosedMap, ties: str) -> None:
    """Days of people who wander over the map, nobody at its sensitive places."""
    names = pa.table({"n": range(GRID * GRID), "ap": list(closed.edges.places)})
    shut = ", ".join(f"'{each}'" for each in sorted(closed.sensitive, key=str))
    step = SECONDS[ties]
    with duckdb.connect() as made:
        made.register("names", names)
        made.execute(
            f"""COPY (SELECT 'device ' || (i % {UNITS}) AS device, n.ap AS ap,
            TIMESTAMP '2024-01-01' + to_seconds((hash(i, 1) % (86400 // {step})) * {step}) AS ts,
            hash(i, 2) % 1000 <> 0 AS consent
            FROM range({rows}) t(i) JOIN names n ON n.n = hash(i, 3) % {GRID * GRID}
            WHERE n.ap NOT IN ({shut}) ORDER BY i % 977) TO '{path}'"""
        )


class MapBench:
    """One trace under a closed policy, and a plain DuckDB beside it."""

    def __init__(self, folder: Path, rows: int, ties: str) -> None:
        self.folder, self.trace = folder, folder / f"{ties}.parquet"
        closed = grid(GRID, 3, 1800 * MICROSECONDS)
        make(self.trace, rows, closed, ties)
        self.engine = DuckDBEngine(self.trace, Unit(("device",)))
        self.plain = duckdb.connect()
        bound = Predicate.parse(POLICY).bind(self.engine.schema)
        held = held_map(self.engine, closed)
        self.policy = ClosedPredicate.over(bound, closed, held, self.engine.schema, "ap", "ts")
        self.coins = Coins(fresh_coin_key(), quantity(1, "epsilon"))
        moves = closed.moves
        self.plain.register("places", closed.open_places)
        self.plain.register(
            "moves", pa.table({"a": moves.start, "b": moves.end, "below": moves.below})
        )

    def close(self) -> None:
        self.engine.close()
        self.plain.close()

    def count(self) -> None:
        self.engine.count(CountQuery(self.policy, ()))

    def sample(self) -> None:
        query = SampleQuery(self.policy, self.coins, COLUMNS)
        out = self.folder / "ours.parquet"
        write_batches(self.engine.sample(query), self.engine.output_schema(COLUMNS), out)

    def lag_units(self) -> str:
        """Units with whether they are sensitive, by the row before each row."""
        return f"""WITH w AS (SELECT device, (NOT consent) IS NOT FALSE OR number IS NULL AS s,
            number AS b, epoch_us(ts) AS t,
            lag(number) OVER o AS a, lag(epoch_us(ts)) OVER o AS u
            FROM '{self.trace}' x LEFT JOIN places p ON x.ap = p.place
            WINDOW o AS (PARTITION BY device ORDER BY ts))
            SELECT device, bool_or(s OR coalesce(t - u < below, FALSE)) AS sensitive
            FROM w LEFT JOIN moves USING (a, b) GROUP BY device"""

    def lag(self) -> None:
        units = self.lag_units()
        self.plain.execute(f"SELECT count(*) FROM ({units}) WHERE NOT sensitive").fetchall()

    def plain_pass(self) -> None:
        units = f"SELECT device, bool_or(NOT consent) AS s FROM '{self.trace}' GROUP BY device"
        self.plain.execute(f"SELECT count(*) FROM ({units}) WHERE NOT s").fetchall()

    def plain_sample(self) -> None:
        """The rows of the same units by LAG, without a promise and in no order."""
        kept = f"SELECT device FROM ({self.lag_units()}) WHERE NOT sensitive"
        rows = f"SELECT * FROM '{self.trace}' SEMI JOIN ({kept}) USING (device)"
        self.plain.execute(f"COPY ({rows}) TO '{self.folder / 'plain.parquet'}'")

    def jobs(self, ties: str) -> list[tuple[str, Callable[[], None], Callable[[], None], float]]:
        return [
            (f"closed, beside LAG, {ties} ties", self.count, self.lag, AGAINST_LAG[ties]),
            (f"closed, beside a pass, {ties} ties", self.count, self.plain_pass, AGAINST_PASS),
            (f"sample, beside LAG, {ties} ties", self.sample, self.plain_sample, AGAINST_SAMPLE),
        ]


def cpu(job: Callable[[], object]) -> float:
    before = process_time()
    job()
    return process_time() - before


def least_times() -> int:
    """The time that maps of 1,000 and of 10,000 places take."""
    missed = 0
    for side, sensitive, gap, goal in ((32, 3, None, 5), (100, 3, 900, 60), (100, 300, 900, 60)):
        limit = None if gap is None else gap * MICROSECONDS
        closed = grid(side, sensitive, limit)
        took = cpu(lambda: len(closed.moves))  # noqa: B023
        missed += took > goal
        print(
            f"{side * side:>7,} places, {sensitive} sensitive, gap {gap}: {took:.1f} s of CPU, "
            f"goal {goal}; {len(closed.moves):,} moves"
        )
    return missed


def coarse_polling() -> None:
    """Shares of device-days of re:publica 2013 that a map closes; the yard is its smokers' yard.

    There is no map of that building. Each room is linked with the nearest ones, by the rough places
    of its access points. A unit of them is taken for 100 metres; people walk 1.2 metres a second.
    """
    with tempfile.TemporaryDirectory(prefix="onesided-bench-") as folder, duckdb.connect() as plain:
        archive = republica_archive()
        if archive is None:
            print("The re:publica trace is not there: ONESIDED_DATA names no folder that has it.")
            return
        with zipfile.ZipFile(archive) as packed:
            (member,) = packed.namelist()
            trace = plain.read_csv(packed.extract(member, folder)).project(
                "#6 AS device, CAST(#1 AS DATE) AS day, CAST(#1 AS TIMESTAMP) AS ts, #3 AS room, "
                "#4 AS x, #5 AS y"
            )
        rooms = trace.aggregate("room, avg(x) AS x, avg(y) AS y").order("room").fetchall()
        table = trace.project("device, day, ts, room").to_arrow_table()
        for links in (3, 4):
            for rule in ("certain", "quickest"):
                on_map = osd.Map(
                    edges=nearest_rooms(rooms, links),
                    place="room",
                    time="ts",
                    sensitive=[YARD],
                    rule=rule,
                )
                with osd.open(
                    table, unit="device,day", policy=f"room = '{YARD}'", map=on_map, budget=1
                ) as opened:
                    found = opened.check(secret=True).secret
                    assert found is not None
                    print(
                        f"{links} links a room, {rule}: the yard was visited on "
                        f"{(found.sensitive - found.by_map) / found.units:.1%} of days, the map "
                        f"closes {found.by_map / found.units:.1%} more"
                    )


def nearest_rooms(rooms: list[tuple[str, float, float]], links: int) -> pa.Table:
    """Ways between each room and those nearest to it, with the seconds that they take."""
    ways = {}
    for room, *place in rooms:
        near = sorted((dist(place, there), other) for other, *there in rooms if other != room)
        for far, other in near[:links]:
            ways[min(room, other), max(room, other)] = max(1, round(far * 100 / 1.2))
    return pa.table(
        {
            "from": [room for room, _ in ways],
            "to": [other for _, other in ways],
            "seconds": list(ways.values()),
        }
    )


def picture(path: Path) -> None:
    """What ten seconds are enough for."""
    places = [
        DrawnPlace("west wing", 0, 10, note="seen at 10:00:00"),
        DrawnPlace("east wing", 60, 10, note="seen at 10:01:00"),
        DrawnPlace("smokers' yard", 30, 18, sensitive=True, note="not seen"),
        DrawnPlace("lobby", 30, 0, note="not in time: 2 minutes"),
    ]
    ways = [
        ("west wing", "smokers' yard", 20),
        ("smokers' yard", "east wing", 20),
        ("west wing", "lobby", 60),
        ("lobby", "east wing", 60),
    ]
    drawn = map_picture("Nobody saw her in the yard, and everybody knows", places, ways)
    drawn.write(path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000, help="rows of the trace")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--ties", choices=["few", "many", "both"], default="both")
    parser.add_argument("--places", action="store_true", help="time the least times alone")
    parser.add_argument("--picture", type=Path, help="draw the picture of the docs alone")
    parser.add_argument("--republica", action="store_true", help="look at re:publica 2013 alone")
    chosen = parser.parse_args()
    if chosen.republica:
        coarse_polling()
        return 0
    if chosen.picture is not None:
        picture(chosen.picture)
        return 0
    if chosen.places:
        return 1 if least_times() else 0
    missed = 0
    print(f"{'job':<36}{'ours':>9}{'plain':>9}{'ratio':>8}{'goal':>7}   CPU seconds, best run")
    for ties in ("few", "many") if chosen.ties == "both" else (chosen.ties,):
        with tempfile.TemporaryDirectory(prefix="onesided-bench-") as folder:
            bench = MapBench(Path(folder), chosen.rows, ties)
            for name, ours, plain, goal in bench.jobs(ties):
                pairs = [(cpu(ours), cpu(plain)) for _ in range(chosen.repeat)]
                best, beside = (min(times) for times in zip(*pairs, strict=True))
                missed += best / beside > goal
                print(f"{name:<36}{best:>9.2f}{beside:>9.2f}{best / beside:>8.2f}{goal:>7.1f}")
            bench.close()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
