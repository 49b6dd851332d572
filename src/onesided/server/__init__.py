"""A server for data sets: many ask, one account, and nobody sees the data.

config.py       the table [server] of onesided.toml
app.py          the application: what holds for every request and every answer
routing.py      a route: who may come, what they may say, what they are told
api/            the routes, a file for each group of them
describe.py     the same routes as OpenAPI, and page.py as a page
fields.py       the types of what a request says; questions.py: the fields of each kind of question
people.py       who asks: tokens and browsers' sessions
problems.py     refusals: the sentences of the command as application/problem+json
hosted.py       one frozen state of a data set
jobs/           accepting questions, running them within their slots, showing their answers
operate/        logs and metrics
serving.py      the sockets, and the end
served.py       everything that a server holds while it runs

The session does what is asked; the server adds who may ask, and when an answer is handed over.
"""

from __future__ import annotations
