"""Secret tables beside the data: what they do not say was taken for a no."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from onesided.engine import beside, sql
from onesided.language import Type
from support.plants.planting import replaced

_BESIDE = beside.looked_up_beside


@contextmanager
def what_is_not_found_is_false() -> Iterator[None]:
    """Somebody of whom the table of opt-outs says nothing was taken not to have opted out."""

    def looked_up(source: str, lookups: Any, read: Any, flavour: Any, **options: Any) -> str:
        text = _BESIDE(source, lookups, read, flavour, **options)
        for number, lookup in enumerate(lookups):
            for name, column in lookup.columns.items():
                if lookup.table.schema[column].type is Type.BOOLEAN:
                    cell = f"osd_b{number}.{flavour.name(column)}"
                    known = flavour.name(name)
                    text = text.replace(f"{cell} AS {known}", f"coalesce({cell}, FALSE) AS {known}")
        return text

    with replaced((sql, "looked_up_beside", looked_up)):
        yield
