"""Charts; nothing else draws.

picture.py      Picture: a chart as SVG, PNG, PDF or HTML, with its words and the table behind it
style.py        colours, themes, and how texts get into a chart
answers.py      a released table: bars, lines, heat maps, small multiples
plans.py        expected errors
accounts.py     what an account has spent over time
findings.py     audits, attacks, and the make-up of samples
comparison.py   methods side by side, for the reproduction

Axes, folds and marks follow from what is handed over here: released values and public facts.
Series differ by colour, by the shape of their points and by the dashes of their lines, so that a
chart can be read in greyscale.
"""

from __future__ import annotations

from onesided.errors import InputError

try:
    import vl_convert  # noqa: F401
except ImportError:
    raise InputError("Charts need more than the core: install onesided[charts].") from None
