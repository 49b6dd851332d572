"""Retail: lines of the orders of customers."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pyarrow as pa

from support.analysts.columns import MOMENT, MONEY, MadeColumns, days_of, spread
from support.analysts.field import Field

SKUS = (
    "AP-100",
    "AP-200",
    "BK-010",
    "BK-020",
    "EL-001",
    "EL-002",
    "GR-777",
    "GR-778",
    "PH-301",
    "PH-302",
)
CHANNELS = ("web", "app", "store", "phone")
TIERS = ("bronze", "silver", "gold")
COUNTRIES = ("AT", "DE", "FR", "PL", "US")


def purchases() -> pa.Table:
    """Lines of the orders of 600 customers, in 2023 and 2024."""
    customers = MadeColumns(301, 600)
    tier = customers.missing(customers.choice("bronze", *TIERS, "bronze", "silver"), 15)
    country = customers.choice(*COUNTRIES, "AT", "DE", "DE")
    orders = MadeColumns(302, 1100)
    customer, ordered = orders.skewed(1, 600), orders.moments(date(2023, 1, 1), 731)
    channel, payment = (
        orders.choice(*CHANNELS, "web", "web"),
        orders.choice("card", "cash", "invoice", "Card ", "wallet"),
    )
    store = [
        where if how == "store" else None
        for where, how in zip(orders.whole(1, 5), channel, strict=True)
    ]
    rows = MadeColumns(303, 2600)
    order = rows.whole(1, 1100)
    return pa.table(
        {
            "order_id": pa.array(order, pa.int64()),
            "line_no": pa.array(rows.whole(1, 9), pa.int16()),
            "customer_id": pa.array(spread(customer, order), pa.int32()),
            "ordered_at": pa.array(spread(ordered, order), MOMENT),
            "order_date": pa.array(days_of(spread(ordered, order)), pa.date32()),
            "sku": pa.array(rows.choice(*SKUS, *SKUS[:6])),
            "quantity": pa.array(rows.missing(rows.skewed(1, 12), 1), pa.int32()),
            "price": pa.array(rows.money(1, 400), MONEY),
            "discount": pa.array(
                rows.missing(rows.choice(0.0, 0.0, 0.05, 0.1, 0.25), 8), pa.float64()
            ),
            "shipping_fee": pa.array(rows.missing(rows.money(0, 15), 30), MONEY),
            "channel": pa.array(spread(channel, order)),
            "store_id": pa.array(spread(store, order), pa.int32()),
            "payment": pa.array(spread(payment, order)),
            "coupon": pa.array(
                rows.missing(rows.choice("WELCOME10", "summer24", "XMAS23", "VIP"), 80)
            ),
            "returned": pa.array(rows.missing(rows.chance(9), 4), pa.bool_()),
            "gift": pa.array(rows.chance(7), pa.bool_()),
            "rating": pa.array(rows.missing(rows.whole(1, 5), 60), pa.int16()),
            "loyaltyTier": pa.array(spread(spread(tier, customer), order)),
            "Country Code": pa.array(spread(spread(country, customer), order)),
        }
    )


def retail_public() -> dict[str, pa.Table]:
    """Products, stores, and rates of tax."""
    return {
        "products": pa.table(
            {
                "sku": list(SKUS),
                "product_name": [
                    "Shirt",
                    "Coat",
                    "Novel",
                    "Atlas",
                    "Phone",
                    "Lamp",
                    "Tea",
                    "Rice",
                    "Balm",
                    "Syrup",
                ],
                "category": [
                    "apparel",
                    "apparel",
                    "books",
                    "books",
                    "electronics",
                    "electronics",
                    "grocery",
                    "grocery",
                    "pharmacy",
                    "pharmacy",
                ],
                "brand": [
                    "Nord",
                    "Nord",
                    "Quill",
                    "Quill",
                    "Volt",
                    "Volt",
                    "Field",
                    None,
                    "Medi",
                    "Medi",
                ],
                "unit_cost": pa.array([Decimal("7.50") * (each + 1) for each in range(10)], MONEY),
                "weight_kg": [0.3, 1.4, 0.4, 2.1, 0.2, 1.8, 0.1, 1.0, 0.1, 0.3],
            }
        ),
        "stores": pa.table(
            {
                "store_id": pa.array([1, 2, 3, 4, 5], pa.int32()),
                "city": ["Vienna", "Graz", "Berlin", "Paris", "Krakow"],
                "sqm": pa.array([820, 410, 1200, 660, 300], pa.int32()),
                "opened_on": pa.array(
                    [date(2009 + 3 * each, 9, 1) for each in range(5)], pa.date32()
                ),
            }
        ),
        "tax_rates": pa.table(
            {
                "country": list(COUNTRIES),
                "vat": [0.2, 0.19, 0.2, 0.23, 0.0],
                "eu": [True] * 4 + [False],
            }
        ),
    }


RETAIL = Field(
    name="retail",
    schema="shop",
    table="purchases",
    unit=("customer_id",),
    policy="sku LIKE 'PH-%' OR gift",
    make=purchases,
    public=retail_public,
    bounds={
        "quantity": (1, 12),
        "price": (0, 400),
        "discount": (0, 0.5),
        "shipping_fee": (0, 15),
        "rating": (1, 5),
    },
    domains={
        "sku": SKUS,
        "channel": CHANNELS,
        "loyaltyTier": TIERS,
        "Country Code": COUNTRIES,
        "store_id": (1, 2, 3, 4, 5),
        "rating": (1, 2, 3, 4, 5),
    },
    rows_a_unit=6,
)
