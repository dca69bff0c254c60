"""The result of reading: findings, problems, gaps and facts, as values and as the JSON that `fleet read` prints."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SCHEMA = 1
NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Finding:
    """One judgement about one device. `more`: state, follows, then, after, via, decided_by, cleared_by, fallback."""

    code: Mapping[str, Any]
    device: str | None
    severity: str
    scope: str
    action: str
    count: int = 1
    detail: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The keys and words of the case files; `state` is always there."""
        out: dict[str, Any] = {
            "code": dict(self.code),
            "device": self.device,
            "count": self.count,
            "severity": self.severity,
            "scope": self.scope,
            "action": self.action,
            "state": "open",
        }
        out.update(self.more)
        if self.detail:
            out["detail"] = dict(self.detail)
        return out


@dataclass(frozen=True, slots=True)
class Problem:
    """A finding about a place (a port, a resource, a drive) rather than a coded fault of a device."""

    where: str
    kind: str
    scope: str
    action: str
    more: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Flat, as the case files have it."""
        return {"where": self.where, "kind": self.kind, "scope": self.scope, "action": self.action, **self.more}


@dataclass(frozen=True, slots=True)
class Gap:
    """What could not be seen. `reason` is a word, `why` a sentence for people (the word if there is no sentence)."""

    what: str
    reason: str
    device: str | None = None
    line: int | None = None
    why: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """`line` only where there is one."""
        out: dict[str, Any] = {
            "what": self.what,
            "reason": self.reason,
            "device": self.device,
            "why": self.why or self.reason.replace("_", " "),
        }
        if self.line is not None:
            out["line"] = self.line
        out.update(self.more)
        return out


@dataclass(frozen=True, slots=True)
class Fact:
    """A value read. `device` None means the node."""

    device: str | None
    name: str
    value: Any
    unit: str | None = None

    def as_json(self) -> dict[str, Any]:
        """`unit` only where there is one."""
        out: dict[str, Any] = {"device": self.device, "name": self.name, "value": self.value}
        if self.unit is not None:
            out["unit"] = self.unit
        return out


@dataclass(frozen=True, slots=True)
class Reading:
    """What one input (and the inputs read beside it) says. `more` holds the keys of its kind, such as `nodes`."""

    kind: str
    findings: tuple[Finding | Problem, ...] = ()
    gaps: tuple[Gap, ...] = ()
    facts: tuple[Fact, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The stable shape of `fleet read --json`."""
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "findings": [finding.as_json() for finding in self.findings],
            "gaps": [gap.as_json() for gap in self.gaps],
            "facts": [fact.as_json() for fact in self.facts],
            **self.more,
        }

    def by_device(self) -> dict[str | None, dict[str, Any]]:
        """Facts as name and value by device, None for the node: for inventories and metrics."""
        out: dict[str | None, dict[str, Any]] = {}
        for fact in self.facts:
            out.setdefault(fact.device, {})[fact.name] = fact.value
        return out


@dataclass(frozen=True, slots=True)
class Beside:
    """Another input of the same observation: its file name and its content."""

    name: str
    content: bytes


Context = Mapping[str, Any]
Text = str | bytes
Reader = Callable[[Text, Context, Sequence[Beside]], Reading]


def unreadable(kind: str, what: str, reason: str, why: str = "") -> Reading:
    """A reading that holds nothing but the gap."""
    return Reading(kind, gaps=(Gap(what, reason, why=why),))
