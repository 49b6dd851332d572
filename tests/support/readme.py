"""Run the README as it is printed, in an empty folder, with whatever `onesided` is installed.

It needs Python and the package alone, so that the core can be tried in an environment of its own:
`python tests/support/readme.py`.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def printed() -> tuple[list[str], str]:
    """The commands and the program."""
    text = README.read_text(encoding="utf-8")
    commands = [
        line.removeprefix("$ onesided ")
        for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL)
        for line in block.splitlines()
    ]
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return commands, program


def main() -> None:
    commands, program = printed()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for command in commands:
            print("$ onesided", command, flush=True)
            subprocess.run([sys.executable, "-m", "onesided", *shlex.split(command)], check=True)
        subprocess.run([sys.executable, "-c", program], check=True)
        os.chdir(Path(folder).parent)


if __name__ == "__main__":
    main()
