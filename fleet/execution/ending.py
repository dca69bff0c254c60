"""When a rollout is over for whoever runs it: done, halted, or nothing left that anybody but people can move.

Pure: judged from one pass's plan and what it was decided on, after a pass that began nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum

from fleet.model.ids import Because, NodeId, RolloutId
from fleet.model.observation import Observed
from fleet.model.order import Rollout, RolloutState
from fleet.model.plan import Held, Plan
from fleet.render.reasons import for_person


class Ending(StrEnum):
    """How it is over."""

    DONE = "done"
    HALTED = "halted"
    HELD = "held"


BEHIND_OTHERS = frozenset({Because.CANARY_PENDING, Because.PACING, Because.BUDGET_FULL, Because.FLOOR})
"""Waits for other nodes, named in the hold: as stuck as they are."""

OUT_OF_SIGHT = frozenset({Because.OUT_OF_REACH, Because.GAP, Because.DOMAIN_DOWN, Because.LOCK_BUSY})
"""Waits that may end by themselves; after a while a person had better look."""

_OVER = {
    RolloutState.DONE: Ending.DONE,
    RolloutState.REVERTED: Ending.HALTED,
    RolloutState.REFUSED: Ending.HALTED,
}
_STOPPED = frozenset({RolloutState.HALTED, RolloutState.PAUSED, RolloutState.REVERTING})


def ending(plan: Plan, observed: Observed, rollout_id: RolloutId, patience_over: Collection[NodeId]) -> Ending | None:
    """How the rollout is over, or None while it goes on. `patience_over`: nodes out of sight for too long."""
    rollout = observed.records.rollouts.get(rollout_id)
    if rollout is None:
        return Ending.HALTED
    if rollout.state in _OVER:
        return _OVER[rollout.state]
    if plan.changes or plan.steps:
        return None
    held = {each.node: each for each in plan.held}
    stuck = _stuck(observed, held, patience_over)
    if rollout.state in _STOPPED:
        under_way = [n for n in rollout.nodes if n in observed.records.orders and n not in stuck]
        return None if under_way else Ending.HALTED
    waiting = [node for node in rollout.nodes if node in held or node in observed.records.orders]
    return Ending.HELD if waiting and all(node in stuck for node in waiting) else None


def _stuck(observed: Observed, held: Mapping[NodeId, Held], patience_over: Collection[NodeId]) -> set[NodeId]:
    """Nodes that only people can move on, and those that wait for none but such nodes."""
    orders = observed.records.orders
    found = {node for node, each in held.items() if for_person(each) or node in patience_over}
    found |= {
        seen.id
        for seen in observed.nodes.values()
        if seen.id not in orders and seen.id not in held and (seen.foreign or seen.id in patience_over)
    }
    while True:
        more = {
            node
            for node, each in held.items()
            if node not in found and each.reason in BEHIND_OTHERS and each.names and found.issuperset(each.names)
        }
        if not more:
            return found
        found |= more


def retirement(
    plan: Plan, observed: Observed, nodes: Collection[NodeId], patience_over: Collection[NodeId]
) -> Ending | None:
    """How the retirement of some nodes is over, or None while it goes on."""
    enrolled = observed.records.enrolled
    waiting = [node for node in nodes if node not in enrolled or not enrolled[node].retired]
    if not waiting:
        return Ending.DONE
    if plan.changes or plan.steps:
        return None
    stuck = _stuck(observed, {each.node: each for each in plan.held}, patience_over)
    return Ending.HELD if all(node in stuck for node in waiting) else None


def left(rollout: Rollout, plan: Plan) -> tuple[Held, ...]:
    """The nodes of a rollout that still wait, and why."""
    return tuple(each for each in plan.held if each.node in set(rollout.nodes))
