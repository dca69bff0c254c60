"""What a person must hear: holds that only people can end, rollouts that halted, orders that make no progress."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from fleet.model.ids import Because
from fleet.model.order import RolloutState, WorkOrder
from fleet.model.plan import Held, RolloutMoved, Tell
from fleet.planning.draft import Draft

NEEDS_A_PERSON = frozenset(
    {
        Because.AWAITING_HANDS,
        Because.WIPE_UNPROVEN,
        Because.NO_EFFECT,
        Because.IRREVERSIBLE,
        Because.GATE_FAILED,
        Because.UNTRUSTED,
        Because.APPROVAL_MISSING,
        Because.APPROVAL_STALE,
        Because.CONFIRMATION_MISSING,
    }
)
"""Holds that end by a person's act only."""


def telling(draft: Draft) -> Iterator[Tell]:
    """What to say after this pass; the key makes sure that each thing is said once."""
    for held in draft.held:
        if held.reason in NEEDS_A_PERSON:
            yield Tell(f"{held.node}:{held.reason}:{_about(held)}", f"{held.node} needs you: {held.reason}", held.text)
    for change in draft.changes:
        if isinstance(change, RolloutMoved) and change.state is RolloutState.HALTED:
            yield Tell(f"{change.rollout}:halted", f"rollout {change.rollout} halted", change.why)
    for order in draft.observed.records.orders.values():
        limit = _limit(draft, order)
        if limit is not None and draft.at - _progress(order) > limit and not draft.jumped:
            text = f"{order.purpose} {order.id} has made no progress for {limit}"
            yield Tell(f"{order.id}:stuck:{len(order.steps)}", f"{order.node} is stuck", text)


def _about(held: Held) -> str:
    return held.names[0] if held.names else ""


def _limit(draft: Draft, order: WorkOrder) -> timedelta | None:
    node = draft.declared.nodes.get(order.node)
    return draft.policy(node).stuck_after if node is not None else None


def _progress(order: WorkOrder) -> datetime:
    last = order.steps[-1] if order.steps else None
    return (last.ended or last.began) if last is not None else order.opened
