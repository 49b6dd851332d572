"""`onesided map check`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from onesided.cli.map_options import RULE_OPTIONS, take_map
from onesided.cli.output import as_json, show_facts, show_json, show_table
from onesided.cli.sources import config_option, description, with_options
from onesided.errors import RequestError


@click.group("map")
def map_() -> None:
    """Say what a public map makes sensitive."""


def _rule(command: Any) -> Any:
    return with_options(command, RULE_OPTIONS)


@map_.command()
@click.argument("source")
@config_option
@click.option("--policy", help="SQL; says which places are sensitive where nothing else does.")
@click.option(
    "--place", default="place", show_default=True, help="What the policy calls the place of a row."
)
@_rule
@as_json
def check(
    source: str,
    config: Path | None,
    policy: str | None,
    place: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Say what the map SOURCE makes sensitive: a file of edges, or a data set of onesided.toml.

    Only the map is read, and no data.
    """
    from onesided.policy import Policy
    from onesided.session.maps import declared_map, map_facts

    described = description(source, config)
    if described is None:
        arguments = take_map({"map_edges": source, "map_place": place, "map_time": "ts", **options})
    else:
        arguments = described.arguments.get("map")
        policy = policy or described.arguments["policy"]
        if arguments is None:
            raise RequestError(f"{source} has no map in {described.file}.")
    declared = declared_map(arguments)
    assert declared is not None
    facts = map_facts(declared.closed(None if policy is None else Policy(policy)))
    if as_json:
        show_json(facts.to_json())
    else:
        _show(facts)


def _show(facts: Any) -> None:
    gap = facts.rule["gap"]
    show_facts(
        {
            "map": facts.id,
            "places": f"{facts.places:,}, and {facts.ways:,} ways from one to another",
            "sensitive": ", ".join(map(str, facts.sensitive)),
            "enclosed": ", ".join(map(str, facts.enclosed)) or "none",
            "rule": f"{facts.rule['rule']}, slack {facts.rule['slack']}, "
            + ("any gap" if gap is None else f"gap {gap} s"),
        }
    )
    if facts.examples:
        rows = [(str(a), str(b), limit or "any time") for a, b, limit in facts.examples]
        show_table("for instance", ("from", "to", "sensitive below, seconds"), rows)
    show_facts({"so": facts.sentence})
