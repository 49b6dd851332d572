"""`auto`, in the order in which things happen.

probe.py        what is asked, and what was answered
look.py         what that says about numbers of units
scenarios.py    made-up data that agree with it
candidates.py   what the rest may be spent on (guarded.py: buckets that are not taken at their word)
choice.py       the candidate that errs least on the scenarios
auto.py         the mechanism; its proof is in auto.md
denoising/      estimating counts from released numbers
"""

from __future__ import annotations

from onesided.mechanisms.auto.auto import Auto

__all__ = ["Auto"]
