"""What each node wants: the highest purpose for which it differs from what is declared."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fleet.lifecycle.fold import is_on
from fleet.model.health import Case
from fleet.model.ids import NodeId, Purpose, ReleaseId, RolloutId, Verb
from fleet.model.observation import Enrolment, NodeSeen, Observed
from fleet.model.order import Rollout, RolloutState
from fleet.model.release import Release
from fleet.model.topology import Declared, DeclaredNode, Disposition
from fleet.planning.remedies import forbidden, rung_for

ACTIVE = frozenset({RolloutState.PLANNED, RolloutState.RUNNING, RolloutState.PAUSED, RolloutState.HALTED})
ENDED_BADLY = frozenset({RolloutState.REVERTING, RolloutState.REVERTED})
"""A rollout that went back still says why its nodes are behind, as long as git declares its release."""


@dataclass(frozen=True, slots=True)
class Want:
    """One purpose that a node needs, with what it is for. `free`: the node is out already by a fatal fault."""

    node: NodeId
    purpose: Purpose
    release: ReleaseId | None = None
    rollout: RolloutId | None = None
    case: Case | None = None
    rung: Verb | None = None
    why: str = ""


def rollouts_by_node(declared: Declared, observed: Observed) -> dict[NodeId, Rollout]:
    """The rollout that concerns a node now; the newest where several name it."""
    found: dict[NodeId, Rollout] = {}
    for rollout in sorted(observed.records.rollouts.values(), key=lambda r: (r.opened, r.id)):
        if rollout.state in ACTIVE:
            found.update(dict.fromkeys(rollout.nodes, rollout))
        elif rollout.state in ENDED_BADLY:
            known = (declared.nodes[node] for node in rollout.nodes if node in declared.nodes)
            found.update((node.id, rollout) for node in known if declared.target(node) == rollout.release)
    return found


def want(
    node: DeclaredNode,
    seen: NodeSeen,
    enrolled: Enrolment,
    case: Case | None,
    rollout: Rollout | None,
    declared: Declared,
    at: datetime,
) -> Want | None:
    """The one thing that a node wants most, or None where it is as declared."""
    if node.disposition is Disposition.RETIRED:
        return None if enrolled.retired else Want(node.id, Purpose.RETIRE, why="declared retired")
    policy = declared.pools[node.pool].policy
    if case is not None and case.acts:
        rung = rung_for(case, policy, forbidden(node, seen, enrolled, case, declared), enrolled, at)
        return Want(node.id, Purpose.REPAIR, case=case, rung=rung, why=", ".join(case.causes))
    if node.disposition is Disposition.PARKED:
        target = declared.releases.get(declared.target(node))
        behind = target is not None and is_on(seen, target) is not True
        return Want(node.id, Purpose.UPGRADE, declared.target(node), why="parked") if behind else None
    if not enrolled.served:
        return Want(node.id, Purpose.ENROL, declared.target(node), why="it never served")
    if rollout is not None:
        found = declared.releases.get(rollout.release)
        if found is not None and _still_to_do(node.id, seen, found, rollout):
            return Want(node.id, Purpose.UPGRADE, rollout.release, rollout.id, why=f"rollout {rollout.id}")
    return _drift(node, seen, enrolled, rollout, declared)


def _still_to_do(node: NodeId, seen: NodeSeen, release: Release, rollout: Rollout) -> bool:
    """Whether a rollout has work on the node; what failed under a rollout that goes on is not tried again."""
    if is_on(seen, release) is True:
        return False
    return node not in rollout.failed or rollout.state is not RolloutState.RUNNING


def _drift(
    node: DeclaredNode, seen: NodeSeen, enrolled: Enrolment, rollout: Rollout | None, declared: Declared
) -> Want | None:
    """Observed differs from applied: somebody changed the node behind our back."""
    applied = declared.releases.get(enrolled.applied) if enrolled.applied else None
    if applied is None or (
        rollout is not None and rollout.release == applied.id and rollout.state is RolloutState.HALTED
    ):
        return None
    if is_on(seen, applied) is False:
        return Want(node.id, Purpose.CORRECT, applied.id, why=difference(seen, applied))
    return None


def difference(seen: NodeSeen, release: Release) -> str:
    """Which parts differ from a release, in words."""
    parts = [
        f"{part} {seen.shown[part]} instead of {version}"
        for part, version in release.versions.items()
        if part in seen.shown and seen.shown[part] != version
    ] or [
        f"{package.name} {seen.packages.get(package.name, 'missing')} instead of {package.version}"
        for package in release.packages
        if seen.packages.get(package.name) != package.version
    ]
    return "; ".join(parts) + f" ({release.id})"
