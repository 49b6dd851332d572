"""How far off an answer is expected to be: said before paying, and kept in the receipt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from onesided.data.expectation import STATED_GROUPS
from onesided.session.grouping import Grouping
from onesided.session.supposed import NOTHING_KNOWN, Supposed


class Expecting(Protocol):
    """A question about groups that says what to expect of its answer."""

    @property
    def groups(self) -> Grouping: ...

    @property
    def assumes(self) -> str: ...

    @property
    def expected_of(self) -> str: ...

    def expected_error(self, supposed: Supposed = NOTHING_KNOWN) -> float | None: ...


@dataclass(frozen=True)
class Expectation:
    """The expected mean error of a group.

    - `errors`: by the number of groups; under None where that is known, or plays no part.
    - `assumes`: what it takes for granted of the data.
    - `of`: whose figure the error is beside.
    """

    errors: Mapping[int | None, float]
    assumes: str
    of: str

    @classmethod
    def of_question(
        cls, question: Expecting, supposed: Supposed = NOTHING_KNOWN
    ) -> Expectation | None:
        """What to expect of the answer to `question`; None where nobody can say."""
        found = question.expected_error(supposed)
        errors: dict[int | None, float] = {} if found is None else {None: found}
        if found is None and question.groups.bins is None:
            for number in STATED_GROUPS:
                error = question.expected_error(replace(supposed, groups=number))
                errors |= {} if error is None else {number: error}
        return cls(errors, question.assumes, question.expected_of) if errors else None

    @property
    def error(self) -> float:
        """The one error, or the largest of those for the stated numbers of groups."""
        return max(self.errors.values())

    def to_json(self) -> dict[str, Any]:
        """As it stands in a receipt; numbers are texts."""
        said: dict[str, Any] = {}
        if None in self.errors:
            said["expected_absolute_error_per_group"] = f"{self.errors[None]:.4g}"
        else:
            said["expected_absolute_error_by_groups"] = {
                str(number): f"{error:.4g}" for number, error in self.errors.items()
            }
        said["expected_error_of"] = self.of
        if self.assumes:
            said["expected_error_assumes"] = self.assumes
        return said


def expected_json(question: Expecting) -> dict[str, Any]:
    """What a receipt says of the expected error of `question`."""
    found = Expectation.of_question(question)
    return {} if found is None else found.to_json()
