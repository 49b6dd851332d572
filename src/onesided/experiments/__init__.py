"""The paper's evaluation, measured again, and what this package adds beside it.

reproduce.py    the whole way: prepare data, measure, judge, write the report
figures/        a file per figure: its grid of trials, its chart, its claims
measures/       what a trial does, a file per kind of measurement
runner.py       two processes, resumable; store.py keeps results by their parameters
trial.py        a measurement named by its parameters, and its results
"""
