"""Transcripts in pages: commands after `$ `, and what they print; `...` stands for anything, alone for any lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Exchange:
    """A command, and the lines that a page shows as its answer."""

    command: str
    shown: tuple[str, ...]


def exchanges(text: str) -> tuple[Exchange, ...]:
    """The exchanges of a fenced transcript."""
    found: list[Exchange] = []
    for line in text.splitlines():
        if line.startswith("```"):
            continue
        if line.startswith("$ "):
            found.append(Exchange(line[2:], ()))
        elif found:
            found[-1] = Exchange(found[-1].command, (*found[-1].shown, line))
    return tuple(found)


def differs(shown: Sequence[str], said: str) -> str:
    """Empty where the output is as shown; else the first line that is missing."""
    lines = [line.rstrip() for line in said.splitlines()]
    place, anywhere = 0, False
    for wanted in shown:
        if wanted.strip() == "...":
            anywhere = True
            continue
        pattern = re.compile(".*".join(re.escape(part) for part in re.split(r" ?\.\.\. ?", wanted.rstrip())))
        while anywhere and place < len(lines) and not pattern.fullmatch(lines[place]):
            place += 1
        if place >= len(lines) or not pattern.fullmatch(lines[place]):
            return f"{wanted!r} is not said (at {lines[place]!r})" if place < len(lines) else f"{wanted!r} is not said"
        place, anywhere = place + 1, False
    if not anywhere and place < len(lines) and any(lines[place:]):
        return f"{lines[place]!r} is said, and not shown"
    return ""
