"""A survey: one row of answers for each respondent."""

from __future__ import annotations

from datetime import date

import pyarrow as pa

from support.analysts.columns import MOMENT, MONEY, MadeColumns, days_of
from support.analysts.field import Field

REGIONS = ("R01", "R02", "R03", "R04", "R05", "R06", "R07", "R08")
GENDERS = ("female", "male", "diverse")
SCHOOLING = ("primary", "secondary", "vocational", "tertiary")
WORK = ("employed", "self-employed", "unemployed", "retired", "student", "disabled")
PARTIES = ("Red", "Blue", "Green", "Other")
MODES = ("web", "phone", "face")


def responses() -> pa.Table:
    """The answers of 1500 respondents, each asked once, in the autumn of 2024."""
    rows = MadeColumns(501, 1500)
    submitted = rows.moments(date(2024, 9, 2), 75)
    gender = rows.choice("female", "male", "female", "male", "female", "male", "Male", "diverse")
    return pa.table(
        {
            "respondent_id": pa.array(range(10001, 10001 + rows.rows), pa.int32()),
            "interview_date": pa.array(days_of(submitted), pa.date32()),
            "submitted_at": pa.array(submitted, MOMENT),
            "mode": pa.array(rows.choice(*MODES, "web")),
            "language": pa.array(rows.choice("de", "de", "de", "en", "tr", "DE")),
            "gender": pa.array(rows.missing(gender, 2)),
            "age": pa.array(rows.missing(rows.whole(16, 90), 3), pa.int32()),
            "region_code": pa.array(rows.choice(*REGIONS, "R01", "R01", "R02")),
            "education": pa.array(rows.missing(rows.choice(*SCHOOLING, "secondary"), 4)),
            "employment": pa.array(rows.choice(*WORK[:5], *WORK, "employed", "employed")),
            "household_size": pa.array(rows.skewed(1, 8), pa.int32()),
            "children": pa.array(rows.missing(rows.skewed(0, 5), 5), pa.int32()),
            "income": pa.array(rows.missing(rows.money(0, 9000), 18), MONEY),
            "rent": pa.array(rows.missing(rows.money(100, 2500), 35), MONEY),
            "hours_worked": pa.array(rows.missing(rows.real(0, 70, 2), 30), pa.float64()),
            "weight": pa.array(rows.real(0, 3, 1000), pa.float64()),
            "minutes": pa.array(rows.real(4, 60, 10), pa.float32()),
            "satisfaction": pa.array(rows.missing(rows.whole(1, 5), 6), pa.int16()),
            "trust_gov": pa.array(rows.missing(rows.whole(0, 10), 9), pa.int16()),
            "trust_press": pa.array(rows.missing(rows.whole(0, 10), 11), pa.int16()),
            "Q7": pa.array(rows.missing(rows.whole(1, 7), 10), pa.int16()),
            "Q8_a": pa.array(rows.missing(rows.chance(35), 6), pa.bool_()),
            "Q8_b": pa.array(rows.missing(rows.chance(55), 6), pa.bool_()),
            "voted": pa.array(rows.missing(rows.chance(72), 8), pa.bool_()),
            "party": pa.array(rows.missing(rows.choice(*PARTIES), 45)),
            "panel": pa.array(rows.chance(30), pa.bool_()),
        }
    )


def survey_public() -> dict[str, pa.Table]:
    """Regions, levels of education, and the calendar of the field work."""
    return {
        "regions": pa.table(
            {
                "region_code": list(REGIONS),
                "region_name": [
                    "Capital",
                    "Lakes",
                    "Plain",
                    "Forest",
                    "Coast",
                    "Hills",
                    "Border",
                    "Islands",
                ],
                "population": pa.array(
                    [1900000, 610000, 540000, 320000, 470000, 280000, 150000, 40000], pa.int64()
                ),
                "urban": [True, True, False, False, True, False, False, False],
            }
        ),
        "education_levels": pa.table(
            {
                "education": list(SCHOOLING),
                "isced": pa.array([1, 3, 4, 6], pa.int32()),
                "years": pa.array([8, 12, 13, 16], pa.int32()),
            }
        ),
        "waves": pa.table(
            {
                "wave": pa.array([1, 2, 3], pa.int32()),
                "first_day": pa.array(
                    [date(2024, 9, 2), date(2024, 9, 27), date(2024, 10, 22)], pa.date32()
                ),
                "last_day": pa.array(
                    [date(2024, 9, 26), date(2024, 10, 21), date(2024, 11, 15)], pa.date32()
                ),
            }
        ),
    }


SURVEY = Field(
    name="survey",
    schema="panel2024",
    table="responses",
    unit=("respondent_id",),
    policy="employment = 'disabled' OR income < 900 OR party = 'Other'",
    make=responses,
    public=survey_public,
    bounds={
        "age": (16, 90),
        "household_size": (1, 8),
        "children": (0, 5),
        "income": (0, 9000),
        "rent": (0, 2500),
        "hours_worked": (0, 70),
        "weight": (0, 3),
        "minutes": (0, 60),
        "satisfaction": (1, 5),
        "trust_gov": (0, 10),
        "trust_press": (0, 10),
        "Q7": (1, 7),
    },
    domains={
        "gender": (*GENDERS, "*"),
        "region_code": REGIONS,
        "education": SCHOOLING,
        "employment": WORK,
        "mode": MODES,
        "party": PARTIES,
        "satisfaction": (1, 2, 3, 4, 5),
    },
    rows_a_unit=1,
)
