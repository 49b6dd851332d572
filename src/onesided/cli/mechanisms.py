"""`onesided mechanisms`."""

from __future__ import annotations

import click

from onesided.cli.output import as_json, show_json, show_table


@click.command()
@as_json
def mechanisms(as_json: bool) -> None:
    """List the mechanisms: a session releases the sound ones."""
    from onesided.mechanisms.registry import mechanism, mechanism_names

    known = [mechanism(name) for name in mechanism_names()]
    rows = [(each.name, each.kind.value, each.summary) for each in known]
    if as_json:
        show_json([dict(zip(("name", "kind", "summary"), row, strict=True)) for row in rows])
    else:
        show_table(None, ("name", "kind", "what it does"), rows)
