"""Asking a data set that is somebody else's, and tools that speak SQL.

    ds = connect("https://host/visits", token="…")
    ds.count("room", epsilon=0.5, max_groups=4)

The data stay where they are. What comes back is what a data set in this process gives: the same
releases with the same receipts, the same plans, the same errors. Nothing here knows an engine or
the kernel; the extra `client` has the library for the web.

address.py     where a data set is: https, or http on this machine alone
tokens.py      where the token is from: an argument, ONESIDED_TOKEN, or a file of one's own
wire.py        requests and answers: no redirections, time limits, safe repeats
problems.py    refusals as the errors they were there
fields.py      what is asked, as the fields of a request
answering.py   from a question to its release: send it, wait until its deadline, fetch it
dataset.py     RemoteDataset, and connect  (facts.py: what everybody may know of it)
planning.py    its plans
dialect.py     SQLAlchemy: `onesided+https://…`, and `onesided://` for a data set in the process
"""
