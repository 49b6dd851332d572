"""What was released: for everybody who may read the data set, from storage alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from onesided.data.release import Release
from onesided.ledger import StoredRelease
from onesided.server.hosted import HostedDataset
from onesided.server.jobs.accepting import released
from onesided.server.jobs.answers import query_answer
from onesided.server.problems import Problem
from onesided.server.questions import Wanted
from onesided.server.routing import ANALYST, STEWARD, ApiCall, ApiRoute, Reply
from onesided.server.schemas import ANYTHING, RELEASE, listing
from onesided.server.tables import DATA_TYPES, data_reply, rows_reply
from onesided.session.released import as_stored, listed

_NOT_THERE = "There is no such release."
_LONGEST_NUMBER = 15


def list_releases(call: ApiCall) -> Reply:
    hosted = call.dataset
    hidden = call.served.desk.hidden(hosted.account_name)
    balance = hosted.data.kernel().account.balance()
    url = f"/api/v1/datasets/{hosted.name}/releases"
    found = [each for each in listed(balance) if each.number not in hidden]
    return Reply(
        {"releases": [{**each.to_json(), "url": f"{url}/{each.number}"} for each in found]}
    )


def show_release(call: ApiCall) -> Reply:
    return Reply(dict(_stored(call).receipt))


def stored_release(call: ApiCall) -> tuple[Release | None, Mapping[str, Any]]:
    """A release as Python shows it, and its receipt; None of a sample that is kept in a file."""
    stored, hosted = _stored(call), call.dataset
    kept = hosted.kept_sample(stored.charge)
    return None if kept is not None else as_stored(stored, hosted.data.unit), stored.receipt


def known_answer(call: ApiCall) -> Release:
    """The answer to a SELECT that was free, as Python shows it."""
    found: Release = _known(call)
    return found


def show_release_data(call: ApiCall) -> Reply:
    stored, hosted = _stored(call), call.dataset
    kept = hosted.kept_sample(stored.charge)
    if kept is None:
        return data_reply(as_stored(stored, hosted.data.unit), call.accept)
    with pa.parquet.ParquetFile(kept) as file:
        batches = pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches())
        return rows_reply(batches, call.accept)


def show_known_answer(call: ApiCall) -> Reply:
    return Reply(dict(_known(call).receipt.content))


def show_known_answer_data(call: ApiCall) -> Reply:
    return data_reply(_known(call), call.accept)


def _stored(call: ApiCall) -> StoredRelease:
    """A release by the number of its charge."""
    hosted = call.dataset
    text = call.path["number"]
    if not text.isascii() or not text.isdecimal() or len(text) > _LONGEST_NUMBER:
        raise Problem(404, _NOT_THERE)
    return _visible(call, hosted, int(text))


def _visible(call: ApiCall, hosted: HostedDataset, number: int) -> StoredRelease:
    account = hosted.data.kernel().account
    charge = account.charged(number)
    stored = None if charge is None else account.release_of(number)
    if stored is None or number in call.served.desk.hidden(hosted.account_name):
        raise Problem(404, _NOT_THERE)
    return stored


def _known(call: ApiCall) -> Any:
    """The answer to a SELECT that was computed from what had been released before."""
    hosted = call.dataset
    said = call.served.questions.find(call.path["question"])
    if said is None:
        raise Problem(404, _NOT_THERE)
    wanted = Wanted.of(said)
    data = hosted.data
    asked = data.asked(wanted.kind, wanted.epsilon, wanted.given, yes=True)
    orders = data.orders(asked, who="", purpose="", fresh=False)
    charges = released(call.served, hosted, data, orders)
    if charges is None:
        raise Problem(404, _NOT_THERE)
    return query_answer(data, wanted, charges)


_PATH = "/api/v1/datasets/{dataset}/releases"
_ANSWERS = "/api/v1/datasets/{dataset}/answers/{question}"
ROUTES = (
    ApiRoute(
        method="GET",
        path=_PATH,
        handler=list_releases,
        summary="All that was released, oldest first: who asked what, and what it cost.",
        answers={200: listing("releases", RELEASE)},
    ),
    ApiRoute(
        method="GET",
        path=f"{_PATH}/{{number}}",
        handler=show_release,
        summary="The receipt of a release.",
        answers={200: ANYTHING},
    ),
    ApiRoute(
        method="GET",
        path=f"{_PATH}/{{number}}/data",
        handler=show_release_data,
        summary="The rows of a release, in the form that Accept names.",
        roles=(STEWARD, ANALYST),
        answers={200: DATA_TYPES},
        refusals=(406,),
    ),
    ApiRoute(
        method="GET",
        path=_ANSWERS,
        handler=show_known_answer,
        summary="The receipt of the answer to a SELECT that was free.",
        roles=(STEWARD, ANALYST),
        answers={200: ANYTHING},
    ),
    ApiRoute(
        method="GET",
        path=f"{_ANSWERS}/data",
        handler=show_known_answer_data,
        summary="The answer to a SELECT that was free, in the form that Accept names.",
        roles=(STEWARD, ANALYST),
        answers={200: DATA_TYPES},
        refusals=(406,),
    ),
)
