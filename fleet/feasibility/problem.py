"""One thing that will not work, said so that a person can mend it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """Whether the site can't work as declared, might not, or can't be judged since something isn't known."""

    ERROR = "error"
    WARNING = "warning"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Problem:
    """A stable `code`, the place (file:line), what is wrong, what would mend it, where the rule is from.

    `sum` is the arithmetic that led to it, with units, where there is any.
    """

    code: str
    level: Level
    place: str
    what: str
    instead: str
    source: str
    sum: str = ""
