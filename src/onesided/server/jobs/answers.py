"""What a question that is done is shown as: stored releases, and what is computed from several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onesided.data.private import PrivateDirectory
from onesided.data.receipt import Receipt
from onesided.data.release import SAMPLE_FILE, QueryRelease, Release, SampleRelease
from onesided.data.weighing.counted import margin_name
from onesided.errors import RequestError
from onesided.ledger import Charge
from onesided.ledger.desk import JobState, QuestionJob
from onesided.loss import show
from onesided.server.hosted import HostedDataset
from onesided.server.jobs.kept import KeptQuestion, KeptQuestions
from onesided.server.questions import RUN, Wanted
from onesided.session.kernel import Answer
from onesided.session.released import as_stored
from onesided.session.several import Asked

WEIGH = "weigh"
_DETAILS = {
    JobState.FAILED: "The question was not answered by its deadline; the charge stands, and only "
    "a steward repeats it.",
    JobState.REFUSED: "A steward refused the question; it cost nothing.",
    JobState.CANCELLED: "The question was taken back; it cost nothing.",
    JobState.EXPIRED: "No steward decided about the question in time; it cost nothing.",
}


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
    hosted: HostedDataset,
    kept: KeptQuestions,
    wanted: Wanted,
    charges: Sequence[Charge],
    own_url: str | None = None,
) -> dict[str, Any]:
    """Where the answer of a question is read; of several questions each answer by its name.

    - `own_url`: where the answer is computed of a question with a job.
    """
    asked = wanted.checked(hosted.data)
    if wanted.kind != RUN:
        found = _answer_json(hosted, kept, asked.parts[0], wanted.said, charges)
        if own_url is not None and is_computed(wanted):
            found |= _computed_at(own_url)
        return found
    answers = {}
    for (part, own), said in zip(asked.divided(charges), wanted.said["questions"], strict=True):
        alone = {**said, "epsilon": part.wish["epsilon"]}
        if "part" in wanted.said:
            alone["part"] = wanted.said["part"]
        alone.pop("name", None)
        answers[part.name] = _answer_json(hosted, kept, part, alone, own)
    return {"answers": answers}


def _answer_json(
    hosted: HostedDataset, kept: KeptQuestions, part: Asked, said: Any, charges: Sequence[Charge]
) -> dict[str, Any]:
    stored = [_stored_json(hosted, each) for each in charges]
    found: dict[str, Any] = {**stored[0], "kind": part.wish["ask"], "asked_by": charges[0].who}
    if part.wish["ask"] == "sql":
        answer = _shown(hosted, part, charges)
        assert isinstance(answer, QueryRelease)
        names, found["sources"] = list(answer.figures), dict(answer.sources)
    elif "stands_for" in part.wish:
        counts = (margin_name(each.description["by"]) for each in charges[1:])
        names = ["sample", *(f"count by {each}" for each in counts)]
    else:
        return found
    return {
        **found,
        **computed_json(hosted, kept, said, charges),
        "figures": dict(zip(names, stored, strict=True)),
    }


def is_computed(wanted: Wanted) -> bool:
    """Whether there is one answer, which is computed from several releases."""
    return wanted.kind == "sql" or "stands_for" in wanted.given


def computed_json(
    hosted: HostedDataset, kept: KeptQuestions, said: Any, charges: Sequence[Charge]
) -> dict[str, Any]:
    """Where something is read that is computed from several releases whenever it is asked for."""
    numbers = tuple(each.number for each in charges)
    name = kept.keep(KeptQuestion(hosted.name, said, numbers))
    return _computed_at(f"/api/v1/datasets/{hosted.name}/answers/{name}")


def computed_answer(hosted: HostedDataset, said: Any, charges: Sequence[Charge]) -> Release:
    """What is computed from releases: the answer to a SELECT, or a sample with weights."""
    if said["kind"] == WEIGH:
        sample, *counts = (released_for(hosted, each) for each in charges)
        if not isinstance(sample, SampleRelease):
            raise RequestError(f"Release {charges[0].number} is no sample; name one.")
        return sample.weighted(counts, noisy=said.get("noisy", False))
    (part,) = Wanted.of(said).checked(hosted.data).parts
    return _shown(hosted, part, charges)


def released_for(hosted: HostedDataset, charge: Charge) -> Release:
    """What was released for a charge, as Python shows it."""
    assert charge.release is not None
    drawn = _kept_sample(hosted, charge)
    if drawn is not None:
        return SampleRelease(Receipt(charge.release.receipt), drawn, hosted.data.unit)
    return as_stored(charge.release, hosted.data.unit)


def _shown(hosted: HostedDataset, part: Asked, charges: Sequence[Charge]) -> Release:
    answers = [
        Answer(each.release, True, _kept_sample(hosted, each))
        for each in charges
        if each.release is not None
    ]
    return part.show(hosted.data.kernel(), answers)


def _kept_sample(hosted: HostedDataset, charge: Charge) -> PrivateDirectory | None:
    """A sample that is too large for the ledger, where a release looks for its rows."""
    kept = hosted.kept_sample(charge.number)
    if kept is None:
        return None
    directory = PrivateDirectory()
    (directory.path / SAMPLE_FILE).symlink_to(kept.resolve())
    return directory


def _computed_at(url: str) -> dict[str, str]:
    return {"url": url, "data_url": f"{url}/data"}


def _stored_json(hosted: HostedDataset, charge: Charge) -> dict[str, Any]:
    url = f"/api/v1/datasets/{hosted.name}/releases/{charge.number}"
    return {"number": charge.number, "url": url, "data_url": f"{url}/data"}


def _moment(time: Any) -> str:
    return str(time.isoformat(timespec="milliseconds")).replace("+00:00", "Z")
