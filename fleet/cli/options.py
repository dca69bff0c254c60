"""Options that commands share, and who speaks."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from fleet.errors import Misuse

Nodes = Annotated[list[str], typer.Argument(help="A node set: n[01-04], @pool:train, @rack:r1, - for input.")]
SomeNodes = Annotated[
    list[str] | None, typer.Argument(help="A node set: n[01-04], @pool:train, - for input. All where none is named.")
]
Inventory = Annotated[
    Path | None,
    typer.Option("--inventory", "-i", help="The site's directory (or FLEET_INVENTORY).", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Answer the question beforehand.")]
As = Annotated[str | None, typer.Option("--as", help="Act in this person's name.", show_default=False)]
Reason = Annotated[str, typer.Option("--reason", help="Why; it is kept in the trail.")]


def person(given: str | None) -> str:
    """Whose word this is: --as, else who called sudo, else who is logged in."""
    found = given or os.environ.get("SUDO_USER") or os.environ.get("USER") or os.environ.get("LOGNAME") or ""
    if not found:
        import getpass

        try:
            found = getpass.getuser()
        except (OSError, KeyError):
            raise Misuse("who are you?", "neither SUDO_USER nor USER is set", "say --as NAME") from None
    if any(sign in found for sign in "\n\r|[]:") or found == "fleet":
        raise Misuse(f"the name {found!r}", "it can't stand in a scheduler's reason", "say --as NAME")
    return found


def from_input(texts: list[str] | None) -> list[str]:
    """Node sets with `-` replaced by the words of standard input."""
    listed = list(texts or [])
    if "-" not in listed:
        return listed
    words = sys.stdin.read().split()
    if not words:
        raise Misuse("-", "standard input names no node", "pipe node names in, a line each")
    place = listed.index("-")
    return [*listed[:place], *words, *listed[place + 1 :]]
