"""How commands speak: results on stdout, progress on stderr, colours only on a terminal, `--json` as one document."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from shutil import get_terminal_size
from typing import TextIO

from fleet.errors import Misuse
from fleet.render.text import Line, plain

_COLOURS = {"bold": "1", "dim": "2", "good": "32", "warn": "33", "bad": "31"}


def coloured(stream: TextIO) -> bool:
    """Whether a stream is a terminal that wants colour."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width(stream: TextIO | None = None) -> int:
    """Columns of the terminal; COLUMNS where it is set, 100 where there is no terminal."""
    if os.environ.get("COLUMNS", "").isdigit():
        return max(int(os.environ["COLUMNS"]), 40)
    return max(get_terminal_size((100, 24)).columns, 40) if (stream or sys.stdout).isatty() else 100


def out(lines: Iterable[Line]) -> None:
    """Lines of a result."""
    _print(lines, sys.stdout)


def progress(lines: Iterable[Line]) -> None:
    """Lines that tell how it goes."""
    _print(lines, sys.stderr)


def _print(lines: Iterable[Line], stream: TextIO) -> None:
    listed = list(lines)
    text = ansi(listed) if coloured(stream) else plain(listed)
    print(text, file=stream, flush=True)


def ansi(lines: Iterable[Line]) -> str:
    """The lines with colours."""
    return "\n".join(
        "".join(f"\033[{_COLOURS[s.style]}m{s.text}\033[0m" if s.style in _COLOURS else s.text for s in each)
        for each in lines
    )


def as_json(kind: str, facts: Mapping[str, object]) -> None:
    """One document with the stable shape: `schema`, `kind`, and the facts."""
    print(json.dumps({"schema": 1, "kind": kind, **facts}, indent=2, default=str))


def ask(question: str, *, yes: bool, instead: str = "--yes") -> bool:
    """A yes or no; without a terminal it must have been answered beforehand."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise Misuse(question, "nobody is there to answer", f"answer with {instead}")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def ask_text(question: str, given: str | None, instead: str) -> str:
    """A text that a person types; without a terminal it must have been given beforehand."""
    if given is not None:
        return given.strip()
    if not sys.stdin.isatty():
        raise Misuse(question, "nobody is there to answer", f"answer with {instead}")
    print(f"{question} ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()
