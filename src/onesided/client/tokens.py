"""Where the token is from: an argument, the environment, or a file that nobody else can read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from onesided.errors import RequestError

VARIABLE = "ONESIDED_TOKEN"
LONGEST = 500
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def usual_file() -> Path:
    """The file that is looked for where no token is said."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(base) / "onesided" / "token"


def found_token(token: str | None = None, file: str | Path | None = None) -> str:
    """The token that is said, else that of `file`, of the environment, or of the usual file."""
    if token is not None:
        return _checked(token, "The token")
    if file is not None:
        return _read(Path(file))
    said = os.environ.get(VARIABLE)
    if said:
        return _checked(said, VARIABLE)
    usual = usual_file()
    if usual.exists():
        return _read(usual)
    raise RequestError(
        f"There is no token; say it by {VARIABLE}, by token=…, or write it into {usual} and let "
        "nobody else read that file (chmod 600)."
    )


def _read(file: Path) -> str:
    """The token in a file; refused where others may read it."""
    try:
        with file.open("rb") as content:
            mode = os.fstat(content.fileno()).st_mode
            if os.name == "posix" and mode & _OTHERS:
                raise RequestError(
                    f"Others may read {file}; take that away (chmod 600), and ask for another "
                    "token if somebody may have read it."
                )
            text = content.read(2 * LONGEST).decode("ascii")
    except (OSError, UnicodeDecodeError):
        raise RequestError(f"{file} cannot be read as the file of a token.") from None
    return _checked(text, str(file))


def _checked(text: str, where: str) -> str:
    """A token without the line's end; what is none would only be seen in a refusal."""
    token = text.strip()
    if not token or len(token) > LONGEST or not all("!" <= sign <= "~" for sign in token):
        raise RequestError(f"{where} is no token; it has letters, digits, - and _ alone.")
    return token
