"""The plans of questions about a data set, in this process or at somebody else's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from onesided.data.planned.allocation import Allocation, Wish
from onesided.data.planned.plan import Plan
from onesided.data.planned.sample import SamplePlan
from onesided.language.tree import Value
from onesided.loss import Number
from onesided.policy import Policy

Domain: TypeAlias = Mapping[str, Sequence[Any]] | None
Part: TypeAlias = Mapping[str, Any] | None
OtherPolicy: TypeAlias = str | Policy | None


class Plans(Protocol):
    """The plans of questions; calling it plans a count."""

    def __call__(
        self,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number | None = None,
        error: Number | None = None,
        max_groups: int | str | None = None,
        domain: Domain = None,
        policy: OtherPolicy = None,
        part: Part = None,
        nonsensitive_share: float | None = None,
        groups: int | None = None,
    ) -> Plan: ...

    def count(
        self,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number | None = None,
        error: Number | None = None,
        max_groups: int | str | None = None,
        domain: Domain = None,
        policy: OtherPolicy = None,
        part: Part = None,
        nonsensitive_share: float | None = None,
        groups: int | None = None,
    ) -> Plan: ...

    def ngrams(
        self,
        n: int,
        *,
        by: str,
        order: str,
        epsilon: Number | None = None,
        error: Number | None = None,
        max_groups: int | str | None = None,
        domain: Sequence[Any] | None = None,
        policy: OtherPolicy = None,
        part: Part = None,
        nonsensitive_share: float | None = None,
        groups: int | None = None,
    ) -> Plan: ...

    def sum(
        self,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number | None = None,
        error: Number | None = None,
        nonsensitive_share: float | None = None,
        groups: int | None = None,
        **asked: Any,
    ) -> Plan: ...

    def mean(
        self,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number | None = None,
        error: Number | None = None,
        nonsensitive_share: float | None = None,
        groups: int | None = None,
        **asked: Any,
    ) -> Plan: ...

    def quantile(
        self,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number | None = None,
        error: Number | None = None,
        nonsensitive_share: float | None = None,
        groups: int | None = None,
        **asked: Any,
    ) -> Plan: ...

    def distinct(
        self,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number | None = None,
        error: Number | None = None,
        nonsensitive_share: float | None = None,
        groups: int | None = None,
        **asked: Any,
    ) -> Plan: ...

    def sql(
        self,
        query: str,
        parameters: Sequence[Value] = (),
        *,
        epsilon: Number | None = None,
        error: Number | None = None,
        nonsensitive_share: float | None = None,
        groups: int | None = None,
        **asked: Any,
    ) -> Plan: ...

    def questions(
        self,
        questions: str | Sequence[Wish],
        *,
        budget: Number | None = None,
        error: Number | None = None,
        nonsensitive_share: float | None = None,
        groups: int | None = None,
        **asked: Any,
    ) -> Allocation: ...

    def sample(
        self,
        epsilon: Number,
        where: str | None = None,
        columns: Sequence[str] | None = None,
        *,
        nonsensitive_share: float | None = None,
        **asked: Any,
    ) -> SamplePlan: ...
