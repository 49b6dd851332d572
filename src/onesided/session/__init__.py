"""The session: the trusted kernel that alone joins engine, ledger and mechanisms.

opening.py      open: source, unit, policy, budget, ledger → Dataset
description.py  the same by name, from a file
dataset.py      Dataset: sample, count, plan     (with figures.py: sum, mean, sql, cursor)
grouping.py     a GROUP BY, checked              (with domains.py)
kernel.py       charge first, run, store, show   (with requests.py)
answers.py      measurement → released table
receipts.py     what was promised
summing.py      sums and means                   (with amounts.py)
sql.py          a SELECT, figure by figure       (with public.py, results.py)
plan.py         what a count would cost and how exact it would be, before paying
statement.py    where an account stands, from the ledger alone
"""

from __future__ import annotations

from onesided.session.dataset import Dataset
from onesided.session.description import load_dataset
from onesided.session.domains import OTHER
from onesided.session.opening import open_dataset, schema_of
from onesided.session.plan import Plan
from onesided.session.statement import statements

__all__ = [
    "OTHER",
    "Dataset",
    "Plan",
    "load_dataset",
    "open_dataset",
    "schema_of",
    "statements",
]
