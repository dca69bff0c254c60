"""Rollouts: who is the canary, which wave may go, when it halts, when it is done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fleet.model.ids import Because, NodeId, Purpose
from fleet.model.observation import NodeSeen
from fleet.model.order import Rollout, RolloutState
from fleet.model.plan import Held
from fleet.model.policy import Policy

_CLOSED = {
    RolloutState.PAUSED: Because.ROLLOUT_PAUSED,
    RolloutState.HALTED: Because.ROLLOUT_HALTED,
    RolloutState.REVERTING: Because.ROLLOUT_HALTED,
    RolloutState.REVERTED: Because.ROLLOUT_HALTED,
    RolloutState.PLANNED: Because.APPROVAL_MISSING,
}


def preference(seen: NodeSeen, node: NodeId, listed: bool) -> tuple[int, float, str]:
    """Who goes first: idle nodes, then those whose work ends soonest; by name where the policy says so."""
    if listed:
        return (0, 0.0, node)
    if seen.has_work is False:
        return (0, 0.0, node)
    ends = [job.ends.timestamp() for job in seen.work if job.ends is not None]
    return (1, max(ends), node) if len(ends) == len(seen.work) and ends else (2, 0.0, node)


def waves(rollout: Rollout, policy: Policy, order: Sequence[NodeId]) -> tuple[tuple[NodeId, ...], ...]:
    """Canaries first, then the policy's wave sizes over `order`, the last size repeating; all others as one."""
    rest = [node for node in order if node not in rollout.canaries]
    found: list[tuple[NodeId, ...]] = [rollout.canaries] if rollout.canaries else []
    if not policy.wave_sizes:
        return (*found, tuple(rest)) if rest else tuple(found)
    sizes = iter(policy.wave_sizes)
    size = next(sizes)
    while rest:
        found.append(tuple(rest[:size] if size > 0 else rest))
        rest = rest[size:] if size > 0 else []
        size = next(sizes, size)
    return tuple(found)


def gate(rollout: Rollout, policy: Policy, node: NodeId) -> Held | None:
    """Why a node's turn hasn't come in its rollout; None where it has."""
    closed = _CLOSED.get(rollout.state)
    if closed is not None:
        return Held(
            node, Purpose.UPGRADE, closed, rollout.failed, rollout.why or f"rollout {rollout.id} {rollout.state}"
        )
    waiting = tuple(canary for canary in rollout.canaries if canary not in rollout.passed)
    if node in rollout.canaries:
        return None
    if policy.canary and (not rollout.canaries or waiting):
        return Held(node, Purpose.UPGRADE, Because.CANARY_PENDING, waiting, "the canary comes first")
    if policy.wave_sizes:
        settled = {*rollout.passed, *rollout.failed}
        for wave in waves(rollout, policy, rollout.nodes):
            if node in wave:
                return None
            left = tuple(other for other in wave if other not in settled)
            if left:
                return Held(node, Purpose.UPGRADE, Because.PACING, left, "an earlier wave has not ended")
    return None


def halts(rollout: Rollout, policy: Policy, node: NodeId) -> str:
    """Why a failure of `node` halts its rollout; empty where it goes on."""
    if node in rollout.canaries:
        return f"canary {node} failed"
    if policy.failure_limit is None:
        return ""
    failed = len({*rollout.failed, node})
    limit = policy.failure_limit.as_budget(len(rollout.nodes))
    return f"{failed} of {len(rollout.nodes)} nodes failed; the limit is {limit}" if failed > limit else ""


def choose_canaries(candidates: Iterable[NodeSeen], policy: Policy) -> tuple[NodeId, ...]:
    """The first nodes of a roll: `policy.canary` of those that could go now, idle ones first."""
    ranked = sorted(candidates, key=lambda seen: preference(seen, seen.id, policy.listed_order))
    return tuple(seen.id for seen in ranked[: policy.canary])
