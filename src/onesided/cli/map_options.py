"""The options that say over which public map units are closed."""

from __future__ import annotations

from typing import Any

import click

from onesided.errors import RequestError

_PREFIX = "map_"
RULE_OPTIONS = (
    click.option(
        "--map-sensitive",
        metavar="PLACES|SQL",
        help="The sensitive places with commas, or a condition on a place; default: what the "
        "policy says of a place.",
    ),
    click.option(
        "--map-places", metavar="FILE", help="A table of places that this condition may read."
    ),
    click.option(
        "--map-rule",
        help="certain (default): moves in which no walk around a sensitive place fits; quickest: "
        "all whose quickest way leads through one.",
    ),
    click.option(
        "--map-slack", help="How many times as slow as the map says people may walk; default: 1."
    ),
    click.option("--map-gap", help="The most seconds between two rows that are taken for a move."),
    click.option("--map-outside", metavar="PLACE", help="The place where walks begin."),
    click.option(
        "--map-directed/--map-both-ways",
        default=None,
        help="Ways lead from the first place to the second alone, or (default) both ways.",
    ),
)
MAP_OPTIONS = (
    click.option(
        "--map",
        "map_edges",
        metavar="FILE",
        help="A public map, as edges from, to and seconds: units are sensitive too whose moves "
        "give away that they were at a sensitive place.",
    ),
    click.option("--map-place", metavar="COLUMN", help="The column that says where a row is."),
    click.option("--map-time", metavar="COLUMN", help="The column that says when."),
    *RULE_OPTIONS,
)


def take_map(options: dict[str, Any]) -> dict[str, Any] | None:
    """Takes what these options say out of `options`, as the arguments of `onesided.Map`."""
    names = [name for name in options if name.startswith(_PREFIX)]
    said = {name.removeprefix(_PREFIX): options.pop(name) for name in names}
    given = {name: value for name, value in said.items() if value is not None}
    if not given:
        return None
    for name, option in (("edges", "--map"), ("place", "--map-place"), ("time", "--map-time")):
        if name not in given:
            raise RequestError(f"A map needs {option} too.")
    return given
