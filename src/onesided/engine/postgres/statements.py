"""How PostgreSQL counts pairs of a unit and a group: the table is read once.

The general statement brings rows together twice, to pairs and to units, and joins the two. Here the
pairs carry the sensitivity of their rows along, and a window over the pairs of a unit makes it the
unit's. Sorted by the unit's key they come in the order that this window needs.

A hash table of pairs that outgrows its memory is written out again and again, and PostgreSQL does
not foresee it: of several columns it expects no more than a tenth as many pairs as rows. So where
units are many the rows are sorted, which costs the same a row however many there are.
"""

from __future__ import annotations

from dataclasses import dataclass

from onesided.engine.base import CountQuery
from onesided.engine.maps import ClosedPredicate
from onesided.engine.sql import Statements, amounts
from onesided.language import Type


@dataclass(frozen=True)
class PostgresStatements(Statements):
    """The statements on one table of PostgreSQL.

    - `many_units`: sort the rows of a histogram instead of leaving the way to the server.
    """

    many_units: bool = True

    def _pairs(self, query: CountQuery, groups: list[str]) -> tuple[str, str]:
        """Pairs with the sensitivity of their unit; coins and closed policies come by a join."""
        if query.coins is not None or isinstance(query.policy, ClosedPredicate):
            return super()._pairs(query, groups)
        pairs = self._pairs_of_all_rows(query, groups)
        listed = [*self._keys, *groups]
        listed += amounts(query.totals)
        window = f"bool_or(osd_any) OVER (PARTITION BY {self._listed_keys}) AS osd_sensitive"
        counted = f"SELECT {', '.join([*listed, window])} FROM ({pairs}) osd_a"
        if query.where is not None:
            spread = f"SELECT *, {window} FROM ({pairs}) osd_a"
            shown = ", ".join([*listed, "osd_sensitive"])
            counted = f"SELECT {shown} FROM ({spread}) osd_s WHERE osd_chosen"
        return self._cut(query, groups, f"WITH osd_p AS ({counted})", "osd_p")

    def _pairs_of_all_rows(self, query: CountQuery, groups: list[str]) -> str:
        """One row per pair, with osd_any: whether a row of it is sensitive.

        Rows that `where` leaves out can make a unit sensitive as well. They are one pair of their
        unit, told from the others by osd_chosen.
        """
        rows, order = [*self._keys], [*self._keys]
        named = self._named_groups(query, groups)
        if query.where is not None:
            chosen = f"{self._selected(query.where)} IS TRUE"
            rows.append(f"{chosen} AS osd_chosen")
            order.append("osd_chosen")
            named = [
                f"CASE WHEN {chosen} THEN {key.render(self.flavour.writer)} END AS {group}"
                for group, key in zip(groups, query.by, strict=True)
            ]
        rows += [*named, f"{self._is_sensitive(query.policy)} AS osd_row"]
        order += _texts_last(query, groups)
        pairs = [*order, "bool_or(osd_row) AS osd_any"]
        for place, (total, amount) in enumerate(
            zip(query.totals, amounts(query.totals), strict=True)
        ):
            rows.append(f"{self._steps(total)} AS osd_steps{place}")
            summed = self.flavour.sum_of(f"osd_steps{place}")
            pairs.append(f"{self._clipped(total, summed)} AS {amount}")
        source = (
            f"SELECT {', '.join(rows)} FROM {self.relation.source} osd_t WHERE {self._present()}"
        )
        if self.many_units:
            source = f"{source} ORDER BY {', '.join(order)}"
        return f"SELECT {', '.join(pairs)} FROM ({source}) osd_r GROUP BY {', '.join(order)}"


def _texts_last(query: CountQuery, groups: list[str]) -> list[str]:
    """Texts are compared slowest: only where all else is equal."""
    kinds = {group: key.type for group, key in zip(groups, query.by, strict=True)}
    return sorted(groups, key=lambda group: kinds[group] is Type.TEXT)
