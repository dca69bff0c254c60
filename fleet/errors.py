"""The exceptions of fleet. Expected results are values; these are for what stops a command.

FleetError                 every error with a cause and a next step
├── Misuse                 the command was called wrongly (exit 2)
├── InventoryError         declared state can't be read; carries every problem found, with file and line
├── Untrusted              a signature, digest, serial or expiry that isn't the pinned one
├── LedgerError            the store can't be read or written, or its chain is broken
├── NoLease                somebody else holds the right to act
└── Unavailable            a foreign system (scheduler, BMC, node) gave no usable answer
"""

from __future__ import annotations

from dataclasses import dataclass


class FleetError(Exception):
    """What went wrong (`thing`), why (`cause`), and what to do about it (`next_step`), a line each."""

    def __init__(self, thing: str, cause: str = "", next_step: str = "") -> None:
        super().__init__(": ".join(part for part in (thing, cause) if part))
        self.thing = thing
        self.cause = cause
        self.next_step = next_step


class Misuse(FleetError):
    """The command line or an argument makes no sense."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a file: where it stands, what it is, what to write instead."""

    file: str
    line: int
    text: str
    instead: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.text}" + (f" ({self.instead})" if self.instead else "")


class InventoryError(FleetError):
    """Declared state that can't be read; `problems` holds all of them, not only the first."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        count = len(problems)
        super().__init__(
            "the inventory can't be read",
            f"{count} problem{'s' if count != 1 else ''}: " + "; ".join(str(p) for p in problems),
            "correct the lines named and run `fleet check`",
        )
        self.problems = problems


class Untrusted(FleetError):
    """A signature, digest, serial or expiry that isn't the pinned one."""


class LedgerError(FleetError):
    """The store can't be read or written, or its chain is broken."""


class NoLease(FleetError):
    """Another controller holds the right to act."""


class Unavailable(FleetError):
    """A foreign system gave no usable answer in time."""
