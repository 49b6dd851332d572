"""The long description of the package; all else stands in pyproject.toml.

Links in README.md are those of a folder. On a package index they must lead to the repository.
"""

import re
import tomllib
from pathlib import Path

from setuptools import setup

HOUSE = Path(__file__).parent


def absolute(text: str, repository: str) -> str:
    """The text with links and pictures that can be followed from elsewhere."""
    pictures = repository.replace("https://github.com", "https://raw.githubusercontent.com")

    def replaced(found: re.Match[str]) -> str:
        shown, target = found[1], found[2]
        if re.match(r"[a-z]+:|#", target):
            return found[0]
        place = f"{pictures}/main" if shown.startswith("!") else f"{repository}/blob/main"
        return f"{shown}({place}/{target})"

    return re.sub(r"(!?\[[^]]*\])\(([^)\s]+)\)", replaced, text)


with (HOUSE / "pyproject.toml").open("rb") as file:
    address = tomllib.load(file)["project"]["urls"]["Repository"]

setup(
    long_description=absolute((HOUSE / "README.md").read_text(encoding="utf-8"), address),
    long_description_content_type="text/markdown",
)
