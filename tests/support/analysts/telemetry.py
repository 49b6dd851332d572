"""Telemetry: what the devices of an app report."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pyarrow as pa

from support.analysts.columns import MOMENT, MONEY, MadeColumns, days_of, later, spread
from support.analysts.field import Field

EVENTS = ("app_open", "screen_view", "search", "purchase", "error", "push_received")
SYSTEMS = ("android", "ios", "web")
VERSIONS = ("4.9.2", "5.0.0", "5.0.1", "5.1.0", "5.2.0-beta")
NETWORKS = ("wifi", "4g", "5g", "offline")
COUNTRIES = ("AT", "BR", "DE", "IN", "JP", "US")
SCREENS = ("home", "search", "cart", "health", "settings")


def events() -> pa.Table:
    """Events of 450 devices in the spring of 2024."""
    devices = MadeColumns(401, 450)
    name = [f"d{7919 * (each + 1) % 65536:04x}" for each in range(450)]
    system, country = devices.choice(*SYSTEMS, "android"), devices.choice(*COUNTRIES, "DE", "US")
    opt_in = devices.missing(devices.chance(90), 3)
    rows = MadeColumns(402, 3000)
    device, session = rows.skewed(1, 450), rows.whole(1, 5)
    moment = rows.moments(date(2024, 3, 1), 92)
    event = rows.choice(*EVENTS, "screen_view", "screen_view", "app_open")
    duration = rows.missing(rows.skewed(5, 60000), 10)
    return pa.table(
        {
            "event_id": pa.array(range(1, rows.rows + 1), pa.int64()),
            "device_id": pa.array(spread(name, device)),
            "session_id": pa.array(
                [f"{name[each - 1]}-{turn}" for each, turn in zip(device, session, strict=True)]
            ),
            "event_time": pa.array(moment, MOMENT),
            "received_at": pa.array(
                rows.missing(later(moment, seconds=rows.skewed(0, 7200)), 2), MOMENT
            ),
            "event_date": pa.array(days_of(moment), pa.date32()),
            "event_name": pa.array(event),
            "screenName": pa.array(rows.missing(rows.choice(*SCREENS, "home", "home"), 12)),
            "app_version": pa.array(rows.choice(*VERSIONS, "5.1.0", "5.1.0")),
            "os": pa.array(spread(system, device)),
            "country": pa.array(spread(country, device)),
            "network": pa.array(rows.missing(rows.choice(*NETWORKS, "wifi", "WiFi"), 7)),
            "duration_ms": pa.array(duration, pa.int64()),
            "bytes_sent": pa.array(rows.skewed(0, 500000), pa.int64()),
            "battery_pct": pa.array(rows.missing(rows.whole(0, 100), 25), pa.int16()),
            "cpu_load": pa.array(rows.missing(rows.real(0, 1), 5), pa.float64()),
            "temp_c": pa.array(rows.missing(rows.real(10, 48, 10), 30), pa.float32()),
            "retries": pa.array(rows.skewed(0, 4), pa.int32()),
            "crashed": pa.array(rows.chance(3), pa.bool_()),
            "foreground": pa.array(rows.missing(rows.chance(80), 4), pa.bool_()),
            "revenue_usd": pa.array(
                [
                    amount if kind == "purchase" else None
                    for amount, kind in zip(rows.money(1, 100), event, strict=True)
                ],
                MONEY,
            ),
            "opt_in": pa.array(spread(opt_in, device), pa.bool_()),
        }
    )


def telemetry_public() -> dict[str, pa.Table]:
    """Versions of the app, kinds of events, and countries."""
    return {
        "app_releases": pa.table(
            {
                "app_version": list(VERSIONS),
                "released_on": pa.array(
                    [
                        date(2023, 11, 6),
                        date(2024, 1, 15),
                        date(2024, 2, 1),
                        date(2024, 3, 18),
                        date(2024, 5, 2),
                    ],
                    pa.date32(),
                ),
                "release_channel": ["stable", "stable", "stable", "stable", "beta"],
                "size_mb": pa.array(
                    [Decimal("41.50"), Decimal("52.10"), Decimal("52.20"), Decimal("55.00"), None],
                    MONEY,
                ),
            }
        ),
        "event_types": pa.table(
            {
                "event_name": list(EVENTS),
                "event_group": ["usage", "usage", "usage", "money", "quality", "messaging"],
                "billable": [False, False, False, True, False, True],
            }
        ),
        "countries": pa.table(
            {
                "iso2": list(COUNTRIES),
                "country_name": ["Austria", "Brazil", "Germany", "India", "Japan", "United States"],
                "continent": ["Europe", "America", "Europe", "Asia", "Asia", "America"],
            }
        ),
    }


TELEMETRY = Field(
    name="telemetry",
    schema="telemetry",
    table="events",
    unit=("device_id",),
    policy="\"screenName\" = 'health' OR NOT opt_in",
    make=events,
    public=telemetry_public,
    bounds={
        "duration_ms": (0, 60000),
        "bytes_sent": (0, 500000),
        "battery_pct": (0, 100),
        "cpu_load": (0, 1),
        "temp_c": (10, 48),
        "retries": (0, 4),
        "revenue_usd": (0, 100),
    },
    domains={
        "event_name": EVENTS,
        "os": SYSTEMS,
        "app_version": (*VERSIONS, "*"),
        "network": (*NETWORKS, "*"),
        "country": COUNTRIES,
        "screenName": SCREENS,
    },
    rows_a_unit=10,
)
