"""Results on disk, one small file a trial, so that an interrupted run goes on where it stopped."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from onesided.experiments.trial import Row, Trial


@dataclass(frozen=True)
class ResultStore:
    """A folder of results. A file appears whole or not at all, by renaming."""

    folder: Path

    def get(self, trial: Trial) -> list[Row] | None:
        """The rows of a finished trial, or None; a file that cannot be read counts as missing."""
        try:
            stored = json.loads(self._path(trial).read_text(encoding="utf-8"))
            return [Row(labels=row["labels"], values=row["values"]) for row in stored["rows"]]
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def put(self, trial: Trial, rows: list[Row]) -> None:
        path = self._path(trial)
        path.parent.mkdir(parents=True, exist_ok=True)
        content = {
            "measure": trial.measure.name,
            "parameters": dict(trial.parameters),
            "rows": [{"labels": row.labels, "values": row.values} for row in rows],
        }
        draft = path.with_suffix(f".{os.getpid()}.draft")
        draft.write_text(json.dumps(content), encoding="utf-8")
        os.replace(draft, path)

    def _path(self, trial: Trial) -> Path:
        return self.folder / trial.measure.name / f"{trial.key}.json"
