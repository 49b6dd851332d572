"""Questions as values: what is asked, what may be said beforehand, and how it is answered.

base.py      Question: missing, check, terms (public, before the data), run (after the charge)
counts.py    counts of units by one mechanism          (choosing.py: which question a name means)
sampled.py   counts of the sample that the coins draw
adaptive.py  a probe first, then what follows from it
sums.py      sums, numbers of rows, and means
samples.py   true rows
figures.py   the figures of a SELECT, each a question  (select.py: the rest of the statement)
"""
