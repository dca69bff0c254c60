"""Where each node stands: phase, what is done to it, since when, what it waits for. From one look and its plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from fleet.lifecycle.fold import Scene, advance, phase
from fleet.model.ids import NodeId, Phase, Purpose, ReleaseId, Verb
from fleet.model.observation import NodeSeen, Observed
from fleet.model.order import Result, WorkOrder
from fleet.model.plan import Adopted, Held, Plan, Step
from fleet.model.topology import Declared, DeclaredNode
from fleet.planning.capacity import why_out


@dataclass(frozen=True, slots=True)
class Standing:
    """One node now. `out` says why it is out of service (empty: it serves); `verb` is what runs on it."""

    node: NodeId
    pool: str
    rack: str
    phase: Phase
    applied: ReleaseId | None
    target: ReleaseId
    out: str
    purpose: Purpose | None = None
    order: WorkOrder | None = None
    verb: Verb | None = None
    since: datetime | None = None
    held: Held | None = None
    work: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()


def standings(declared: Declared, observed: Observed, plan: Plan | None = None) -> dict[NodeId, Standing]:
    """Every declared node's standing, in the inventory's order."""
    held = {each.node: each for each in plan.held} if plan is not None else {}
    steps = {step.node: step for step in plan.steps} if plan is not None else {}
    changes = plan.changes if plan is not None else ()
    adopted = {change.node: change.release for change in changes if isinstance(change, Adopted)}
    return {
        node.id: _one(declared, observed, node, held.get(node.id), steps.get(node.id), adopted.get(node.id))
        for node in declared.nodes.values()
    }


def phases(found: Mapping[NodeId, Standing]) -> dict[NodeId, str]:
    """Phases by node, for `@phase:`."""
    return {node: str(standing.phase) for node, standing in found.items()}


def _one(
    declared: Declared,
    observed: Observed,
    node: DeclaredNode,
    held: Held | None,
    step: Step | None,
    adopted: ReleaseId | None,
) -> Standing:
    records = observed.records
    seen, order = observed.nodes.get(node.id) or NodeSeen(node.id), records.orders.get(node.id)
    enrolled = records.enrolled.get(node.id)
    release = declared.releases.get(order.release) if order is not None and order.release is not None else None
    way = None
    if order is not None:
        policy, case = declared.pools[node.pool].policy, records.cases.get(node.id)
        way = advance(Scene(order, seen, release, policy, observed.at, case))
    found = phase(order, way, seen, enrolled)
    out = why_out(node, observed.nodes.get(node.id), enrolled, records.cases.get(node.id))
    if order is None and found is Phase.ENROLLING and not out:
        found = Phase.SERVING  # it serves when first seen; the next pass adopts it
    if order is None and found is Phase.CORDONED and _in_hands(observed, node.id):
        found = Phase.AWAITING_HANDS
    running = order.running if order is not None else None
    retired = enrolled is not None and enrolled.retired
    return Standing(
        node=node.id,
        pool=node.pool,
        rack=node.rack,
        phase=found,
        applied=(enrolled.applied if enrolled is not None else None) or adopted,
        target=declared.target(node),
        out="retired" if retired else out,
        purpose=next((each.purpose for each in (order, step, held) if each is not None), None),
        order=order,
        verb=running.verb if running is not None else (step.verb if step is not None else None),
        since=running.began if running is not None else (_since(order) if order is not None else None),
        held=None if running is not None else held,
        work=tuple(job.id for job in seen.work),
        gaps=tuple(f"{gap.what}: {gap.why}" for gap in seen.gaps),
    )


def _in_hands(observed: Observed, node: NodeId) -> bool:
    return any(hold.kind == "hands" and node in hold.nodes for hold in observed.records.holds)


def _since(order: WorkOrder) -> datetime:
    ended = [step.ended for step in order.steps if step.ended is not None and step.result is not Result.AGAIN]
    return max([order.opened, *([order.moved] if order.moved else []), *ended])


def of_pools(found: Iterable[Standing]) -> dict[str, list[Standing]]:
    """Standings by pool, retired nodes left out."""
    pools: dict[str, list[Standing]] = {}
    for each in found:
        if each.phase is not Phase.RETIRED:
            pools.setdefault(each.pool, []).append(each)
    return pools
