"""What is claimed or exported: proofs that were none, receipts, requests, names of the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any

from onesided.language import BoundKey, regions
from onesided.ledger import snapshots
from onesided.loss import Loss
from onesided.session import grouping
from onesided.session.domains import Domain
from onesided.session.questions import adaptive
from support.plants.planting import replaced

_TERMS = adaptive._Decided.terms


@contextmanager
def integers_beside_floats_have_no_regions() -> Iterator[None]:
    """Two integers that become one float were one integer to the comparison of policies."""

    def roundings(cuts: Iterable[float]) -> Iterator[Fraction]:
        return iter(())

    def integers(cuts: Sequence[Fraction], least: int, most: int) -> Iterator[int]:
        return (n for n in regions._grid(cuts) if least <= n <= most)

    with replaced(
        (regions, "_roundings", roundings),
        (regions, "_integers", integers),
        (regions, "_as_float", lambda cut: True),
    ):
        yield


@contextmanager
def n_is_read_and_not_said() -> Iterator[None]:
    """What `auto` releases claimed an ε against adding or removing units, although it read n."""

    def terms(decided: Any) -> Any:
        said = _TERMS.fget(decided)
        return replace(said, loss=Loss(said.loss.sensitive, said.loss.nonsensitive))

    with replaced((adaptive._Decided, "terms", property(terms))):
        yield


@contextmanager
def two_requests_have_one_name() -> Iterator[None]:
    """The text None and the bin of all others were spelt alike."""

    def spelled(key: BoundKey, domain: Domain) -> Any:
        return [str(label) for label in domain.labels]

    with replaced((grouping, "spelled_domain", spelled)):
        yield


@contextmanager
def an_export_confirms_guesses() -> Iterator[None]:
    """A state of the data was called by the hash of its content."""
    with replaced((snapshots, "keyed_fingerprint", lambda fingerprint, key: fingerprint)):
        yield
