"""What was released: for everybody who may read the data set, from storage alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from onesided.data.release import Release
from onesided.ledger import Charge, StoredRelease
from onesided.server.fields import FLAG, WHOLE, BodyType, ListType
from onesided.server.hosted import HostedDataset
from onesided.server.jobs.answers import (
    WEIGH,
    computed_answer,
    computed_json,
)
from onesided.server.problems import Problem
from onesided.server.routing import ANALYST, STEWARD, ApiCall, ApiRoute, Reply
from onesided.server.schemas import ANYTHING, RELEASE, answer, listing
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
    """What is computed from releases of before, as Python shows it."""
    hosted = call.dataset
    kept = call.served.questions.find(call.path["question"])
    if kept is None or kept.dataset != hosted.name:
        raise Problem(404, _NOT_THERE)
    charges = [_charge(call, hosted, each) for each in kept.charges]
    return computed_answer(hosted, kept.said, charges)


def weigh(call: ApiCall) -> Reply:
    """Weights for a released sample from released counts: where they are read; nothing is paid."""
    hosted, body = call.dataset, call.body
    said = {"kind": WEIGH, "noisy": body.get("noisy", False)}
    numbers = [body["sample"], *body["counts"]]
    charges = [_charge(call, hosted, each) for each in numbers]
    computed_answer(hosted, said, charges)  # which refuses what cannot be weighed
    found = computed_json(hosted, call.served.questions, said, charges)
    return Reply({"release": found})


def show_release_data(call: ApiCall) -> Reply:
    stored, hosted = _stored(call), call.dataset
    kept = hosted.kept_sample(stored.charge)
    if kept is None:
        return data_reply(as_stored(stored, hosted.data.unit), call.accept)
    with pa.parquet.ParquetFile(kept) as file:
        batches = pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches())
        return rows_reply(batches, call.accept)


def show_known_answer(call: ApiCall) -> Reply:
    return Reply(dict(known_answer(call).receipt.content))


def show_known_answer_data(call: ApiCall) -> Reply:
    return data_reply(known_answer(call), call.accept)


def _stored(call: ApiCall) -> StoredRelease:
    """A release by the number of its charge."""
    text = call.path["number"]
    if not text.isascii() or not text.isdecimal() or len(text) > _LONGEST_NUMBER:
        raise Problem(404, _NOT_THERE)
    release = _charge(call, call.dataset, int(text)).release
    assert release is not None
    return release


def _charge(call: ApiCall, hosted: HostedDataset, number: int) -> Charge:
    """A charge whose release may be seen."""
    charge = hosted.data.kernel().account.charged(number)
    hidden = call.served.desk.hidden(hosted.account_name)
    if charge is None or charge.release is None or number in hidden:
        raise Problem(404, _NOT_THERE)
    return charge


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
        method="POST",
        path="/api/v1/datasets/{dataset}/weigh",
        handler=weigh,
        summary="Weights for a released sample from released counts; free.",
        roles=(STEWARD, ANALYST),
        body=BodyType(
            {"sample": WHOLE, "counts": ListType(WHOLE, 1, 100), "noisy": FLAG},
            ("sample", "counts"),
        ),
        answers={200: answer("release", release=ANYTHING)},
    ),
    ApiRoute(
        method="GET",
        path=_ANSWERS,
        handler=show_known_answer,
        summary="The receipt of what is computed from releases.",
        roles=(STEWARD, ANALYST),
        answers={200: ANYTHING},
    ),
    ApiRoute(
        method="GET",
        path=f"{_ANSWERS}/data",
        handler=show_known_answer_data,
        summary="What is computed from releases, in the form that Accept names.",
        roles=(STEWARD, ANALYST),
        answers={200: DATA_TYPES},
        refusals=(406,),
    ),
)
