"""Commands as processes of their own, without loading everything for each of them.

This file runs as a program. It loads the installed command once, and forks for each line that it
is sent: the child has its own streams and arguments, and ends as the command does.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

COMMAND = "onesided"
_LOADED_ONCE = (
    *("onesided.session", "onesided.language.parser", "onesided.language.statement"),
    *("onesided.engine.duckdb.engine", "sqlglot.dialects.duckdb", "sqlglot.generators.duckdb"),
    *("click", "pyarrow.csv", "rich.console", "rich.table"),
)


def serve() -> None:
    """One JSON object a line in, one exit code a line out."""
    (command,) = entry_points(group="console_scripts", name=COMMAND)
    main = command.load()
    for name in _LOADED_ONCE:
        import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _become(json.loads(line))
            main()
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _become(job: dict[str, Any]) -> None:
    """The process that a shell would have started."""
    os.chdir(job["folder"])
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(job[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    sys.argv = [COMMAND, *job["arguments"]]


if __name__ == "__main__":
    serve()
