"""What is asked, as the fields of a request; exact numbers are texts, and dates are marked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

from onesided.errors import RequestError
from onesided.loss import Number, show
from onesided.policy import Policy


def fields(**asked: Any) -> dict[str, Any]:
    """What was said; None and false are the defaults of the server as well."""
    return {
        name: value for name, value in asked.items() if value is not None and value is not False
    }


def number(value: Number | None) -> str | int | None:
    """An exact number; a float means the decimal that it prints. The server checks it."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        raise RequestError("A number is wanted, and not true or false.")
    if isinstance(value, Fraction):
        return show(value)
    return str(value)


def cell(value: Any) -> Any:
    """A value as a column may hold it."""
    if isinstance(value, datetime):
        return {"timestamp": value.isoformat()}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    item = getattr(value, "item", None)  # a scalar of NumPy, such as its booleans
    if callable(item):
        return cell(item())
    raise RequestError(f"A value of the type {type(value).__name__} cannot be asked about.")


def cells(values: Sequence[Any]) -> list[Any]:
    """Several values, in their order."""
    if isinstance(values, str):
        raise RequestError("Values are a list, such as ['a', 'b'].")
    return [cell(each) for each in values]


def domains(domain: Mapping[str, Sequence[Any]] | None) -> dict[str, list[Any]] | None:
    """The possible values of keys."""
    if domain is None:
        return None
    return {key: cells(values) for key, values in domain.items()}


def listed(names: Sequence[str] | str | None) -> list[str] | str | None:
    """One name, or a list of them; None where there is none."""
    if names is None or isinstance(names, str):
        return names
    return list(names) or None


def scope(policy: str | Policy | None, part: Mapping[str, Any] | None) -> dict[str, Any]:
    """A stricter policy, and the part that a question is about."""
    if policy is not None and not isinstance(policy, str | Policy):
        raise RequestError("A policy is asked for by its text; a function stays where it is.")
    text = policy.sql if isinstance(policy, Policy) else policy
    about = None if part is None else {name: cell(value) for name, value in part.items()}
    return fields(policy=text, part=about)


def groups(
    by: Sequence[str] | str,
    where: str | None,
    max_groups: int | str | None,
    domain: Mapping[str, Sequence[Any]] | None,
    policy: str | Policy | None,
    part: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """What questions about groups have in common."""
    return {
        **fields(by=listed(by), where=where, max_groups=max_groups, domain=domains(domain)),
        **scope(policy, part),
    }


def sample_fields(
    where: str | None,
    columns: Sequence[str] | None,
    *,
    policy: str | Policy | None = None,
    part: Mapping[str, Any] | None = None,
    stands_for: Sequence[str | Sequence[str]] | None = None,
    domain: Mapping[str, Sequence[Any]] | None = None,
    noisy: bool = False,
) -> dict[str, Any]:
    """A sample, and the counts that it is weighted by."""
    margins = [stands_for] if isinstance(stands_for, str) else stands_for
    if margins is not None:
        margins = [each if isinstance(each, str) else list(each) for each in margins]
    return {
        **fields(where=where, columns=listed(columns), stands_for=margins, noisy=noisy),
        **fields(domain=domains(domain)),
        **scope(policy, part),
    }


def mechanism_fields(mechanism: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A mechanism and its parameters, where they are not the usual ones."""
    plain = {
        name: value if isinstance(value, bool | int | str) else number(value)
        for name, value in parameters.items()
    }
    return fields(mechanism=None if mechanism == "auto" else mechanism, parameters=plain or None)


def select_fields(
    query: str,
    parameters: Sequence[Any],
    *,
    mechanism: str = "auto",
    max_groups: int | None = None,
    max_rows: int | None = None,
    max_values: int | None = None,
    bounds: Mapping[str, Any] | None = None,
    grid: Mapping[str, Number] | None = None,
    nonnegative: Collection[str] = (),
    domain: Mapping[str, Sequence[Any]] | None = None,
    policy: str | Policy | None = None,
    part: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A SELECT and the limits that it does not say itself."""
    above = [nonnegative] if isinstance(nonnegative, str) else list(nonnegative)
    limits = None if bounds is None else {name: _bound(each) for name, each in bounds.items()}
    steps = None if grid is None else {name: number(each) for name, each in grid.items()}
    return {
        **mechanism_fields(mechanism, {}),
        **fields(
            statement=query,
            parameters=cells(parameters) or None,
            max_groups=max_groups,
            max_rows=max_rows,
            max_values=max_values,
            bounds=limits or None,
            grid=steps or None,
            nonnegative=above or None,
            domain=domains(domain),
        ),
        **scope(policy, part),
    }


def _bound(bound: Any) -> Any:
    """One number, or the two between which a value lies."""
    return list(map(number, bound)) if isinstance(bound, tuple | list) else number(bound)
