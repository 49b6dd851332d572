"""Health: stays in hospitals, several of one patient."""

from __future__ import annotations

from datetime import date

import pyarrow as pa

from support.analysts.columns import MOMENT, MONEY, MadeColumns, days_of, later, spread
from support.analysts.field import Field

WARDS = ("Cardiology", "Surgery", "Paediatrics", "Geriatrics", "Psychiatry", "Oncology")
HOSPITALS = (1, 2, 3, 4, 5, 6)
SEXES = ("F", "M", "X")
CODES = ("I21.4", "I50.0", "J18.9", "J45.0", "E11.9", "F32.1", "S72.0", "C34.1", "K35.8", "O80")
INSURERS = ("public", "private", "none")


def admissions() -> pa.Table:
    """Stays of 400 patients in six hospitals, in 2023 and 2024."""
    people = MadeColumns(101, 400)
    sex, born = (
        people.missing(people.choice(*SEXES[:2], *SEXES[:2], *SEXES), 2),
        people.whole(1930, 2022),
    )
    birthday = people.missing([date(year, 1 + year % 12, 1 + year % 28) for year in born], 4)
    smoker, consent = people.missing(people.chance(25), 10), people.missing(people.chance(96), 1)
    postcode = people.choice("1010", "1020", "2340", "2500", "3100", "4020", "5020")
    insurance = people.choice("public", "public", "public", "private", "none")
    rows = MadeColumns(102, 1300)
    patient = rows.whole(1, 400)
    admitted = rows.moments(date(2023, 1, 1), 730)
    stay = rows.skewed(0, 30)
    discharged = rows.missing(later(admitted, days=stay, seconds=rows.whole(600, 80000)), 5)
    return pa.table(
        {
            "admission_id": pa.array(range(1, rows.rows + 1), pa.int64()),
            "patient_id": pa.array(patient, pa.int32()),
            "sex": pa.array(spread(sex, patient)),
            "birth_date": pa.array(spread(birthday, patient), pa.date32()),
            "age": pa.array(
                [
                    None if gone is None else max(0, day.year - year)
                    for gone, day, year in zip(
                        spread(birthday, patient), admitted, spread(born, patient), strict=True
                    )
                ],
                pa.int32(),
            ),
            "postcode": pa.array(spread(postcode, patient)),
            "hospital_id": pa.array(rows.choice(*HOSPITALS, 1, 1, 2), pa.int32()),
            "ward": pa.array(rows.choice(*WARDS, *WARDS, *WARDS, "cardiology ", "SURGERY")),
            "admitted_at": pa.array(admitted, MOMENT),
            "discharged_at": pa.array(discharged, MOMENT),
            "visit_date": pa.array(days_of(admitted), pa.date32()),
            "diagnosis": pa.array(rows.missing(rows.choice(*CODES), 3)),
            "triageLevel": pa.array(rows.missing(rows.whole(1, 5), 8), pa.int16()),
            "los_days": pa.array(
                [
                    None if gone is None else days
                    for gone, days in zip(discharged, stay, strict=True)
                ],
                pa.int32(),
            ),
            "cost": pa.array(rows.missing(rows.money(50, 20000), 2), MONEY),
            "bmi": pa.array(rows.missing(rows.real(15, 45), 15), pa.float64()),
            "systolic_bp": pa.array(rows.missing(rows.whole(85, 200), 12), pa.int32()),
            "emergency": pa.array(rows.chance(40), pa.bool_()),
            "died": pa.array(rows.chance(3), pa.bool_()),
            "smoker": pa.array(spread(smoker, patient), pa.bool_()),
            "consent": pa.array(spread(consent, patient), pa.bool_()),
            "insurance": pa.array(spread(insurance, patient)),
        }
    )


def health_public() -> dict[str, pa.Table]:
    """Hospitals, the chapters of diagnoses, and wards."""
    return {
        "hospitals": pa.table(
            {
                "hospital_id": pa.array(HOSPITALS, pa.int32()),
                "hospital_name": ["General", "St. Anna", "Riverside", "Children's", "North", "Spa"],
                "region": ["East", "East", "West", "West", "North", "South"],
                "beds": pa.array([900, 350, 420, 180, 240, 60], pa.int32()),
                "teaching": [True, False, True, False, False, False],
            }
        ),
        "diagnoses": pa.table(
            {
                "code": list(CODES),
                "chapter": ["IX", "IX", "X", "X", "IV", "V", "XIX", "II", "XI", "XV"],
                "chronic": [False, True, False, True, True, True, False, True, False, False],
            }
        ),
        "ward_groups": pa.table(
            {
                "ward": list(WARDS),
                "ward_group": ["medical", "surgical", "medical", "medical", "mental", "medical"],
                "floor": pa.array([1, 2, 3, 1, 4, 2], pa.int32()),
            }
        ),
    }


HEALTH = Field(
    name="health",
    schema="registry",
    table="admissions",
    unit=("patient_id",),
    policy="diagnosis LIKE 'F%' OR NOT consent",
    make=admissions,
    public=health_public,
    bounds={
        "age": (0, 100),
        "los_days": (0, 30),
        "cost": (0, 20000),
        "bmi": (15, 45),
        "systolic_bp": (80, 200),
        "triageLevel": (1, 5),
    },
    domains={
        "sex": SEXES,
        "hospital_id": HOSPITALS,
        "ward": (*WARDS, "*"),
        "diagnosis": (*CODES, "*"),
        "insurance": INSURERS,
        "triageLevel": (1, 2, 3, 4, 5),
    },
    rows_a_unit=4,
)
