"""The session: the trusted kernel that alone joins engine, ledger and mechanisms.

opening.py    open: source, unit, policy, budget, ledger → Dataset
dataset.py    Dataset: sample, count, …
grouping.py   a GROUP BY, checked              (with domains.py)
kernel.py     charge first, run, store, show   (with requests.py)
answers.py    measurement → released table
receipts.py   what was promised
"""

from __future__ import annotations

from onesided.session.dataset import Dataset
from onesided.session.domains import OTHER
from onesided.session.opening import open_dataset, schema_of

__all__ = ["OTHER", "Dataset", "open_dataset", "schema_of"]
