"""Transport: trips with travel cards, as the gates and vehicles saw them."""

from __future__ import annotations

from datetime import date

import pyarrow as pa

from support.analysts.columns import MOMENT, MONEY, MadeColumns, days_of, later, spread
from support.analysts.field import Field

LINES = ("U1", "U4", "T5", "T18", "B13", "B57", "F1")
STOPS = ("CENT", "HOSP", "PARK", "UNIV", "HARB", "EAST", "WEST", "HILL")
TICKETS = ("single", "day", "month", "year", "social")


def trips() -> pa.Table:
    """Trips of 500 travel cards in the first half of 2024."""
    cards = MadeColumns(201, 500)
    ticket = cards.choice(*TICKETS[:4], *TICKETS[:4], *TICKETS)
    concession = cards.missing(cards.chance(20), 2)
    rows = MadeColumns(202, 2400)
    card = rows.skewed(1, 500)
    started = rows.moments(date(2024, 1, 1), 182)
    line = rows.choice(*LINES, "U1", "U1", "U4")
    modes = {"U": "metro", "T": "tram", "B": "bus", "F": "ferry"}
    return pa.table(
        {
            "trip_id": pa.array(range(1, rows.rows + 1), pa.int64()),
            "card_id": pa.array(card, pa.int64()),
            "trip_date": pa.array(days_of(started), pa.date32()),
            "started_at": pa.array(started, MOMENT),
            "ended_at": pa.array(
                rows.missing(later(started, seconds=rows.skewed(120, 5400)), 6), MOMENT
            ),
            "line": pa.array(line),
            "mode": pa.array([modes[each[0]] for each in line]),
            "from_stop": pa.array(rows.choice(*STOPS, "CENT", "CENT", "UNIV", "EAST")),
            "to_stop": pa.array(rows.missing(rows.choice(*STOPS, "CENT", "PARK", "WEST"), 10)),
            "ticket_type": pa.array(spread(ticket, card)),
            "fare": pa.array(rows.missing(rows.money(0, 12), 1), MONEY),
            "distance_km": pa.array(rows.missing(rows.real(0, 30), 6), pa.float64()),
            "delay_s": pa.array(rows.missing(rows.skewed(-60, 1800), 15), pa.int32()),
            "vehicle_id": pa.array(rows.whole(1, 60), pa.int32()),
            "zone_from": pa.array(rows.skewed(1, 4), pa.int16()),
            "zone_to": pa.array(rows.missing(rows.skewed(1, 4), 10), pa.int16()),
            "transfers": pa.array(rows.skewed(0, 3), pa.int32()),
            "load_pct": pa.array(rows.missing(rows.real(0, 120), 20), pa.float32()),
            "concession": pa.array(spread(concession, card), pa.bool_()),
            "night": pa.array([each.hour < 5 for each in started], pa.bool_()),
            "App Channel": pa.array(rows.missing(rows.choice("app", "kiosk", "web", "driver"), 5)),
        }
    )


def transport_public() -> dict[str, pa.Table]:
    """Stops, lines, and holidays."""
    return {
        "stops": pa.table(
            {
                "stop_code": list(STOPS),
                "stop_name": [
                    "Centre",
                    "Hospital",
                    "Park",
                    "University",
                    "Harbour",
                    "East",
                    "West",
                    "Hill",
                ],
                "district": [
                    "Inner",
                    "Outer",
                    "Inner",
                    "Inner",
                    "Outer",
                    "Outer",
                    "Outer",
                    "Outer",
                ],
                "zone": pa.array([1, 2, 1, 1, 3, 3, 4, 4], pa.int16()),
                "accessible": [True, True, True, True, False, True, None, False],
            }
        ),
        "lines": pa.table(
            {
                "line": list(LINES),
                "operator": [
                    "Metro Co",
                    "Metro Co",
                    "Tramways",
                    "Tramways",
                    "Metro Co",
                    "BlueBus",
                    "Ferries",
                ],
                "opened": pa.array([date(1978 + 6 * each, 3, 1) for each in range(7)], pa.date32()),
                "capacity": pa.array([880, 880, 210, 210, 95, 80, 150], pa.int32()),
            }
        ),
        "holidays": pa.table(
            {
                "day": pa.array(
                    [
                        date(2024, 1, 1),
                        date(2024, 1, 6),
                        date(2024, 4, 1),
                        date(2024, 5, 1),
                        date(2024, 5, 9),
                    ],
                    pa.date32(),
                ),
                "holiday": ["New Year", "Epiphany", "Easter Monday", "Labour Day", "Ascension"],
            }
        ),
    }


TRANSPORT = Field(
    name="transport",
    schema="mobility",
    table="trips",
    unit=("card_id",),
    policy="from_stop = 'HOSP' OR to_stop = 'HOSP' OR ticket_type = 'social'",
    make=trips,
    public=transport_public,
    bounds={
        "fare": (0, 12),
        "distance_km": (0, 30),
        "delay_s": (-60, 1800),
        "load_pct": (0, 120),
        "transfers": (0, 3),
    },
    domains={
        "line": LINES,
        "mode": ("bus", "ferry", "metro", "tram"),
        "from_stop": STOPS,
        "to_stop": STOPS,
        "ticket_type": TICKETS,
        "zone_from": (1, 2, 3, 4),
        "zone_to": (1, 2, 3, 4),
        "App Channel": ("app", "kiosk", "web", "driver"),
    },
    rows_a_unit=8,
)
