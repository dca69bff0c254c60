"""The pictures in README, drawn from the code: `python -m tools.pictures` writes them, a test holds them true."""

from __future__ import annotations

import ast
import configparser
import re
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "fleet"
README = ROOT / "README.md"
BEGIN, END = "<!-- {}: begin -->", "<!-- {}: end -->"


def between(text: str, name: str) -> str:
    """What stands between the markers of a picture in a page."""
    begin, end = BEGIN.format(name), END.format(name)
    for marker in (begin, end):
        if marker not in text:
            raise ValueError(f"the marker {marker} is gone")
    return text.partition(begin)[2].partition(end)[0].strip("\n")


def replaced(text: str, name: str, picture: str) -> str:
    """The page with another picture between the markers."""
    begin, end = BEGIN.format(name), END.format(name)
    return f"{text.partition(begin)[0]}{begin}\n{picture}\n{end}{text.partition(end)[2]}"


def layers() -> list[str]:
    """The layers that exist, top to bottom, as the import contract holds them."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    rows = [row.strip("()") for row in contracts["importlinter:contract:layers"]["layers"].split()]
    return [row for row in rows if (PACKAGE / row).exists() or (PACKAGE / f"{row}.py").exists()]


def in_short(layer: str) -> str:
    """What the docstring of a package or module says first."""
    place = PACKAGE / layer / "__init__.py"
    text = (place if place.exists() else PACKAGE / f"{layer}.py").read_text()
    words = (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0].replace("\n", " ")
    first = re.split(r"[:;.](?: |$)", words.removeprefix(f"{layer.capitalize()}: "))[0].replace("`", "")
    return first[:1].upper() + first[1:]


def house() -> str:
    """One row per layer."""
    return "\n".join(["```text", *(f"{layer:<12} {in_short(layer)}" for layer in layers()), "```"])


def lifecycle() -> str:
    """The way of a node, by purpose."""
    from fleet.lifecycle.diagram import mermaid

    return f"```mermaid\n{mermaid()}```"


PICTURES: dict[str, Callable[[], str]] = {"house": house, "lifecycle": lifecycle}


def main() -> None:
    """Write them all."""
    text = README.read_text()
    for name, draw in PICTURES.items():
        text = replaced(text, name, draw())
    README.write_text(text)


if __name__ == "__main__":
    main()
