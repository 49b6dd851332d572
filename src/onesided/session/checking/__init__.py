"""What a steward should look at before anything is published: free, and for the steward alone.

    counted    questions to the table that answer with numbers, none of which may leave
    values     literals of the policy and values of domains that occur nowhere, or are not listed
    columns    times, identifiers and what a sample would publish
    report     what was found, as a value
    check      all of it, in this order

A check looks at the table itself, so what it finds is secret. It reaches no release, no receipt and
no log; the ledger keeps that somebody looked, and at which policy, but not what was seen.
"""

from __future__ import annotations

from onesided.session.checking.check import checked
from onesided.session.checking.report import ColumnSeen, Concern, SecretUnits, SourceCheck

__all__ = ["ColumnSeen", "Concern", "SecretUnits", "SourceCheck", "checked"]
