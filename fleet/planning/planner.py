"""`plan`: the decision of one pass, from what is declared and what was seen.

Open orders go first, by purpose; then wants, by purpose, each in the order that its rollout prefers; then the rollouts
themselves are moved on. Every node that wants work is in a step, in an open order that is under way, or held with a
reason. Cost: linear in nodes, n log n in the nodes that want something.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from fleet.lifecycle.fold import is_on
from fleet.model.ids import FLEET, PRECEDENCE, Because, NodeId, Purpose, ReleaseId, RolloutId
from fleet.model.observation import Enrolment, NodeSeen, Observed
from fleet.model.order import RolloutState
from fleet.model.plan import Adopted, OrderOpened, Plan
from fleet.model.topology import Declared, DeclaredNode, Disposition
from fleet.planning.draft import Draft, start
from fleet.planning.going import go_on
from fleet.planning.guard import guard
from fleet.planning.opening import consider, pick_canaries
from fleet.planning.telling import telling
from fleet.planning.wants import Want, want
from fleet.planning.waves import preference


def plan(declared: Declared, observed: Observed) -> Plan:
    """What may be done now, what waits and why, and what the ledger is to record."""
    draft = start(declared, observed)
    wants = _wants(draft)
    orders = sorted(observed.records.orders.values(), key=lambda order: (PRECEDENCE[order.purpose], order.opened))
    for order in orders:
        node = declared.nodes.get(order.node)
        if node is None:
            draft.hold(order.node, order.purpose, Because.ORDER_OPEN, (order.id,), "the node is no longer declared")
            continue
        go_on(draft, order, node, wants.pop(order.node, None))
    _open(draft, wants)
    _end_rollouts(draft)
    return guard(draft.plan(tuple(telling(draft))), declared, observed)


def _wants(draft: Draft) -> dict[NodeId, Want]:
    """What nodes want, adopting those that serve when first seen."""
    found: dict[NodeId, Want] = {}
    records = draft.observed.records
    for node in draft.declared.nodes.values():
        enrolled = records.enrolled.get(node.id)
        if enrolled is None:
            text = "not enrolled in the ledger: pulumi up"
            draft.hold(node.id, Purpose.ENROL, Because.OUT_OF_REACH, (node.id,), text)
            continue
        if enrolled.retired:
            continue
        seen = draft.seen(node.id)
        if not enrolled.served and _serves(seen) and node.id not in records.orders:
            enrolled = _adopt(draft, node, seen, enrolled)
        rollout_id = draft.rollout_of.get(node.id)
        rollout = draft.rollouts[rollout_id] if rollout_id is not None else None
        case = records.cases.get(node.id)
        wanted = want(node, seen, enrolled, case, rollout, draft.declared, draft.at)
        if wanted is not None:
            found[node.id] = wanted
    return found


def _serves(seen: NodeSeen) -> bool:
    return seen.scheduler_up is True and seen.reachable is True and not seen.cordons


def _adopt(draft: Draft, node: DeclaredNode, seen: NodeSeen, enrolled: Enrolment) -> Enrolment:
    """A node that serves when first seen: what it carries becomes its baseline, and no order opens."""
    vendor = draft.declared.pools[node.pool].vendor
    carries = [
        release.id
        for release in draft.declared.releases.values()
        if release.vendor == vendor and is_on(seen, release) is True
    ]
    release = carries[0] if carries else None
    draft.changes.append(Adopted(node.id, release, why=f"serves when first seen, on {release or 'no known release'}"))
    return replace(enrolled, served=True, applied=release, fit_since=draft.at)


def _open(draft: Draft, wants: dict[NodeId, Want]) -> None:
    nodes = draft.declared.nodes
    by_rollout: dict[RolloutId, list[tuple[DeclaredNode, Want]]] = defaultdict(list)
    for wanted in wants.values():
        if wanted.rollout is not None:
            by_rollout[wanted.rollout].append((nodes[wanted.node], wanted))
    for rollout_id, candidates in by_rollout.items():
        pick_canaries(draft, draft.rollouts[rollout_id], candidates)
    for wanted in sorted(wants.values(), key=lambda w: _rank(draft, w)):
        consider(draft, nodes[wanted.node], wanted)


def _rank(draft: Draft, wanted: Want) -> tuple[int, int, tuple[int, float, str]]:
    policy = draft.policy(draft.declared.nodes[wanted.node])
    rollout = draft.rollouts.get(wanted.rollout) if wanted.rollout else None
    canary = rollout is not None and wanted.node in rollout.canaries
    order = preference(draft.seen(wanted.node), wanted.node, policy.listed_order)
    return PRECEDENCE[wanted.purpose], 0 if canary else 1, order


def _end_rollouts(draft: Draft) -> None:
    """A rollout is done when every node of it shows the release and none of its orders is open."""
    busy = {order.rollout for order in draft.observed.records.orders.values()}
    busy |= {change.rollout for change in draft.changes if isinstance(change, OrderOpened)}
    for rollout in list(draft.rollouts.values()):
        if rollout.id in busy:
            continue
        if rollout.state is RolloutState.HALTED and rollout.failed and not rollout.passed:
            draft.move(replace(rollout, state=RolloutState.REVERTED), rollout.why)
        elif rollout.state is RolloutState.RUNNING:
            left = [node for node in rollout.nodes if not _settled(draft, node, rollout.release)]
            if not left:
                draft.move(replace(rollout, state=RolloutState.DONE), "every node is on the release")
            elif set(left) <= set(rollout.failed):
                why = f"all others are done; failed: {', '.join(left)}"
                draft.move(replace(rollout, state=RolloutState.HALTED, why=why), why)


def _settled(draft: Draft, name: NodeId, release_id: ReleaseId) -> bool:
    node = draft.declared.nodes.get(name)
    enrolled = draft.observed.records.enrolled.get(name)
    if node is None or node.disposition is Disposition.RETIRED or (enrolled is not None and enrolled.retired):
        return True
    release = draft.declared.releases.get(release_id)
    seen = draft.seen(name)
    if release is None or is_on(seen, release) is not True:
        return False
    return not any(cordon.owner == FLEET for cordon in seen.cordons)
