"""What the families of kernel messages share while a log is read: the open findings, merged as they come."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from fleet.readers.reading import Context, Fact, Finding, Gap
from fleet.readers.records import Record

Code = Mapping[str, Any]


@dataclass(slots=True)
class Draft:
    """A finding in the making."""

    code: Code
    device: str | None
    severity: str
    scope: str
    action: str
    order: int
    line: int
    at: datetime | None
    count: int = 1
    last_at: datetime | None = None
    detail: dict[str, Any] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)
    said_by_154: bool = False
    follows_others: bool = False

    def finish(self) -> Finding:
        """The finding as a value."""
        return Finding(
            self.code,
            self.device,
            self.severity,
            self.scope,
            self.action,
            self.count,
            dict(self.detail),
            dict(self.more),
        )


@dataclass(slots=True)
class Log:
    """The state of one pass over a log. `epochs` counts resets of a device, which part earlier faults from later."""

    context: Context
    drafts: list[Draft] = field(default_factory=list)
    index: dict[tuple[Any, ...], Draft] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    uuids: dict[str, str] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)
    epochs: dict[str | None, int] = field(default_factory=dict)
    scratch: dict[str, Any] = field(default_factory=dict)
    order: int = 0

    def gap(self, what: str, reason: str, *, device: str | None = None, line: int | None = None, **more: Any) -> None:
        """One gap, not said twice."""
        gap = Gap(what, reason, device, line, more=more)
        if gap not in self.gaps:
            self.gaps.append(gap)

    def fact(self, device: str | None, name: str, value: Any) -> None:
        """One fact, not said twice."""
        fact = Fact(device, name, value)
        if fact not in self.facts:
            self.facts.append(fact)

    def add(
        self,
        record: Record,
        code: Code,
        device: str | None,
        verdict: tuple[str, str, str],
        *,
        detail: Mapping[str, Any] | None = None,
        more: Mapping[str, Any] | None = None,
        key: Any = None,
    ) -> Draft:
        """A new finding, or one more record of an open one with the same code, device, verdict and `key`."""
        severity, scope, action = verdict
        self.order += 1
        identity = (tuple(code.items()), device, verdict, key, self.epochs.get(device, 0))
        draft = self.index.get(identity)
        if record.bad_time:
            self.gap(f"time of line {record.line}", "impossible_time", device=device, line=record.line)
        if draft is not None:
            draft.count += 1
            draft.last_at = record.at
            _merge(draft.detail, detail or {})
            return draft
        draft = Draft(code, device, severity, scope, action, self.order, record.line, record.at, last_at=record.at)
        draft.detail.update(detail or {})
        draft.detail["at"] = record.at.isoformat() if record.at else None
        draft.more.update(more or {})
        self.drafts.append(draft)
        self.index[identity] = draft
        return draft


def _merge(have: dict[str, Any], new: Mapping[str, Any]) -> None:
    """Links and pids of merged records are kept as lists, at most 64 of each."""
    for one, many in (("link", "links"), ("pid", "pids")):
        if new.get(one) is None or have.get(one) is None:
            continue
        kept = have.setdefault(many, [have[one]])
        if new[one] not in kept and len(kept) < 64:
            kept.append(new[one])


def near(one: datetime | None, other: datetime | None, seconds: float = 60.0) -> bool:
    """Whether two moments are close; unknown times count as close, since the log's order holds them together."""
    if one is None or other is None or (one.tzinfo is None) != (other.tzinfo is None):
        return True
    return abs((other - one).total_seconds()) <= seconds
