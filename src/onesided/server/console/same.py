"""The same question in Python, on the command line and over HTTP, to copy."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from onesided.server.served import Served

_MARKED = {
    "date": "datetime.date.fromisoformat",
    "timestamp": "datetime.datetime.fromisoformat",
    "decimal": "decimal.Decimal",
}
_COMMANDS = ("count", "sample", "sum", "mean", "quantile", "histogram", "distinct", "sql")
_PYTHON = "import onesided as osd\n\nds = osd.connect({address!r})  # your token: ONESIDED_TOKEN\n"


def origin(served: Served) -> str:
    """How the server is reached: by the first name that it is known by."""
    config = served.config
    return f"https://{config.hosts[0]}" if config.secure and config.hosts else config.address


def question_ways(served: Served, dataset: str, body: Mapping[str, Any]) -> dict[str, str]:
    """The ways to ask a question."""
    address = f"{origin(served)}/{dataset}"
    kind = body["kind"]
    fields = {name: each for name, each in body.items() if name != "kind"}
    command = {"Command line": _command(address, kind, fields)} if kind in _COMMANDS else {}
    return {
        "Python": _python(address, kind, fields),
        **command,
        "HTTP": _http(f"{origin(served)}/api/v1/datasets/{dataset}/questions", body),
    }


def reading_ways(served: Served, dataset: str, number: int) -> dict[str, str]:
    """The ways to read a release."""
    url = f"{origin(served)}/api/v1/datasets/{dataset}/releases/{number}/data"
    address = f"{origin(served)}/{dataset}"
    return {
        "Python": _PYTHON.format(address=address) + f"ds.released({number}).table",
        "HTTP": f'curl -H "Authorization: Bearer $ONESIDED_TOKEN" \\\n  -H "Accept: text/csv" \\\n'
        f"  {shlex.quote(url)}",
    }


def weighing_ways(served: Served, dataset: str, numbers: Sequence[int]) -> dict[str, str]:
    """The ways to weigh a sample by counts, all by the numbers of their releases."""
    sample, *counts = numbers
    address = f"{origin(served)}/{dataset}"
    listed = ", ".join(f"ds.released({each})" for each in counts)
    url = f"{origin(served)}/api/v1/datasets/{dataset}/weigh"
    return {
        "Python": _PYTHON.format(address=address) + f"ds.released({sample}).weighted([{listed}])",
        "HTTP": _http(url, {"sample": sample, "counts": counts}),
    }


def attack_ways(served: Served, epsilon: str) -> dict[str, str]:
    """The ways to see what an attacker learns from absence."""
    return {
        "Command line": shlex.join(["onesided", "attack", "--epsilon", epsilon]),
        "HTTP": _http(f"{origin(served)}/api/v1/attacks", {"epsilon": epsilon}),
    }


def relaxes_ways(policy: str, than: str) -> dict[str, str]:
    """The ways to compare two policies."""
    return {
        "Python": f"osd.Policy({policy!r}).relaxes(osd.Policy({than!r}))",
        "Command line": shlex.join(["onesided", "policy", "relaxes", policy, than]),
    }


def map_ways(served: Served, dataset: str) -> dict[str, str]:
    """The ways to read what a map does."""
    return {
        "Command line": shlex.join(["onesided", "map", "check", dataset]),
        "HTTP": 'curl -H "Authorization: Bearer $ONESIDED_TOKEN" \\\n  '
        f"{origin(served)}/api/v1/datasets/{dataset}/map",
    }


def _python(address: str, kind: str, fields: Mapping[str, Any]) -> str:
    given = dict(fields)
    first = [repr(given.pop("statement"))] if kind == "sql" else []
    arguments = ", ".join(
        [*first, *(f"{name}={_in_python(value)}" for name, value in given.items())]
    )
    return _PYTHON.format(address=address) + f"ds.{kind}({arguments})"


def _in_python(value: Any) -> str:
    """A value of a request as Python writes it."""
    if isinstance(value, list):
        return f"[{', '.join(map(_in_python, value))}]"
    if isinstance(value, dict) and len(value) == 1:
        ((mark, text),) = value.items()
        if mark in _MARKED:
            return f"{_MARKED[mark]}({text!r})"
    if isinstance(value, dict):
        inner = (f"{name!r}: {_in_python(each)}" for name, each in value.items())
        return f"{{{', '.join(inner)}}}"
    return repr(value)


def _command(address: str, kind: str, fields: Mapping[str, Any]) -> str:
    given = dict(fields)
    words = ["onesided", kind]
    if kind == "sql":
        words.append(given.pop("statement"))
    words.append(address)
    for name, value in given.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif isinstance(value, dict):
            words += [part for each in value.items() for part in (option, _domain(*each))]
        elif isinstance(value, list):
            words += [option, ",".join(map(str, value))]
        else:
            words += [option, str(value)]
    return " ".join(map(shlex.quote, words))


def _domain(key: str, values: list[Any]) -> str:
    plain = [next(iter(each.values())) if isinstance(each, dict) else each for each in values]
    return f"{key}={','.join(map(str, plain))}"


def _http(url: str, body: Mapping[str, Any]) -> str:
    said = shlex.quote(json.dumps(body, ensure_ascii=False))
    return (
        'curl -H "Authorization: Bearer $ONESIDED_TOKEN" \\\n'
        '  -H "Content-Type: application/json" \\\n'
        f"  -d {said} \\\n  {shlex.quote(url)}"
    )
