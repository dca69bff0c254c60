"""One thing that will not work, said so that a person can mend it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """Whether the site can't work as declared, or only might not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """A stable `code`, the place (file:line), the sum that led to it, what would mend it, where the rule is from."""

    code: str
    level: Level
    place: str
    what: str
    instead: str
    source: str
