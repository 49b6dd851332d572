"""From a question to its release: send it, wait until its deadline, and fetch what was released.

An answer is handed over at its deadline and not before, so there is nothing to see on the way: the
client waits that long and asks once.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import pyarrow as pa

from onesided.client.address import API
from onesided.client.jobs import SentJob, understood
from onesided.client.problems import AnswerLost, ReplyLost, ServerUnreachable
from onesided.client.wire import Wire
from onesided.data.cells import HistogramRelease, QuantileRelease
from onesided.data.described import DescriptionRelease
from onesided.data.private import PrivateDirectory
from onesided.data.release import (
    SAMPLE_FILE,
    QueryRelease,
    Receipt,
    Release,
    ReleaseKind,
    SampleRelease,
    TableRelease,
    payload_of,
)
from onesided.data.units import Unit
from onesided.data.weighing.weighted import weighted
from onesided.errors import Interrupted
from onesided.notebook import going_on

ARROW, PARQUET = "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"
LEAST_PAUSE, MOST_PAUSE, TRIES = 0.05, 1.0, 30
"""An answer that is not there at its deadline is asked for again, after so many seconds each time,
before it is taken for lost. One without a deadline is asked for until it is there."""
_LOST = (
    "The connection was lost after the question was sent, which may be charged; asking it again is "
    "free."
)
_LOST_ANEW = (
    "The connection was lost after the question was sent, which may be charged; see the budget "
    "before you ask anew."
)
_KEY_BYTES = 16
Shown = TypeVar("Shown")
Json = Mapping[str, Any]


class Answering:
    """Asks questions about one data set."""

    def __init__(self, wire: Wire, api: str, base_path: str, unit: Unit) -> None:
        """`base_path`: the path below which the server is."""
        self._wire = wire
        self._api = api
        self._base_path = base_path
        self._unit = unit

    def ask(self, kind: str, question: Json, shown: Callable[[Json], Shown]) -> Shown:
        """What is `shown` of the release of a question."""
        body = {"kind": kind, **question}
        try:
            with going_on("onesided waits for the answer"):
                # What is sent again under the same key is paid once, even where it is to be fresh.
                key = secrets.token_urlsafe(_KEY_BYTES)
                reply = self._wire.post(f"{self._api}/questions", body, key=key)
                return self._arrived(reply.content, shown)
        except ReplyLost:
            raise AnswerLost(_LOST_ANEW if question.get("fresh", False) else _LOST) from None
        except KeyboardInterrupt:
            raise Interrupted(
                "Interrupted; a question that was sent stays asked and charged, and asking it "
                "again is free."
            ) from None

    def table(self, described: Json) -> TableRelease:
        """Figures by group."""
        return TableRelease(*self._stored(described))

    def quantiles(self, described: Json, at: tuple[float, ...]) -> QuantileRelease:
        """Quantiles that are read here from the released counts of cells."""
        return QuantileRelease(*self._stored(described), at)

    def histogram(self, described: Json) -> HistogramRelease:
        """Released counts of cells."""
        return HistogramRelease(*self._stored(described))

    def description(self, described: Json) -> DescriptionRelease:
        """What columns hold."""
        return DescriptionRelease(*self._stored(described))

    def sample(self, described: Json) -> SampleRelease:
        """True rows, which stay on disk."""
        if "figures" in described:
            return self._weighted(described)
        receipt = self._receipt(described)
        directory = PrivateDirectory()
        self._wire.save(self._path(described, "data_url"), PARQUET, directory.path / SAMPLE_FILE)
        return SampleRelease(receipt, directory, self._unit)

    def _weighted(self, described: Json) -> SampleRelease:
        """A sample with its weights, which follow from the sample and the counts beside it."""
        sample, *counts = described["figures"].values()
        drawn = self.sample(sample)
        return weighted(
            drawn, [self.table(each) for each in counts], noisy=True, checked=True
        ).under(self._receipt(described))

    def select(self, described: Json) -> QueryRelease:
        """The answer to a SELECT with the releases that it was computed from."""
        receipt, payload = self._stored(described)
        receipts = receipt["figures"]
        figures = {
            name: TableRelease(Receipt(receipts[name]), self._payload(each))
            for name, each in described["figures"].items()
        }
        return QueryRelease(receipt, payload, figures, dict(described["sources"]))

    def stored(self, described: Json, at: tuple[float, ...]) -> Release:
        """Any stored release, by the kind that its receipt says."""
        kind = ReleaseKind(self._receipt(described)["kind"])
        if kind is ReleaseKind.SAMPLE:
            return self.sample(described)
        if kind is ReleaseKind.QUANTILE:
            return self.quantiles(described, at)
        if kind is ReleaseKind.HISTOGRAM:
            return self.histogram(described)
        if kind is ReleaseKind.DESCRIBE:
            return self.description(described)
        return self.table(described)

    def _arrived(self, content: Any, shown: Callable[[Json], Shown]) -> Shown:
        """What is lost from here on is paid for."""
        try:
            return shown(self._release_of(content))
        except ServerUnreachable as error:
            raise AnswerLost(f"{error} The charge stands; asking again is free.") from None

    def _release_of(self, content: Any) -> Json:
        """What was released by a job, once it is over."""
        job = SentJob.of(content)
        pauses = _pauses()
        while job.release is None:
            job.check()
            pause = next(pauses, None)
            if pause is None and job.has_deadline:
                raise ServerUnreachable("The answer is late, although its deadline is over.")
            time.sleep(max(job.seconds, pause or MOST_PAUSE))
            job = SentJob.of(self._wire.get(f"{API}/jobs/{job.name}"))
        return job.release

    def _stored(self, described: Json) -> tuple[Receipt, bytes]:
        return self._receipt(described), self._payload(described)

    def _receipt(self, described: Json) -> Receipt:
        content = self._wire.get(self._path(described, "url"))
        with understood():
            return Receipt(dict(content))

    def _payload(self, described: Json) -> bytes:
        """The released table, as a release holds it."""
        content = self._wire.bytes_of(self._path(described, "data_url"), ARROW)
        try:
            return payload_of(pa.ipc.open_stream(content).read_all())
        except pa.ArrowException:
            raise ServerUnreachable("The released rows cannot be read.") from None

    def _path(self, described: Json, name: str) -> str:
        """Where something is on this server; nothing else is ever fetched."""
        with understood():
            path = str(described[name])
        own = f"{self._base_path}{API}/"
        if self._base_path and path.startswith(own):
            path = path.removeprefix(self._base_path)
        if not path.startswith(f"{API}/") or ".." in path or not path.isprintable():
            raise ServerUnreachable("The server names an address that is not its own.")
        return path


def _pauses() -> Iterator[float]:
    """Pauses for answers that are late, or have no deadline: longer ones, and so many."""
    pause = LEAST_PAUSE
    for _ in range(TRIES):
        yield pause
        pause = min(2 * pause, MOST_PAUSE)
