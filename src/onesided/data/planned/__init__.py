"""Plans as they are shown: the same whether they were made here or came over a network.

price.py     what a question costs
option.py    one way to answer, with its expected errors
curve.py     what each bound on groups costs
plan.py      all ways to answer one question
sample.py    what to expect of a sample
least.py     the least ε for a wanted error
allocation.py  how a list of questions shares a budget
drawing.py   the chart of a plan
"""
