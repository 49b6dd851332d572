"""How a list of questions shares a budget: each at the least ε that gives it its error."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from onesided.data.planned.least import Aim
from onesided.data.planned.plan import Plan
from onesided.errors import RequestError
from onesided.loss import Number, positive, show

_COMMENT = re.compile(r"--\s*error\s*:\s*(\S+)\s*$", re.IGNORECASE | re.MULTILINE)
_PIECES = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|;|[^;'\"-]+|-|'|\"")


@dataclass(frozen=True)
class Wish:
    """One SELECT, and the mean expected error of a group that is wanted; None for what is left."""

    sql: str
    error: float | None = None

    @classmethod
    def of(cls, sql: str, error: Number | None = None) -> Wish:
        """Checked."""
        return cls(sql.strip(), None if error is None else float(positive(error, "error")))


@dataclass(frozen=True)
class Allotted:
    """What a wish gets.

    - `epsilon`: None where its error cannot be had.
    - `plan`: of the wish at that ε, or at the least that would do.
    - `reason`: why it cannot be had, where it cannot.
    """

    wish: Wish
    epsilon: Fraction | None
    plan: Plan | None
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; exact numbers are texts."""
        return {
            "sql": self.wish.sql,
            "error": self.wish.error,
            "epsilon": None if self.epsilon is None else show(self.epsilon),
            "plan": None if self.plan is None else self.plan.to_json(),
            "reason": self.reason,
        }

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """The wish, its error, its ε and the expected errors of its figures, in words."""
        wanted = "" if self.wish.error is None else f"±{self.wish.error:g}"
        question = " ".join(self.wish.sql.split())
        if self.plan is None or self.epsilon is None:
            return question, wanted, "", f"cannot be had: {self.reason}"
        errors = "; ".join(f"{row.figure} {row.said}" for row in self.plan.rows)
        return question, wanted, show(self.epsilon), errors


@dataclass(frozen=True)
class Allocation:
    """The questions in their order, and what is left of the budget.

    Costs are plain sums of ε, which is never less than what the account charges.
    """

    budget: Fraction
    allotted: tuple[Allotted, ...]

    @property
    def ok(self) -> bool:
        """Whether every question gets what it wants."""
        return all(each.epsilon is not None for each in self.allotted)

    @property
    def cost(self) -> Fraction:
        """What all that can be had cost together."""
        return sum((_plain(each) for each in self.allotted), start=Fraction(0))

    @property
    def left(self) -> Fraction:
        """What is left of the budget."""
        return self.budget - self.cost

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; exact numbers are texts."""
        return {
            "budget": show(self.budget),
            "cost": show(self.cost),
            "left": show(self.left),
            "questions": [each.to_json() for each in self.allotted],
        }

    def cells(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The headings, and a row for each question."""
        headings = ("question", "wanted", "ε", "expected error")
        return headings, [each.cells for each in self.allotted]

    def __repr__(self) -> str:
        able = sum(each.epsilon is not None for each in self.allotted)
        return (
            f"<Plan of {len(self.allotted)} questions: {able} can be had, for "
            f"ε = {show(self.cost)} of {show(self.budget)}>"
        )

    def _repr_html_(self) -> str:
        from onesided import html

        headings, rows = self.cells()
        return html.card(
            "Plan",
            html.table(headings, [[html.Cell(cell) for cell in row] for row in rows]),
            html.facts({"cost": f"ε = {show(self.cost)} of {show(self.budget)}"}),
        )

    def __str__(self) -> str:
        lines = [" | ".join(cells) for cells in self.cells()[1]]
        return "\n".join([*lines, f"ε = {show(self.cost)} of {show(self.budget)}"])


def _plain(allotted: Allotted) -> Fraction:
    if allotted.epsilon is None or allotted.plan is None or allotted.plan.together is None:
        return Fraction(0)
    return allotted.plan.together.plain


def wishes(text: str, usual: Number | None = None) -> tuple[Wish, ...]:
    """The SELECTs of a file, with semicolons between them.

    A comment such as `-- error: 20` within a statement, or above it, says its error; `usual` is
    that of the others.
    """
    found, piece = [], []
    for match in _PIECES.findall(f"{text};"):
        if match != ";":
            piece.append(match)
            continue
        statement, piece = piece, []
        sql = "".join(each for each in statement if not each.startswith("--")).strip()
        if sql:
            said = [_COMMENT.match(each) for each in statement if each.startswith("--")]
            errors = [each.group(1) for each in said if each is not None]
            found.append(Wish.of(sql, errors[-1] if errors else usual))
    if not found:
        raise RequestError("There is no question here; write SELECTs with semicolons between them.")
    return tuple(found)


def even_share(left: Fraction, number: int) -> Fraction | None:
    """An equal share of what is left, rounded down to three digits; None where nothing is."""
    share = left / number
    if share <= 0:
        return None
    step = Fraction(1)
    while share < 100 * step:
        step /= 10
    return share // step * step


def allocated(
    asked: Sequence[Wish], budget: Fraction, planned: Callable[[str, Aim], Plan]
) -> Allocation:
    """An ε for each wish in turn, as long as the budget lasts; then shares for those without one.

    - `planned`: the plan of a SELECT for an aim.
    """
    found: dict[int, Allotted] = {}
    left = budget
    for place, wish in enumerate(asked):
        if wish.error is None:
            continue
        found[place] = _had(wish, planned(wish.sql, Aim(None, wish.error)), left)
        left -= _plain(found[place])
    others = [place for place in range(len(asked)) if place not in found]
    share = even_share(left, len(others)) if others else None
    for place in others:
        wish = asked[place]
        if share is None:
            found[place] = Allotted(wish, None, None, "nothing of the budget is left")
        else:
            found[place] = Allotted(wish, share, planned(wish.sql, Aim(share, None)))
    return Allocation(budget, tuple(found[place] for place in range(len(asked))))


def _had(wish: Wish, plan: Plan, left: Fraction) -> Allotted:
    """What a wish for an error gets of what is left."""
    refusal = next((row.refusal for row in plan.rows if row.refusal), "")
    if refusal:
        return Allotted(wish, None, plan, refusal)
    epsilon = sum((row.epsilon for row in plan.rows), start=Fraction(0))
    paid = Allotted(wish, epsilon, plan)
    if _plain(paid) > left:
        reason = f"it needs ε = {show(epsilon)}, and {show(left)} is left"
        return Allotted(wish, None, plan, reason)
    return paid
