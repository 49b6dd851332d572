"""What a question that is done is shown as: stored releases, and the answer to a SELECT."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onesided.data.release import QueryRelease
from onesided.ledger import Charge
from onesided.ledger.desk import JobState, QuestionJob
from onesided.loss import show
from onesided.server.hosted import HostedDataset
from onesided.server.questions import Wanted
from onesided.session.frozen import FrozenDataset
from onesided.session.kernel import Answer

_DETAILS = {
    JobState.FAILED: "The question was not answered by its deadline; the charge stands, and only "
    "a steward repeats it.",
    JobState.REFUSED: "A steward refused the question; it cost nothing.",
    JobState.CANCELLED: "The question was taken back; it cost nothing.",
    JobState.EXPIRED: "No steward decided about the question in time; it cost nothing.",
}


@dataclass(frozen=True)
class StoredQuestions:
    """Questions that were answered without a job, kept by the digest of what they say.

    The answer to a SELECT is computed from its figures whenever it is read. Its address has to
    lead to the question, and a question may be longer than an address.
    """

    folder: Path

    def keep(self, said: Any) -> str:
        """The name of a question from now on."""
        text = json.dumps(said, sort_keys=True, default=str).encode()
        name = hashlib.sha256(text).hexdigest()
        path = self.folder / f"{name}.json"
        if not path.exists():
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft = path.with_suffix(f".{os.urandom(8).hex()}")
            draft.write_bytes(text)
            draft.replace(path)
        return name

    def find(self, name: str) -> Any:
        """The question of this name; None where there is none."""
        if len(name) != 64 or not set(name) <= set("0123456789abcdef"):
            return None
        path = self.folder / f"{name}.json"
        return json.loads(path.read_bytes()) if path.is_file() else None


def job_json(job: QuestionJob, dataset: str) -> dict[str, Any]:
    """What may be seen of a job now."""
    said: dict[str, Any] = {
        "id": job.id,
        "dataset": dataset,
        "kind": job.kind,
        "question": dict(job.question),
        "state": job.state.value,
        "accepted_at": _moment(job.asked),
        "deadline": None if job.deadline is None else _moment(job.deadline),
        "retry_after": job.left.total_seconds(),
        "who": job.who,
        "purpose": job.purpose,
        "cost": None if job.cost is None else show(job.cost),
        "url": f"/api/v1/jobs/{job.id}",
    }
    if job.greatest_cost is not None:
        said["greatest_cost"] = show(job.greatest_cost)
    if job.expires is not None:
        said["expires"] = _moment(job.expires)
    if job.decision is not None:
        said["decision"] = {
            "who": job.decision.who,
            "why": job.decision.why,
            "time": _moment(job.decision.time),
        }
    if job.state in _DETAILS:
        said["detail"] = _DETAILS[job.state]
    return said


def release_json(
    hosted: HostedDataset, wanted: Wanted, charges: Sequence[Charge], computed: str
) -> dict[str, Any]:
    """Where the answer of a question is read.

    - `computed`: the address of what is computed from several releases.
    """
    stored = [_stored_json(hosted, each) for each in charges]
    found: dict[str, Any] = {**stored[0], "asked_by": charges[0].who}
    if wanted.kind == "sql":
        answer = query_answer(hosted.data, wanted, charges)
        figures = dict(zip(answer.figures, stored, strict=True))
        found |= {"url": computed, "data_url": f"{computed}/data"}
        found |= {"figures": figures, "sources": dict(answer.sources)}
    return found


def query_answer(data: FrozenDataset, wanted: Wanted, charges: Sequence[Charge]) -> QueryRelease:
    """The answer to a SELECT, from the releases of its figures."""
    asked = data.asked(wanted.kind, wanted.epsilon, wanted.given, yes=True)
    answers = [Answer(each.release, True, None) for each in charges if each.release is not None]
    shown = asked.show(data.kernel(), answers)
    assert isinstance(shown, QueryRelease)
    return shown


def _stored_json(hosted: HostedDataset, charge: Charge) -> dict[str, Any]:
    url = f"/api/v1/datasets/{hosted.name}/releases/{charge.number}"
    return {"number": charge.number, "url": url, "data_url": f"{url}/data"}


def _moment(time: Any) -> str:
    return str(time.isoformat(timespec="milliseconds")).replace("+00:00", "Z")
