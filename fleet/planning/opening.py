"""New orders: which wants may begin in this pass, and why the others wait."""

from __future__ import annotations

from dataclasses import replace

from fleet.model.health import Severity
from fleet.model.ids import Autonomy, Because, Purpose, Verb
from fleet.model.observation import NodeSeen
from fleet.model.order import Rollout, RolloutState
from fleet.model.plan import Held, OrderOpened
from fleet.model.policy import Emptying, ForeignCordon, Policy
from fleet.model.release import Release
from fleet.model.topology import DeclaredNode, Disposition
from fleet.planning.breaker import ramp_left
from fleet.planning.capacity import domain_down
from fleet.planning.draft import PLANNED_WORK, Draft
from fleet.planning.identity import identity
from fleet.planning.wants import Want
from fleet.planning.waves import choose_canaries, gate

UNDER_BREAKER = frozenset({Purpose.REPAIR, Purpose.UPGRADE, Purpose.CORRECT, Purpose.ENROL})


def consider(draft: Draft, node: DeclaredNode, want: Want) -> None:
    """Open an order for a want, or hold it with the reason."""
    held = (
        blocked_by_people_or_reach(draft, node, want)
        or _breaker(draft, node, want)
        or _turn(draft, node, want)
        or _capacity(draft, node, want)
    )
    if held is not None:
        draft.held.append(held)
        return
    draft.capacity.take(node, want.purpose)
    records = draft.observed.records
    rollout = draft.rollouts.get(want.rollout) if want.rollout else None
    draft.open(
        OrderOpened(
            order=draft.order_id(node.id, want.purpose),
            node=node.id,
            purpose=want.purpose,
            release=want.release,
            rollout=want.rollout,
            case=want.case.id if want.case else None,
            rung=want.rung,
            canary=rollout is not None and node.id in rollout.canaries,
            confirmed_by=node.confirmed_by or records.confirmations.get(node.id, ""),
            why=want.why,
        ),
        Verb.CORDON,
    )


def pick_canaries(draft: Draft, rollout: Rollout, candidates: list[tuple[DeclaredNode, Want]]) -> None:
    """Name the canaries among the nodes that could go now; until the first step, others may take their place."""
    if begun(draft, rollout) or rollout.state is not RolloutState.RUNNING or not candidates:
        return
    policy = draft.policy(candidates[0][0])
    if not policy.canary or policy.canary_nodes or rollout.canaries_named:
        return
    able = [draft.seen(node.id) for node, want in candidates if blocked_by_people_or_reach(draft, node, want) is None]
    chosen = choose_canaries(able, policy)
    if chosen and chosen != rollout.canaries:
        draft.move(replace(rollout, canaries=chosen), f"canary: {', '.join(chosen)}")


def blocked_by_people_or_reach(draft: Draft, node: DeclaredNode, want: Want) -> Held | None:
    """What holds a node whatever the capacity: people's words, policy, what can't be seen or reached."""
    return (
        consent(draft, node, want) or _foreign(draft, node, want) or _release(draft, want) or _reach(draft, node, want)
    )


def _held(want: Want, reason: Because, names: tuple[str, ...] = (), text: str = "") -> Held:
    return Held(want.node, want.purpose, reason, names, text)


def consent(draft: Draft, node: DeclaredNode, want: Want) -> Held | None:
    """What people and policy have said: parked, stop, freeze, hands, autonomy, confirmations."""
    policy, records = draft.policy(node), draft.observed.records
    if node.disposition is Disposition.PARKED:
        return _held(want, Because.PARKED, (), "declared parked")
    if draft.jumped:
        return _held(want, Because.CLOCK_JUMP, (), draft.jumped)
    if draft.observe_only:
        return _held(want, Because.OBSERVE_ONLY, (), draft.observe_only)
    for kind, reason in (("stop", Because.STOPPED), ("freeze", Because.FROZEN), ("hands", Because.AWAITING_HANDS)):
        hold = draft.held_by(kind, node.id)
        if hold is not None and (kind != "freeze" or want.purpose in PLANNED_WORK):
            return _held(want, reason, (hold.by,), f"{kind} by {hold.by}: {hold.reason}")
    autonomy = policy.may(want.purpose)
    if autonomy is Autonomy.OBSERVE:
        return _held(want, Because.OBSERVE_ONLY, (), f"autonomy for {want.purpose} is observe")
    if autonomy is Autonomy.PROPOSE and not _approved(draft, want):
        return _held(want, Because.APPROVAL_MISSING, (proposal(want),), f"approve it: fleet approve {proposal(want)}")
    confirmed = node.confirmed_by or records.confirmations.get(node.id)
    if want.purpose is Purpose.RETIRE and policy.confirm_retire and not confirmed:
        return _held(want, Because.CONFIRMATION_MISSING, (node.id,), f"confirm it: fleet retire {node.id}")
    return None


def _foreign(draft: Draft, node: DeclaredNode, want: Want) -> Held | None:
    """What somebody else has closed, where policy leaves that alone."""
    foreign, policy = draft.seen(node.id).foreign, draft.policy(node)
    if foreign and policy.foreign_cordon is ForeignCordon.LEAVE:
        text = "; ".join(f"{cordon.owner}: {cordon.reason}" for cordon in foreign)
        return _held(want, Because.FOREIGN_CORDON, tuple(cordon.owner for cordon in foreign), text)
    return None


def _release(draft: Draft, want: Want) -> Held | None:
    """Whether the release can be believed, and exists for what the node runs."""
    release = draft.release(want.release)
    if release is None:
        return None
    if release.untrusted:
        return _held(want, Because.UNTRUSTED, (release.id,), release.untrusted)
    why = no_build(release, draft.seen(want.node))
    return _held(want, Because.INCOMPATIBLE, (release.id,), why) if why else None


def no_build(release: Release, seen: NodeSeen) -> str:
    """Why a release can't be built for the kernel that the node will run; empty where it can, or nothing is said."""
    kernel = release.versions.get("kernel") or seen.kernel
    if not release.built_for or not kernel or kernel in release.built_for:
        return ""
    return f"{release.id} has no build for kernel {kernel}, only for {', '.join(release.built_for)}"


def proposal(want: Want) -> str:
    """The name under which a person approves one node's order: it says what, on which node, for which cause."""
    cause = want.rollout or want.release or (want.case.id if want.case else "") or "declared"
    return f"{want.purpose.lower()}:{want.node}:{cause}"


def _approved(draft: Draft, want: Want) -> bool:
    approvals = draft.observed.records.approvals
    rollout = draft.rollouts.get(want.rollout) if want.rollout else None
    return proposal(want) in approvals or (rollout is not None and bool(rollout.plan) and rollout.plan in approvals)


def _reach(draft: Draft, node: DeclaredNode, want: Want) -> Held | None:
    """What must be seen before work begins. A broken node is closed all the same."""
    seen = draft.seen(node.id)
    if seen.lock:
        return _held(want, Because.LOCK_BUSY, (seen.lock,), f"{seen.lock} holds the node's lock")
    if want.case is not None and want.case.severity is Severity.FATAL:
        return None
    if seen.reachable is not True:
        down = domain_down(node, draft.observed, draft.capacity)
        if down is not None:
            return _held(want, Because.DOMAIN_DOWN, (down.name,), f"{down} is down as a whole")
        why = "; ".join(f"{gap.what}: {gap.why}" for gap in seen.gaps)
        reason = Because.OUT_OF_REACH if seen.reachable is False else Because.GAP
        return _held(want, reason, (node.id,), why or "the node could not be seen")
    if seen.has_work is None or seen.scheduler_up is None:
        return _held(want, Because.GAP, (node.id,), "what the scheduler runs on the node could not be seen")
    return None


def _breaker(draft: Draft, node: DeclaredNode, want: Want) -> Held | None:
    breaker, policy = draft.breakers.get(node.pool), draft.policy(node).breaker
    if breaker is None or policy is None or want.purpose not in UNDER_BREAKER:
        return None
    if breaker.tripped:
        return _held(want, Because.BREAKER_TRIPPED, breaker.names, breaker.text)
    left = ramp_left(policy, breaker, draft.opened_in(node.pool), draft.at)
    if left is None or left > 0:
        return None
    return _held(want, Because.PACING, (), f"the breaker has cleared; at most {policy.ramp} new orders at a time")


def _turn(draft: Draft, node: DeclaredNode, want: Want) -> Held | None:
    """Whether the node's turn has come in its rollout, and whether it may be emptied now."""
    policy = draft.policy(node)
    if want.purpose is Purpose.UPGRADE and policy.windows and not any(w.open_at(draft.at) for w in policy.windows):
        return _held(want, Because.WINDOW_CLOSED, (), "no window is open")
    rollout = draft.rollouts.get(want.rollout) if want.rollout else None
    if rollout is not None:
        held = gate(rollout, policy, node.id) or _approval(draft, policy, rollout, want)
        if held is not None:
            return held
    if policy.drain.how is Emptying.IDLE and want.purpose in PLANNED_WORK and draft.seen(node.id).has_work:
        names = tuple(job.id for job in draft.seen(node.id).work)
        return _held(want, Because.DRAIN_WAITING, names, "policy takes idle nodes only")
    return None


def _approval(draft: Draft, policy: Policy, rollout: Rollout, want: Want) -> Held | None:
    """Before its first step a roll that needs approval needs one of the very plan that would be carried out now."""
    if not policy.approval_required or begun(draft, rollout):
        return None
    release, approvals = draft.release(rollout.release), draft.observed.records.approvals
    if release is None:
        return None
    now = identity(draft.declared, release, policy, rollout.pool, rollout.nodes, rollout.canaries)
    if now in approvals:
        return None
    if approvals:
        return _held(want, Because.APPROVAL_STALE, (now,), f"what was approved is another plan; approve {now}")
    return _held(want, Because.APPROVAL_MISSING, (now,), f"approve it: fleet approve {now}")


def begun(draft: Draft, rollout: Rollout) -> bool:
    """Whether a rollout has taken its first step."""
    if rollout.passed or rollout.failed:
        return True
    return any(order.rollout == rollout.id for order in draft.observed.records.orders.values())


def _capacity(draft: Draft, node: DeclaredNode, want: Want) -> Held | None:
    policy: Policy = draft.policy(node)
    if want.case is not None and want.case.severity is Severity.FATAL:
        return None
    full = draft.capacity.blocks(node, policy)
    return _held(want, full.reason, full.names, full.text) if full is not None else None
