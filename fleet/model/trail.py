"""The reason trail as values: who did what to which node, when and why, and whether its chain holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class TrailEntry:
    """One entry. `hash` covers the hash before it (`previous`) and everything else here."""

    seq: int
    at: datetime
    who: str
    node: str
    order: str
    what: str
    why: str
    detail: Mapping[str, object] = field(default_factory=dict)
    hash: str = ""
    previous: str = ""


@dataclass(frozen=True, slots=True)
class TrailVerdict:
    """What a check of the chain found: how many entries hold, the head, and the first bad one with its reason."""

    entries: int
    head: str
    bad: int | None = None
    why: str = ""

    @property
    def good(self) -> bool:
        """Whether nothing is missing or altered."""
        return not self.why
