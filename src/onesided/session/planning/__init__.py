"""Plans: what a question would cost and how exact it would be, before anything is paid.

Nothing but public facts, the account and what it has released go in. Neither policy nor `where` nor
`by` is evaluated on the data, so a plan costs nothing and may be shown to everybody.

planner.py   the plan of each kind of question, by the arguments of the question itself
pricing.py   what an option costs on the account as it stands
learnt.py    what was released already, and what follows from it for a question
options.py   the options of a plan
samples.py   the plan of a sample

Plans themselves, and how they show themselves, are values of `onesided.data.planned`.
"""
