"""The ledger in memory, with the semantics of the SQL one: one open order per node, tokens that only rise, a trail.

It outlives controllers: a crash drops everything but this and the world. The trail is append-only; each entry carries
the hash of the one before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import MappingProxyType

from fleet.errors import LedgerError
from fleet.lifecycle.table import LADDER
from fleet.model.health import Case, Severity
from fleet.model.ids import NodeId, OrderId, Purpose, ReleaseId, RolloutId, Verb
from fleet.model.observation import Enrolment, Hold, Records
from fleet.model.order import (
    Again,
    Done,
    Failed,
    Lost,
    Outcome,
    Result,
    Rollout,
    RolloutState,
    StepRecord,
    WorkOrder,
)
from fleet.model.plan import (
    Adopted,
    CaseMoved,
    Change,
    OrderChanged,
    OrderClosed,
    OrderOpened,
    RolloutMoved,
    Step,
    StepEnded,
)

RESULTS = {Done: Result.DONE, Again: Result.AGAIN, Failed: Result.FAILED, Lost: Result.LOST}
TO_SERVICE = frozenset({Purpose.ENROL, Purpose.UPGRADE, Purpose.CORRECT, Purpose.REPAIR})


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the reason trail."""

    at: datetime
    by: str
    what: str
    previous: str
    hash: str


def _said(outcome: Outcome) -> str:
    return outcome.detail if isinstance(outcome, Done) else outcome.why


@dataclass(slots=True)
class MemoryLedger:
    """Ledger, People, Lease and Enrol in one, as the SQL ledger is."""

    orders: dict[NodeId, WorkOrder] = field(default_factory=dict)
    rollouts: dict[RolloutId, Rollout] = field(default_factory=dict)
    cases: dict[NodeId, Case] = field(default_factory=dict)
    enrolled: dict[NodeId, Enrolment] = field(default_factory=dict)
    holds: list[Hold] = field(default_factory=list)
    approvals: dict[str, str] = field(default_factory=dict)
    confirmations: dict[NodeId, str] = field(default_factory=dict)
    quarantined_at: list[tuple[datetime, NodeId]] = field(default_factory=list)
    closed: list[tuple[WorkOrder, bool]] = field(default_factory=list)
    trail: list[Entry] = field(default_factory=list)
    places: dict[OrderId, NodeId] = field(default_factory=dict)  # where each order is, or was
    token: int = 0
    last_entry: datetime | None = None
    lease: tuple[str, datetime] | None = None
    released_ids: set[NodeId] = field(default_factory=set)

    def records(self) -> Records:
        """Everything that the core reads, as it stands."""
        return Records(
            orders=MappingProxyType(dict(self.orders)),
            rollouts=MappingProxyType(dict(self.rollouts)),
            cases=MappingProxyType(dict(self.cases)),
            enrolled=MappingProxyType(dict(self.enrolled)),
            holds=tuple(self.holds),
            approvals=dict(self.approvals),
            confirmations=dict(self.confirmations),
            last_entry=self.last_entry,
            quarantined_at=tuple(self.quarantined_at),
        )

    def commit(self, changes: Iterable[Change], by: str, at: datetime) -> None:
        """Apply changes in one transaction: all of them, or none."""
        before = (dict(self.orders), dict(self.rollouts), dict(self.cases), dict(self.enrolled))
        try:
            for change in changes:
                self._apply(change, at)
                self._write(at, by, repr(change))
        except LedgerError:
            self.orders, self.rollouts, self.cases, self.enrolled = before
            raise

    def begin(self, step: Step, record: StepRecord, by: str) -> int:
        """Write a step down before it begins, and give it its token."""
        order = self._order(step.order)
        if order.running is not None:
            raise LedgerError(f"order {order.id}", f"its {order.running.verb} has no end yet")
        self.token += 1
        written = replace(record, token=self.token, result=Result.RUNNING, ended=None)
        self.orders[order.node] = replace(order, steps=(*order.steps, written))
        self._write(record.began, by, f"{step.verb} begins on {step.node} ({step.order}, token {self.token})")
        return self.token

    def end(self, step: Step, token: int, outcome: Outcome, at: datetime) -> None:
        """Write a step's end down, unless it has one already."""
        order = self.orders.get(step.node)
        order = order if order is not None and order.id == step.order else None
        if order is None or order.running is None or order.running.token != token:
            return
        self._end(order, RESULTS[type(outcome)], _said(outcome), at)
        self._write(at, "", f"{step.verb} on {step.node}: {outcome!r}")

    def waited(self, order: OrderId, seconds: float) -> None:
        """Add to the time that an order's drain has waited."""
        found = self._order(order)
        self.orders[found.node] = replace(found, waited=found.waited + timedelta(seconds=seconds))

    def still_ours(self, node: NodeId, token: int) -> bool:
        """Whether `token` is the newest of a node's open order."""
        order = self.orders.get(node)
        return order is not None and bool(order.steps) and order.steps[-1].token == token

    # People

    def open_rollout(self, rollout: Rollout, by: str) -> None:
        """A person orders a rollout; an open one of the same pool and nodes gives way."""
        for other in list(self.rollouts.values()):
            if other.pool == rollout.pool and other.state in OPEN and set(other.nodes) & set(rollout.nodes):
                self.rollouts[other.id] = replace(other, state=RolloutState.REFUSED, why=f"superseded by {rollout.id}")
        self.rollouts[rollout.id] = rollout
        self._write(rollout.opened, by, f"rollout {rollout.id} of {rollout.release} to {rollout.pool}")

    def resume(self, rollout: RolloutId, by: str, at: datetime) -> None:
        """A person lets a halted rollout go on: what failed may be tried again."""
        found = self.rollouts[rollout]
        self.rollouts[rollout] = replace(
            found, state=RolloutState.RUNNING, failed=(), resumed=found.resumed + 1, why=f"resumed by {by}", changed=at
        )
        self._write(at, by, f"rollout {rollout} resumed")

    def hold(self, hold: Hold) -> None:
        """Keep a person's word."""
        self.holds.append(hold)
        self._write(hold.since, hold.by, f"{hold.kind} {hold.nodes}: {hold.reason}")

    def lift(self, kind: str, nodes: Sequence[NodeId], by: str, reason: str, at: datetime) -> int:
        """Take a word back."""
        kept = [hold for hold in self.holds if not (hold.kind == kind and tuple(nodes) == hold.nodes)]
        count = len(self.holds) - len(kept)
        self.holds = kept
        self._write(at, by, f"{kind} lifted: {reason}")
        return count

    def confirm(self, node: NodeId, by: str, at: datetime) -> None:
        """A person typed a node's serial."""
        self.confirmations[node] = by
        self._write(at, by, f"retirement of {node} confirmed")

    def approve(self, what: str, by: str, signature: str, at: datetime) -> None:
        """A person approves a plan or an order."""
        self.approvals[what] = by
        self._write(at, by, f"approved {what} {signature}".strip())

    def note(self, node: NodeId | None, by: str, what: str, why: str, at: datetime) -> None:
        """A line of the trail that changes nothing."""
        self._write(at, by, f"{node or ''} {what} {why}".strip())

    def give_back(self, node: NodeId, by: str, did: str, at: datetime) -> None:
        """A person has done the rung that only people can do."""
        order = self.orders.get(node)
        if order is not None and order.running is None:
            self.token += 1
            done = StepRecord(Verb.RMA, self.token, at, ended=at, result=Result.DONE, detail=did)
            self.orders[node] = replace(order, steps=(*order.steps, done), hands=False)
        self._write(at, by, f"gave {node} back: {did}")

    def applied(self, node: NodeId, release: ReleaseId) -> None:
        """What a node carries from before the ledger began."""
        self.enrolled[node] = replace(self.enrolled[node], applied=release)

    # Lease

    def take(self, holder: str, at: datetime, ttl_seconds: float) -> bool:
        """Become the one who acts, where nobody else is or the last one went silent."""
        if self.lease is not None and self.lease[0] != holder and self.lease[1] > at:
            return False
        self.lease = (holder, at + timedelta(seconds=ttl_seconds))
        return True

    def renew(self, holder: str, at: datetime, ttl_seconds: float) -> bool:
        """Stay the one who acts."""
        return self.lease is not None and self.lease[0] == holder and self.take(holder, at, ttl_seconds)

    def give(self, holder: str) -> None:
        """Step down."""
        if self.lease is not None and self.lease[0] == holder:
            self.lease = None

    # Inside

    def _apply(self, change: Change, at: datetime) -> None:
        match change:
            case OrderOpened():
                self._open(change, at)
            case OrderChanged():
                self._change(change, at)
            case OrderClosed():
                self._close(change, at)
            case RolloutMoved():
                self._move(change, at)
            case StepEnded():
                order = self._order(change.order)
                if order.running is not None:
                    self._end(order, Result(change.result), change.detail, at)
            case CaseMoved():
                self._case(change.case)
            case Adopted():
                old = self.enrolled.get(change.node) or Enrolment(change.node, serial="")
                self.enrolled[change.node] = replace(old, applied=change.release, served=change.served, fit_since=at)

    def _open(self, change: OrderOpened, at: datetime) -> None:
        if change.node in self.orders:
            raise LedgerError(
                f"order {change.order}", f"{change.node} has the open order {self.orders[change.node].id}"
            )
        self.places[change.order] = change.node
        self.orders[change.node] = WorkOrder(
            id=change.order,
            node=change.node,
            purpose=change.purpose,
            opened=at,
            release=change.release,
            rollout=change.rollout,
            case=change.case,
            rung=change.rung,
            canary=change.canary,
            confirmed_by=change.confirmed_by,
            moved=at,
        )

    def _change(self, change: OrderChanged, at: datetime) -> None:
        order = self._order(change.order)
        turned = (change.purpose, change.rung, change.reverting, change.release) != (None, None, None, None)
        self.orders[order.node] = replace(
            order,
            purpose=change.purpose or order.purpose,
            release=change.release or order.release,
            rung=change.rung or order.rung,
            case=change.case or order.case,
            reverting=order.reverting if change.reverting is None else change.reverting,
            hands=order.hands if change.hands is None else change.hands,
            mark=len(order.steps) if turned else order.mark,
            moved=at if turned else order.moved,
        )
        enrolled = self.enrolled.get(order.node)
        if change.reverting and order.release is not None and enrolled is not None:
            self.enrolled[order.node] = _marked_bad(enrolled, order.release)

    def _close(self, change: OrderClosed, at: datetime) -> None:
        order = self._order(change.order)
        del self.orders[order.node]
        self.closed.append((order, change.good))
        old = self.enrolled.get(order.node)
        if old is None:
            return
        if order.purpose in TO_SERVICE:
            old = _made_true(old, order, change, at)
        if order.purpose is Purpose.RETIRE and change.good:
            old = replace(old, retired=True, certificate=change.certificate or old.certificate)
            self.confirmations.pop(order.node, None)
        if order.purpose is Purpose.UPGRADE and not change.good and order.release is not None:
            old = _marked_bad(old, order.release)
        self.enrolled[order.node] = old

    def _move(self, change: RolloutMoved, at: datetime) -> None:
        old = self.rollouts[change.rollout]
        self.rollouts[change.rollout] = replace(
            old,
            state=change.state,
            why=change.why or old.why,
            canaries=old.canaries if change.canaries is None else change.canaries,
            passed=old.passed if change.passed is None else change.passed,
            failed=old.failed if change.failed is None else change.failed,
            changed=at,
        )

    def _case(self, case: Case) -> None:
        if case.open:
            self.cases[case.node] = case
            return
        self.cases.pop(case.node, None)
        if case.severity is not Severity.WATCH:
            self.quarantined_at.append((case.opened, case.node))

    def _end(self, order: WorkOrder, result: Result, detail: str, at: datetime) -> None:
        last = replace(order.steps[-1], ended=at, result=result, detail=detail)
        self.orders[order.node] = replace(order, steps=(*order.steps[:-1], last))

    def _order(self, order: OrderId) -> WorkOrder:
        found = self.orders.get(self.places[order]) if order in self.places else None
        if found is not None and found.id == order:
            return found
        raise LedgerError(f"order {order}", "it is not open", "look at `fleet why` of its node")

    def _write(self, at: datetime, by: str, what: str) -> None:
        previous = self.trail[-1].hash if self.trail else ""
        text = f"{previous}|{at.isoformat()}|{by}|{what}"
        self.trail.append(Entry(at, by, what, previous, hashlib.sha256(text.encode()).hexdigest()))
        self.last_entry = at


OPEN = frozenset({RolloutState.PLANNED, RolloutState.RUNNING, RolloutState.PAUSED, RolloutState.HALTED})


def _made_true(old: Enrolment, order: WorkOrder, change: OrderClosed, at: datetime) -> Enrolment:
    """What an order that ended says of its node: served, proven, on a release, on probation."""
    verified = any(step.verb is Verb.VERIFY and step.result is Result.DONE for step in order.steps)
    found = replace(
        old,
        served=old.served or change.good,
        applied=change.applied if change.applied is not None else old.applied,
        fit_since=at if verified else old.fit_since,
    )
    if change.good and change.probation_until is not None:
        highest = str(max(change.rungs, key=LADDER.index, default=""))
        tries = (*old.tries, *((at, str(rung)) for rung in change.rungs))
        found = replace(found, probation_until=change.probation_until, probation_rung=highest, tries=tries)
    return found


def _marked_bad(enrolled: Enrolment, release: ReleaseId) -> Enrolment:
    """A release failed on the node, so that it isn't tried there again and again."""
    known = enrolled.bad_releases
    return enrolled if release in known else replace(enrolled, bad_releases=(*known, release))


def broken_link(trail: Sequence[Entry]) -> int | None:
    """The first entry of a trail that does not follow from the one before it; None where the chain holds."""
    previous = ""
    for index, entry in enumerate(trail):
        text = f"{previous}|{entry.at.isoformat()}|{entry.by}|{entry.what}"
        if entry.previous != previous or hashlib.sha256(text.encode()).hexdigest() != entry.hash:
            return index
        previous = entry.hash
    return None
