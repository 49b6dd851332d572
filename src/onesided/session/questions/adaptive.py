"""Counts by a mechanism that looks first: a probe is stored, and what follows from it is run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onesided.data import MeasurementTerms
from onesided.data.release import payload_of, table_of
from onesided.loss import Loss
from onesided.mechanisms.base import AdaptiveMechanism, Choice, Probe
from onesided.randomness import seeded
from onesided.session.places import places_of
from onesided.session.questions.base import ReleaseTerms, Runnable, TwoStep
from onesided.session.questions.counts import CountingQuestion
from onesided.session.table import Reading

_ANSWERS = b"answers"


@dataclass(frozen=True, kw_only=True)
class AdaptiveCounts(CountingQuestion, TwoStep):
    """How many units are in each group, by what a probe suggests.

    The choice sees the stored probe and public facts alone, and its simulations are seeded by the
    probe: after a crash the same probe leads to the same choice.
    """

    mechanism: AdaptiveMechanism

    @property
    def said(self) -> MeasurementTerms:
        """The probe's own words; how the rest is spent is said once it is chosen."""
        probe = self.mechanism.probe_terms(self.public, self.epsilon)
        noise = f"{probe.noise}; then what it suggests"
        return replace(probe, loss=self.loss, noise=noise, whole=True, covers=(), buckets=False)

    @property
    def loss(self) -> Loss:
        """What is held for all that may be chosen: a pair (s, ε − s) with s ≤ ε/2.

        Added to an account that stands at (S, T) such a pair costs max(2S + 2s, S + T + ε) −
        max(2S, S + T), which is largest for s = ε/2.
        """
        half = self.epsilon / 2
        return Loss(half, half, fixed_n=self.groups.every_unit_once)

    def look(self, reading: Reading) -> bytes:
        keys, data = reading.histogram(self.groups, only_sensitive=self.bins_by_policy)
        probe = self.mechanism.probe(data, self.epsilon, reading.rng)
        listed = [] if probe.keys is None else keys.take(pa.array(probe.keys)).columns
        return _written(listed, probe)

    def decided(self, look: bytes) -> Runnable:
        table = table_of(look)
        *listed, value = table.columns
        counts, shape = value.to_numpy(), self.public.shape
        probe = self.mechanism.stored_probe(
            json.loads(table.schema.metadata[_ANSWERS]),
            counts if shape is None else counts.reshape(shape),
            np.arange(len(counts)) if shape is None else None,
        )
        rng = seeded(int.from_bytes(hashlib.sha256(look).digest()[:8], "big"))
        choice = self.mechanism.choose(probe, self.public, self.epsilon, rng)
        return _Decided(self, pa.table(listed, names=table.column_names[:-1]), choice)


@dataclass(frozen=True)
class _Decided(Runnable):
    """The rest of a release, after its probe."""

    question: AdaptiveCounts
    listed: pa.Table
    choice: Choice

    @property
    def terms(self) -> ReleaseTerms:
        return self.question.terms_of(self._said)

    @property
    def _said(self) -> MeasurementTerms:
        probe = self.question.mechanism.probe_terms(self.question.public, self.question.epsilon)
        then = self.choice.terms
        noise = f"a probe at {probe.loss}, then {self.choice.label}: {then.noise}"
        return replace(then, loss=probe.loss + then.loss, noise=noise)

    def run(self, reading: Reading) -> bytes:
        question = self.question
        keys, data = reading.histogram(question.groups, only_sensitive=question.bins_by_policy)
        listed = positions(self.listed, keys) if data.open_domain else None
        measurement = self.choice.measure(data, reading.rng, listed)
        return payload_of(question.layout(self._said).table(keys, data, measurement))


def positions(listed: pa.Table, known: pa.Table) -> NDArray[np.int64]:
    """Where each of the `listed` keys stands among the `known` ones, of which it is one."""
    return places_of(listed, known)


def _written(listed: Sequence[pa.ChunkedArray], probe: Probe) -> bytes:
    """A probe as it is stored: the columns of the keys it lists, the values, and its answers."""
    columns = [*listed, pa.array(np.asarray(probe.value).reshape(-1))]
    names = [str(place) for place in range(len(columns))]
    answers = json.dumps(probe.to_json(), sort_keys=True).encode()
    table = pa.table(columns, names=names)
    return payload_of(table.replace_schema_metadata({_ANSWERS: answers}))
