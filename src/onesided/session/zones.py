"""The time zones of a data set among the terms of its account."""

from __future__ import annotations

from typing import Any

from onesided.language import Schema
from onesided.language.zones import declared_zones

TIME_ZONES = "time_zones"


def zone_notes(schema: Schema) -> tuple[str, ...]:
    """What a plan says of declared zones: the same as a receipt will."""
    return tuple(
        f"hours and days of {name} are those in {zone}"
        for name, zone in declared_zones(schema).items()
    )


def zone_terms(schema: Schema) -> dict[str, Any]:
    """Zones by column with the edition of the zone database; nothing where none is declared."""
    zones = declared_zones(schema)
    return {TIME_ZONES: zones} if zones else {}
