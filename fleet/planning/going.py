"""Open orders: what each may do next, how a failure turns it, when it closes.

An order is a record of intent, re-read each pass against today's facts: its purpose may change (a repair takes over an
upgrade, a retirement takes over all).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from fleet.lifecycle.fold import (
    Finished,
    Next,
    Scene,
    Stuck,
    Wait,
    Way,
    advance,
    holding,
    last_index,
    look,
    opened,
    wiped,
)
from fleet.lifecycle.table import AWAY, DISRUPTIVE, MUTATING, OVER_SSH
from fleet.model.health import Case, Severity
from fleet.model.ids import PRECEDENCE, Autonomy, Because, CaseId, Purpose, Verb
from fleet.model.observation import NodeSeen
from fleet.model.order import Result, RolloutState, StepRecord, WorkOrder
from fleet.model.plan import CaseMoved, OrderChanged, OrderClosed, Step, StepEnded
from fleet.model.policy import AtDeadline, ForeignCordon
from fleet.model.topology import DeclaredNode, Disposition
from fleet.planning.capacity import domain_down
from fleet.planning.draft import Draft
from fleet.planning.ending import close
from fleet.planning.opening import consent
from fleet.planning.remedies import forbidden, height, next_rung, rung_for, undecided
from fleet.planning.wants import Want
from fleet.planning.waves import gate, halts


def go_on(draft: Draft, order: WorkOrder, node: DeclaredNode, want: Want | None) -> None:
    """Decide the next step of an open order."""
    seen = draft.seen(order.node)
    if want is not None and _may_take_over(draft, order, node, want):
        _take_over(draft, order, want)
        return
    running = order.running
    if running is not None:
        if order.id not in draft.observed.in_flight:
            _look_first(draft, order, node, seen)
        else:
            _watch(draft, order, node, running)
        return
    if _raised(draft, order, want) or _overruled(draft, order, node, seen):
        return
    if node.disposition is Disposition.PARKED:
        draft.hold(order.node, order.purpose, Because.PARKED, (order.id,), "declared parked")
        return
    way = way_of(draft, order, node)
    match way:
        case Finished():
            close(draft, order)
        case Stuck():
            _turn(draft, order, node, way)
        case Wait():
            _wait(draft, order, node, way)
        case Next():
            _step(draft, order, node, way)


def _watch(draft: Draft, order: WorkOrder, node: DeclaredNode, running: StepRecord) -> None:
    """A step that is being carried out: said where the node has gone silent, or an erasure doesn't end in its time."""
    limit = draft.policy(node).wipe.deadline
    if draft.seen(order.node).reachable is False and running.verb not in AWAY:
        text = f"{running.verb} runs, and the node does not answer"
        draft.hold(order.node, order.purpose, Because.OUT_OF_REACH, (order.node,), text)
    elif running.verb is Verb.WIPE and limit is not None and draft.at - running.began > limit and not draft.jumped:
        text = f"the wipe has not ended within {limit}; nothing is certified"
        draft.hold(order.node, order.purpose, Because.WIPE_UNPROVEN, (order.id,), text)


def way_of(draft: Draft, order: WorkOrder, node: DeclaredNode) -> Way:
    """What comes next on the order's route."""
    release = draft.release(order.release)
    case = draft.observed.records.cases.get(order.node)
    return advance(Scene(order, draft.seen(order.node), release, draft.policy(node), draft.at, case))


def _raised(draft: Draft, order: WorkOrder, want: Want | None) -> bool:
    """A cause that came later may need a higher rung than the one that the order is on."""
    if want is None or want.purpose is not order.purpose or height(want.rung) <= height(order.rung):
        return False
    if order.purpose is not Purpose.REPAIR or height(order.rung) >= height(Verb.RMA):
        return False
    draft.changes.append(OrderChanged(order.id, rung=want.rung, why=f"{want.why} asks for {want.rung}"))
    draft.hold(order.node, order.purpose, Because.ORDER_OPEN, (order.id,), f"the remedy is now {want.rung}")
    return True


def _overruled(draft: Draft, order: WorkOrder, node: DeclaredNode, seen: NodeSeen) -> bool:
    """A person opened a node that we had quarantined: where policy says so they are obeyed, and the case stays."""
    policy, case = draft.policy(node), draft.observed.records.cases.get(order.node)
    if order.purpose is not Purpose.REPAIR or not policy.override_until_new_evidence or seen.cordons:
        return False
    closed = last_index(order, frozenset({Verb.CORDON}), Result.DONE)
    if case is None or closed < 0 or opened(order) or seen.scheduler_up is None:
        return False
    draft.changes.append(CaseMoved(replace(case, overruled=draft.at), "a person opened the node"))
    draft.changes.append(OrderClosed(order.id, order.node, good=False, why="a person opened the node"))
    return True


def _look_first(draft: Draft, order: WorkOrder, node: DeclaredNode, seen: NodeSeen) -> None:
    """A step has no end and nobody carries it: look whether it happened before anything else."""
    record = order.running
    assert record is not None
    found = look(record, seen, draft.release(order.release))
    if found is not None:
        draft.changes.append(StepEnded(order.id, found.result, found.detail))
        draft.hold(order.node, order.purpose, Because.ORDER_OPEN, (order.id,), f"{record.verb}: {found.detail}")
    elif seen.lock:
        draft.hold(order.node, order.purpose, Because.LOCK_BUSY, (seen.lock,), f"{record.verb} still runs on the node")
    else:
        reason = Because.OUT_OF_REACH if seen.reachable is False else Because.GAP
        draft.hold(order.node, order.purpose, reason, (order.id,), f"whether {record.verb} happened can't be seen yet")
        policy = draft.policy(node)
        patience = policy.step_deadline if record.verb in AWAY else policy.heartbeat
        _missing(draft, order, node, record.began + patience)


def _missing(draft: Draft, order: WorkOrder, node: DeclaredNode, due: datetime) -> None:
    """A node of a rollout that does not answer when it should have long ago counts as failed."""
    rollout = draft.rollouts.get(order.rollout) if order.rollout else None
    gone = draft.seen(order.node).reachable is False and draft.at > due
    if rollout is not None and rollout.state is RolloutState.RUNNING and gone and not draft.jumped:
        _fail_rollout(draft, order, node, "it does not answer")


def _may_take_over(draft: Draft, order: WorkOrder, node: DeclaredNode, want: Want) -> bool:
    """Whether a want may turn the open order: it comes before it, people agree, its turn in its rollout has come.

    A canary that goes back does so to its end: the verify there says whether the node is ill on its own account.
    """
    if PRECEDENCE[want.purpose] >= PRECEDENCE[order.purpose]:
        return False
    if order.reverting and order.canary and want.purpose is Purpose.REPAIR:
        return False
    rollout = draft.rollouts.get(want.rollout) if want.rollout else None
    if rollout is not None and gate(rollout, draft.policy(node), node.id) is not None:
        return False
    held = consent(draft, node, want)
    if held is not None:
        draft.held.append(held)
    return held is None


def _take_over(draft: Draft, order: WorkOrder, want: Want) -> None:
    draft.changes.append(
        OrderChanged(
            order.id,
            purpose=want.purpose,
            release=want.release,
            rung=want.rung,
            case=want.case.id if want.case else None,
            reverting=False,
            why=f"{want.purpose} takes over {order.purpose}: {want.why}",
        )
    )
    rollout = draft.rollouts.get(order.rollout) if order.rollout else None
    if rollout is not None and order.node in rollout.canaries and want.purpose is Purpose.REPAIR:
        failed = (*rollout.failed, order.node)
        why = f"canary {order.node} fell ill: {want.why}"
        draft.move(replace(rollout, state=RolloutState.HALTED, failed=failed, why=why), why)
    draft.hold(order.node, want.purpose, Because.ORDER_OPEN, (order.id,), f"{order.purpose} became {want.purpose}")


def _wait(draft: Draft, order: WorkOrder, node: DeclaredNode, way: Wait) -> None:
    drain, seen = draft.policy(node).drain, draft.seen(order.node)
    if seen.reachable is False and way.reason in {Because.GAP, Because.DRAIN_WAITING}:
        _out_of_reach(draft, order, node, "the node does not answer")
        return
    late = drain.deadline is not None and order.waited >= drain.deadline
    if way.reason is Because.DRAIN_WAITING and late and drain.then is AtDeadline.REQUEUE and not draft.jumped:
        if _allowed(draft, order, node, Verb.DRAIN):
            why = f"the deadline of {drain.deadline} passed; policy says requeue"
            draft.steps.append(Step(order.id, order.node, Verb.DRAIN, order.purpose, order.release, True, why))
        return
    draft.hold(order.node, order.purpose, way.reason, way.names, way.text)


def _out_of_reach(draft: Draft, order: WorkOrder, node: DeclaredNode, text: str) -> None:
    down = domain_down(node, draft.observed, draft.capacity)
    if down is not None:
        draft.hold(order.node, order.purpose, Because.DOMAIN_DOWN, (down.name,), f"{down} is down as a whole")
        return
    draft.hold(order.node, order.purpose, Because.OUT_OF_REACH, (order.node,), text)
    last = order.steps[-1] if order.steps else None
    since = (last.ended or last.began) if last is not None else order.opened
    _missing(draft, order, node, since + draft.policy(node).heartbeat)


def _step(draft: Draft, order: WorkOrder, node: DeclaredNode, way: Next) -> None:
    if not _allowed(draft, order, node, way.verb):
        return
    if way.verb is Verb.CORDON:
        full = draft.capacity.blocks(node, draft.policy(node))
        if full is not None and not _broken(draft, order):
            draft.hold(order.node, order.purpose, full.reason, full.names, full.text)
            return
        draft.capacity.take(node, order.id)
    draft.steps.append(Step(order.id, order.node, way.verb, order.purpose, order.release))


def _broken(draft: Draft, order: WorkOrder) -> bool:
    case = draft.observed.records.cases.get(order.node)
    return case is not None and case.open and case.severity is Severity.FATAL


def _allowed(draft: Draft, order: WorkOrder, node: DeclaredNode, verb: Verb) -> bool:
    """Whether a verb may begin on the node now; holds it with the reason where it may not."""
    seen, policy = draft.seen(order.node), draft.policy(node)
    if verb in OVER_SSH and seen.reachable is not True:
        _out_of_reach(draft, order, node, f"{verb} needs SSH, and the node does not answer")
        return False
    reason = _forbids(draft, order, node, verb)
    if reason is not None:
        draft.hold(order.node, order.purpose, reason[0], reason[1], reason[2])
        return False
    if verb in DISRUPTIVE and seen.foreign and policy.foreign_cordon is ForeignCordon.LEAVE:
        names = tuple(cordon.owner for cordon in seen.foreign)
        text = "; ".join(f"{cordon.owner}: {cordon.reason}" for cordon in seen.foreign)
        draft.hold(order.node, order.purpose, Because.FOREIGN_CORDON, names, text)
        return False
    return True


def _forbids(
    draft: Draft, order: WorkOrder, node: DeclaredNode, verb: Verb
) -> tuple[Because, tuple[str, ...], str] | None:
    seen = draft.seen(order.node)
    if verb in MUTATING or verb is Verb.CORDON:
        if draft.observe_only:
            return Because.OBSERVE_ONLY, (), draft.observe_only
        if draft.policy(node).may(order.purpose) is Autonomy.OBSERVE:
            return Because.OBSERVE_ONLY, (), f"autonomy for {order.purpose} is observe"
    stop = draft.held_by("stop", order.node)
    if stop is not None and verb in DISRUPTIVE:
        return Because.STOPPED, (stop.by,), f"fleet stop by {stop.by}: {stop.reason}"
    if seen.lock:
        return Because.LOCK_BUSY, (seen.lock,), f"{seen.lock} holds the node's lock"
    if verb in DISRUPTIVE:
        holders = holding(seen, draft.policy(node))
        if seen.has_work is None and not wiped(order):
            return Because.GAP, (), "whether work is on the node could not be seen"
        if seen.has_work or holders:
            return Because.DRAIN_WAITING, tuple(job.id for job in seen.work) + holders, "work is on the node"
        case = draft.observed.records.cases.get(order.node)
        if order.purpose is Purpose.REPAIR and case is not None and (why := undecided(seen, case)):
            return Because.GAP, ("driver",), why
    if verb is Verb.UNCORDON and seen.scheduler_up is not True:
        return Because.OUT_OF_REACH, (order.node,), "the node does not answer its scheduler; opened, it would eat jobs"
    release = draft.release(order.release)
    if verb in {Verb.CONVERGE, Verb.REVERT, Verb.FLASH} and release is not None and release.untrusted:
        return Because.UNTRUSTED, (release.id,), release.untrusted
    return None


def _turn(draft: Draft, order: WorkOrder, node: DeclaredNode, stuck: Stuck) -> None:
    """A verb has failed as often as it may: climb, go back, or call a person."""
    match order.purpose:
        case Purpose.REPAIR:
            _climb(draft, order, node, stuck)
        case _ if stuck.no_effect:
            _fail_rollout(draft, order, node, f"{stuck.verb}: {stuck.why}")
            draft.hold(order.node, order.purpose, Because.NO_EFFECT, (order.id,), stuck.why)
        case Purpose.RETIRE | Purpose.SHED:
            reason = Because.OUT_OF_REACH if stuck.verb is Verb.POWER_OFF else Because.WIPE_UNPROVEN
            draft.hold(order.node, order.purpose, reason, (order.id,), f"{stuck.verb}: {stuck.why}")
        case Purpose.UPGRADE | Purpose.CORRECT | Purpose.ENROL if not order.reverting:
            _fail_rollout(draft, order, node, f"{stuck.verb}: {stuck.why}")
            _go_back(draft, order, stuck)
        case _ if (ill := _illness(draft, order, node)) is not None:
            _take_over(draft, order, ill)
        case _:
            _to_hands(draft, order, stuck, "revert_failed")


def _illness(draft: Draft, order: WorkOrder, node: DeclaredNode) -> Want | None:
    """The repair that a node wants which is no better on the release before."""
    records = draft.observed.records
    case, enrolled = records.cases.get(order.node), records.enrolled.get(order.node)
    if case is None or not case.acts or enrolled is None:
        return None
    barred = forbidden(node, draft.seen(order.node), enrolled, case, draft.declared)
    rung = rung_for(case, draft.policy(node), barred, enrolled, draft.at)
    return Want(order.node, Purpose.REPAIR, case=case, rung=rung, why=", ".join(case.causes))


def _climb(draft: Draft, order: WorkOrder, node: DeclaredNode, stuck: Stuck) -> None:
    records = draft.observed.records
    case, enrolled = records.cases.get(order.node), records.enrolled.get(order.node)
    barred: frozenset[Verb] = frozenset()
    if case is not None and enrolled is not None:
        barred = forbidden(node, draft.seen(order.node), enrolled, case, draft.declared)
    rung = next_rung(order.rung, draft.policy(node), barred)
    why = f"{stuck.verb} failed: {stuck.why}"
    draft.changes.append(OrderChanged(order.id, rung=rung, why=why))
    draft.hold(order.node, order.purpose, Because.ORDER_OPEN, (order.id,), f"{why}; next rung {rung}")


def _fail_rollout(draft: Draft, order: WorkOrder, node: DeclaredNode, cause: str) -> None:
    """Count the node among the failed of its rollout, once, and halt it where policy says so."""
    rollout = draft.rollouts.get(order.rollout) if order.rollout else None
    if rollout is None or order.node in rollout.failed:
        return
    why = halts(rollout, draft.policy(node), order.node)
    state = RolloutState.HALTED if why else rollout.state
    text = f"{why}: {cause}" if why else f"{order.node} failed: {cause}"
    draft.move(
        replace(rollout, state=state, failed=(*rollout.failed, order.node), why=text if why else rollout.why), text
    )


def _go_back(draft: Draft, order: WorkOrder, stuck: Stuck) -> None:
    enrolled = draft.observed.records.enrolled.get(order.node)
    before = enrolled.applied if enrolled else None
    target = draft.release(order.release)
    if order.purpose is not Purpose.UPGRADE or before is None or before == order.release:
        _to_hands(draft, order, stuck, f"{order.purpose.lower()}_failed")
    elif target is not None and target.irreversible:
        _to_hands(draft, order, stuck, "cannot_go_back")
    else:
        why = f"{stuck.verb} failed: {stuck.why}; back to {before}"
        draft.changes.append(OrderChanged(order.id, release=before, reverting=True, why=why))
        draft.hold(order.node, order.purpose, Because.GATE_FAILED, (order.id,), why)


def _to_hands(draft: Draft, order: WorkOrder, stuck: Stuck, cause: str) -> None:
    """Quarantine: the order becomes a repair that waits for a person, with a case that says why."""
    why = f"{stuck.verb} failed: {stuck.why}"
    case = draft.observed.records.cases.get(order.node)
    if case is None or not case.open:
        name = CaseId(f"case-{order.id}")
        case = Case(name, order.node, (cause,), Severity.DEGRADED, draft.at, draft.at, evidence=(why,))
        draft.changes.append(CaseMoved(case, why))
    draft.changes.append(OrderChanged(order.id, purpose=Purpose.REPAIR, rung=Verb.RMA, case=case.id, why=why))
    draft.hold(order.node, Purpose.REPAIR, Because.AWAITING_HANDS, (order.id,), why)
