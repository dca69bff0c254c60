"""What happened, from the reason trail: runs of nodes through a rollout, how long verbs take, sentences for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median

from fleet.lifecycle.table import DISRUPTIVE, EXPECTED_SECONDS
from fleet.model.ids import NodeId, Verb
from fleet.model.trail import TrailEntry

_VERBS = frozenset(Verb)
STEP_BEGAN, STEP_ENDED = "step began", "step ended"
ORDER_OPENED, ORDER_CLOSED = "order opened", "order closed"


@dataclass(frozen=True, slots=True)
class Taken:
    """One step that was taken: from its entry before it began to its end."""

    verb: Verb
    began: datetime
    ended: datetime | None
    result: str
    detail: str

    @property
    def seconds(self) -> float:
        """How long it took; 0 where its end isn't known."""
        return (self.ended - self.began).total_seconds() if self.ended is not None else 0.0


@dataclass(slots=True)
class NodeRun:
    """One node's way through a rollout: its steps in order, and how its order ended (None: still open)."""

    node: NodeId
    steps: list[Taken] = field(default_factory=list)
    good: bool | None = None
    why: str = ""

    @property
    def began(self) -> datetime | None:
        """When its first step began."""
        return self.steps[0].began if self.steps else None

    @property
    def opened(self) -> datetime | None:
        """When it was last opened again."""
        return next((s.ended for s in reversed(self.steps) if s.verb is Verb.UNCORDON and s.result == "done"), None)

    @property
    def worked(self) -> float:
        """Seconds that its verbs took after its drain."""
        return sum(step.seconds for step in self.steps if step.verb not in (Verb.CORDON, Verb.DRAIN))

    @property
    def drained(self) -> datetime | None:
        """When the first verb after its drain began."""
        return next((step.began for step in self.steps if step.verb in DISRUPTIVE), None)


def steps_of(entries: Iterable[TrailEntry]) -> dict[int, tuple[TrailEntry, Taken]]:
    """Steps by token, in the order in which they began."""
    found: dict[int, tuple[TrailEntry, Taken]] = {}
    for entry in entries:
        token, verb = entry.detail.get("token"), str(entry.detail.get("verb", ""))
        if not isinstance(token, int) or verb not in _VERBS:
            continue
        if entry.what == STEP_BEGAN:
            found[token] = (entry, Taken(Verb(verb), entry.at, None, "running", entry.why))
        elif entry.what == STEP_ENDED and token in found:
            began, taken = found[token]
            result = str(entry.detail.get("result", ""))
            found[token] = (began, Taken(taken.verb, taken.began, entry.at, result, entry.why))
    return found


def runs(entries: Sequence[TrailEntry], rollout: str) -> dict[NodeId, NodeRun]:
    """Each node's way through one rollout."""
    orders = {
        entry.order: NodeId(entry.node)
        for entry in entries
        if entry.what == ORDER_OPENED and entry.detail.get("rollout") == rollout
    }
    found: dict[NodeId, NodeRun] = {node: NodeRun(node) for node in orders.values()}
    for entry, taken in steps_of(entries).values():
        if entry.order in orders:
            found[orders[entry.order]].steps.append(taken)
    for entry in entries:
        if entry.what == ORDER_CLOSED and entry.order in orders:
            run = found[orders[entry.order]]
            run.good, run.why = bool(entry.detail.get("good")), entry.why
    return found


def durations(entries: Iterable[TrailEntry]) -> Mapping[Verb, float]:
    """How long each verb takes here: the median of what was measured, the table where nothing was."""
    measured: dict[Verb, list[float]] = {}
    for _, taken in steps_of(entries).values():
        if taken.result == "done" and taken.ended is not None:
            measured.setdefault(taken.verb, []).append(taken.seconds)
    return {**EXPECTED_SECONDS, **{verb: median(times) for verb, times in measured.items()}}


def sentence(entry: TrailEntry) -> str:
    """One entry of the trail as a person would say it."""
    detail = entry.detail
    verb, release = detail.get("verb", ""), detail.get("release", "")
    match entry.what:
        case "step began":
            towards = f" towards {release}" if release and verb in ("converge", "revert", "stage") else ""
            return f"{verb} began{towards}" + (f" ({entry.why})" if entry.why else "")
        case "step ended":
            return f"{verb} {_RESULTS.get(str(detail.get('result')), str(detail.get('result')))}" + _tail(entry.why)
        case "order opened":
            target = f" to {release}" if release else ""
            return f"{detail.get('purpose', 'order')}{target} was opened" + _tail(entry.why)
        case "order closed":
            return f"{detail.get('purpose', 'order')} was closed" + _tail(entry.why)
        case "order changed":
            return "the order changed" + _tail(entry.why)
        case "hold":
            return f"{entry.who} said {detail.get('kind')}" + _tail(entry.why)
        case "lifted":
            return f"{entry.who} took {detail.get('kind')} back" + _tail(entry.why)
        case "case opened" | "case changed" | "case closed":
            return entry.what + _tail(entry.why)
        case _:
            return entry.what + _tail(entry.why)


_RESULTS = {
    "done": "succeeded",
    "failed": "FAILED",
    "lost": "ended, nobody knows how",
    "again": "could not run yet",
    "running": "runs",
}


def _tail(why: str) -> str:
    return f": {why}" if why else ""
