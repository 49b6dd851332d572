"""The session: the trusted kernel that alone joins engine, ledger and mechanisms.

opening.py      open: source, unit, policy, budget, ledger → Dataset   (description.py: by name)
dataset.py      Dataset: sample, count, sum, mean, sql, plan, each a question  (opened.py: the rest)
asking.py       questions from what a user says, for releases and for plans
count_maker.py  the questions that count units by group, alone or one of several
several.py      several questions at once, charged all or none  (question_files.py: from a file)
questions/      a file per kind of question: terms before the data, and a run after the charge
kernel.py       terms → charge → run → store → show, the same for every question
receipts.py     what was promised: the terms that were written with the charge
planning/       what a question would cost and how exact it would be, before paying
statement.py    where an account stands, from the ledger alone

Three values go along with a question:

facts.py        DatasetFacts: what everybody may know of the data set
scope.py        Scope: the policy and the part that a request runs under
table.py        SecretTable, and Reading: what a paid question may read of it

Beside them: requests.py (fingerprints), grouping.py, domains.py, amounts.py and by_policy.py (what
a question says), answers.py (measurement → table), kept.py (samples in the ledger), public.py and
results.py (SQL). Of the data set itself: lookups.py (secret tables beside it), maps.py (public maps
that close its policy) and withheld.py (what never leaves).
"""

from __future__ import annotations

from onesided.data.planned.allocation import Wish
from onesided.data.planned.plan import Plan
from onesided.session.dataset import Dataset
from onesided.session.description import load_dataset
from onesided.session.domains import OTHER
from onesided.session.engines import schema_of
from onesided.session.lookups import LookupTable
from onesided.session.maps import Map
from onesided.session.opening import open_dataset
from onesided.session.statement import statements

__all__ = [
    "OTHER",
    "Dataset",
    "LookupTable",
    "Map",
    "Plan",
    "Wish",
    "load_dataset",
    "open_dataset",
    "schema_of",
    "statements",
]
