"""Counting units by group: one charge and one run, or a probe first and then a choice."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onesided.data import Histogram, Measurement
from onesided.data.release import ReleaseKind, payload_of, table_of
from onesided.engine.base import Coins, GroupCounts
from onesided.errors import MechanismRefused, RequestError
from onesided.ledger import Charge, StoredRelease
from onesided.loss import Loss
from onesided.mechanisms.base import AdaptiveMechanism, Kind, Mechanism, Outline
from onesided.mechanisms.hybrid import Hybrid
from onesided.mechanisms.registry import mechanism
from onesided.mechanisms.rr import RandomizedResponse, sample_measurement
from onesided.randomness import seeded
from onesided.session.answers import answer_table, error_statement
from onesided.session.by_policy import only_sensitive
from onesided.session.grouping import MOST_GROUPS, Grouping, spelled_parameters
from onesided.session.kernel import Produced
from onesided.session.receipts import COINS, Outcome
from onesided.session.requests import Request
from onesided.session.scope import AnyPolicy, Scope
from onesided.session.workbench import Workbench

FIGURE = "count"


class Missing(Enum):
    """What a question may have to say before a mechanism can answer it."""

    MAX_GROUPS = "max_groups"
    DOMAIN = "a declared domain"


def checked_mechanism(name: str, parameters: Mapping[str, Any]) -> Mechanism:
    """The mechanism of that name, refused with the reason unless a session may release it."""
    chosen = mechanism(name, **parameters)
    if isinstance(chosen, RandomizedResponse):
        # A session counts a sample that it has drawn, and scales the counts.
        return replace(chosen, scale=True)
    if chosen.kind is Kind.SOUND:
        return chosen
    raise MechanismRefused(f"{name} is not released: {chosen.refusal}")


def whole_loss(chosen: Mechanism, epsilon: Fraction, *, fixed_n: bool = False) -> Loss:
    """The pair that a whole release is priced by beforehand.

    An adaptive mechanism ends at some (s, ε − s) with s ≤ ε/2. Added to an account that stands at
    (S, T) this costs max(2S + 2s, S + T + ε) − max(2S, S + T), which is largest for s = ε/2.
    """
    if isinstance(chosen, AdaptiveMechanism):
        return Loss(epsilon / 2, epsilon / 2, fixed_n=fixed_n)
    return chosen.loss(epsilon, fixed_n=fixed_n)


@dataclass(frozen=True)
class Counting:
    """A question about counts, with the mechanism that is to answer it."""

    mechanism: Mechanism
    groups: Grouping
    parameters: Mapping[str, Any]

    @property
    def missing(self) -> Missing | None:
        """What the question does not say although this mechanism needs it."""
        if isinstance(self.mechanism, RandomizedResponse):
            return None
        if self.groups.k is None:
            return Missing.MAX_GROUPS
        return Missing.DOMAIN if self.mechanism.needs_domain and self.groups.undeclared else None

    def check(self, policy: AnyPolicy, units: int) -> None:
        """Refuse, before anything is paid, what this mechanism cannot answer."""
        if isinstance(self.mechanism, RandomizedResponse):
            return
        if self.missing is Missing.MAX_GROUPS:
            raise RequestError(
                "A unit can be in several groups here; say with max_groups how many may count."
            )
        if self.missing is Missing.DOMAIN:
            raise RequestError(
                f"{self.mechanism.name} needs the possible values of {self.groups.undeclared[0]}; "
                "declare its domain, or use a mechanism that finds them, such as one-sided."
            )
        self.mechanism.check(self.outline(policy, units))

    def request(self, scope: Scope, epsilon: Fraction) -> Request:
        """The question as it is charged and stored."""
        self.mechanism.check_rate(min(self.groups.k or 1, self.groups.bins or MOST_GROUPS), epsilon)
        details = {
            **self.groups.details,
            **scope.details(),
            "mechanism": self.mechanism.name,
            "parameters": spelled_parameters(self.parameters),
        }
        return Request(ReleaseKind.COUNT, scope.policy.id, epsilon, details)

    def release(self, bench: Workbench, epsilon: Fraction, *, fresh: bool) -> StoredRelease:
        """Charge, count, add noise and store; or what was stored for an equal request."""
        if isinstance(self.mechanism, RandomizedResponse):
            return self._from_sample(bench, epsilon)
        if isinstance(self.mechanism, AdaptiveMechanism):
            return self._adaptively(bench, self.mechanism, epsilon, fresh=fresh)
        request = self.request(bench.scope, epsilon)
        loss = self.mechanism.loss(epsilon, fixed_n=self.groups.every_unit_once)

        def produce(charge: Charge) -> Produced:
            mask = self._bins_by_policy(bench.scope.policy)
            counts, data = bench.counted(self.groups, only_sensitive=mask)
            measurement = self.mechanism.release(data, epsilon=epsilon, rng=bench.rng)
            return self._produced(bench, request, [charge], counts, data, measurement)

        return bench.kernel.paid(request, bench.scope.spending(loss), produce, fresh=fresh)

    def _from_sample(self, bench: Workbench, epsilon: Fraction) -> StoredRelease:
        """Count the sample that the coins of this snapshot draw; free where it was paid for."""
        request = self.request(bench.scope, epsilon)

        def produce(charge: Charge) -> Produced:
            coins = Coins(bench.kernel.snapshot.coin_key.reveal(), epsilon)
            counts, data = bench.counted(self.groups, coins=coins)
            measurement = sample_measurement(data, epsilon)
            return self._produced(bench, request, [charge], counts, data, measurement, COINS)

        spending = bench.scope.spending(Loss(0, epsilon), shared_coins=True)
        return bench.kernel.paid(request, spending, produce)

    def _adaptively(
        self, bench: Workbench, chosen: AdaptiveMechanism, epsilon: Fraction, *, fresh: bool
    ) -> StoredRelease:
        """The probe is charged, run and stored; then the choice that follows from it is.

        The choice sees the stored probe and public facts alone, and its simulations are seeded by
        the probe: after a crash the same probe leads to the same choice.
        """
        request = self.request(bench.scope, epsilon)
        stored = None if fresh else bench.kernel.stored(request)
        if stored is not None:
            return stored
        outline = self.outline(bench.scope.policy, bench.units)
        first = replace(request, details={**request.details, "step": "probe"})
        if fresh or not bench.kernel.charged(first):
            bench.kernel.check_affordable(bench.scope.spending(whole_loss(chosen, epsilon)))
        probe_charge = bench.kernel.charge(
            first, bench.scope.spending(chosen.probe_loss(epsilon, outline)), fresh=fresh
        )
        counts, data = bench.kernel.noting_failure(probe_charge, lambda: bench.counted(self.groups))

        def look(charge: Charge) -> Produced:
            probe = chosen.probe(data, epsilon, bench.rng)
            payload = payload_of(answer_table(counts, data, probe, FIGURE))
            outcome = self._outcome(bench, probe, epsilon, None)
            note = bench.receipt(first, outcome, [charge])
            return payload, {**note, "parts": _written(probe.parts)}

        seen = bench.kernel.completed(probe_charge, look)
        probe = _probe(seen, chosen.probe_loss(epsilon, outline), counts, data)
        rng = seeded(int.from_bytes(hashlib.sha256(seen.payload).digest()[:8], "big"))
        choice = chosen.choose(probe, outline, epsilon, rng)

        def run(charge: Charge) -> Produced:
            final = choice.measure(data, bench.rng)
            whole = replace(
                final,
                loss=probe.loss + final.loss,
                noise=f"a probe at {probe.loss}, then {choice.label}: {final.noise}",
            )
            charges = [probe_charge, charge]
            return self._produced(bench, request, charges, counts, data, whole)

        return bench.kernel.paid(request, bench.scope.spending(choice.loss), run, fresh=fresh)

    def outline(self, policy: AnyPolicy, units: int) -> Outline:
        """What is public about the histogram that this question makes."""
        groups = self.groups
        shape = None
        if groups.bins is not None:
            known = [domain for domain in groups.domains.values() if domain is not None]
            shape = tuple(len(domain.labels) for domain in known) or (1,)
        k = groups.k or 1
        return Outline(
            shape=shape,
            k=k if groups.bins is None else min(k, groups.bins),
            n=units if groups.every_unit_once else None,
            by_policy=self._bins_by_policy(policy) is not None,
        )

    def _bins_by_policy(self, policy: AnyPolicy) -> NDArray[np.bool_] | None:
        """The bins of sensitive units only, for mechanisms that make use of them."""
        if not isinstance(self.mechanism, Hybrid):
            return None
        return only_sensitive(policy, self.groups)

    def _produced(
        self,
        bench: Workbench,
        request: Request,
        charges: list[Charge],
        counts: GroupCounts,
        data: Histogram,
        measurement: Measurement,
        randomness: str | None = None,
    ) -> Produced:
        outcome = self._outcome(bench, measurement, request.epsilon, randomness)
        payload = payload_of(answer_table(counts, data, measurement, FIGURE))
        return payload, bench.receipt(request, outcome, charges)

    def _outcome(
        self, bench: Workbench, measurement: Measurement, epsilon: Fraction, randomness: str | None
    ) -> Outcome:
        expected = self.mechanism.expected_error(bench.facts(self.groups), epsilon)
        return Outcome(
            mechanism=self.mechanism.name,
            loss=measurement.loss,
            noise=measurement.noise,
            randomness=randomness or bench.rng.description,
            error=error_statement(measurement, expected, self.mechanism.assumes),
        )


def _written(parts: Mapping[str, Any]) -> dict[str, list[int]]:
    return {name: np.asarray(values).reshape(-1).tolist() for name, values in parts.items()}


def _probe(stored: StoredRelease, loss: Loss, counts: GroupCounts, data: Histogram) -> Measurement:
    """The probe as it was stored; of an open domain the listed keys are looked up again."""
    table = table_of(stored.payload)
    value = table.column(FIGURE).to_numpy()
    parts = {
        name: np.array(values, dtype=np.int64) for name, values in stored.receipt["parts"].items()
    }
    keys = None
    if data.open_domain:
        keys = _positions(table.select(counts.keys.column_names), counts.keys)
    else:
        value = value.reshape(data.shape)
    return Measurement(value, loss, str(stored.receipt["noise"]), keys=keys, parts=parts)


def _positions(listed: pa.Table, known: pa.Table) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Where each listed key stands among the known ones, which are sorted in the same way."""
    where = {row: place for place, row in enumerate(_rows(known))}
    return np.array([where[row] for row in _rows(listed)], dtype=np.int64)


def _rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))
