"""Signals, findings, cases and gaps: what evidence says, never what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from fleet.model.ids import CaseId, NodeId


class Severity(StrEnum):
    """How bad: a note; close the node and let work end; close it and drain now."""

    WATCH = "watch"
    DEGRADED = "degraded"
    FATAL = "fatal"


@dataclass(frozen=True, slots=True)
class Gap:
    """What could not be seen, and why. Neither healthy nor sick."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Signal:
    """Evidence from one source about one node at one moment (the node's own time, UTC)."""

    node: NodeId
    what: str  # the code: xid_79, ras_uncorrectable, gpu_missing
    severity: Severity
    at: datetime
    device: str = ""
    text: str = ""
    source: str = ""
    standing: bool = True  # the condition is there now; False for a line in a log, which tells of its moment only


@dataclass(frozen=True, slots=True)
class Case:
    """An open problem of one node: its causes, the worst severity, the rung that was last taken."""

    id: CaseId
    node: NodeId
    causes: tuple[str, ...]
    severity: Severity
    opened: datetime
    last_seen: datetime
    device: str = ""
    evidence: tuple[str, ...] = ()
    closed: datetime | None = None
    overruled: datetime | None = None  # a person opened the node: evidence up to then asks for nothing

    @property
    def open(self) -> bool:
        """Whether the problem is still to be solved."""
        return self.closed is None

    @property
    def acts(self) -> bool:
        """Whether it asks for work: open, more than a note, and not overruled by a person since its last evidence."""
        if self.closed is not None or self.severity is Severity.WATCH:
            return False
        return self.overruled is None or self.last_seen > self.overruled
