"""Questions in a file, `questions.toml`: what to ask of which data set, and at what price."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onesided.errors import RequestError
from onesided.session.domains import read_domain
from onesided.spelling import meant

_KEYS = ("dataset", "epsilon", "purpose", "questions")


@dataclass(frozen=True)
class QuestionFile:
    """What a file of questions says.

    - `dataset`: its name in onesided.toml, or its path; None where the file leaves it open.
    - `epsilon`: shared evenly by the questions that say none.
    - `questions`: what `Dataset.run` takes.
    """

    questions: tuple[Mapping[str, Any], ...]
    dataset: str | None = None
    epsilon: Any = None
    purpose: str = ""


def read_questions(file: str | Path) -> QuestionFile:
    """Read a file of questions; a text in place of a list of values is the name of a file."""
    path = Path(file)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise RequestError(f"{path} cannot be read as a text; name a file of questions.") from None
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{path} is not TOML: {error}.") from None
    for key in content:
        if key not in _KEYS:
            raise RequestError(f"{path} has an unknown key {key!r}{meant(key, _KEYS)}.")
    listed = content.get("questions")
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise RequestError(f"{path} needs questions, each below a line [[questions]].")
    for key in ("dataset", "purpose"):
        if not isinstance(content.get(key, ""), str):
            raise RequestError(f"{path}: {key} must be a text.")
    return QuestionFile(
        questions=tuple(_with_domains(each, path.parent) for each in listed),
        dataset=content.get("dataset"),
        epsilon=content.get("epsilon"),
        purpose=content.get("purpose", ""),
    )


def _with_domains(question: dict[str, Any], folder: Path) -> dict[str, Any]:
    domain = question.get("domain")
    if not isinstance(domain, dict):
        return question
    read = {
        key: read_domain(str(folder / values)) if isinstance(values, str) else values
        for key, values in domain.items()
    }
    return {**question, "domain": read}
