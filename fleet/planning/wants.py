"""What each node wants: the highest purpose for which it differs from what is declared."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.lifecycle.fold import is_on
from fleet.model.health import Case, Severity
from fleet.model.ids import NodeId, Purpose, ReleaseId, RolloutId, Verb
from fleet.model.observation import Enrolment, NodeSeen, Observed
from fleet.model.order import Rollout, RolloutState
from fleet.model.policy import Policy
from fleet.model.release import Release
from fleet.model.topology import Declared, DeclaredNode, Disposition

ACTIVE = frozenset({RolloutState.PLANNED, RolloutState.RUNNING, RolloutState.PAUSED, RolloutState.HALTED})


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


def rollouts_by_node(observed: Observed) -> dict[NodeId, Rollout]:
    """The rollout that concerns a node now; the newest where several name it."""
    found: dict[NodeId, Rollout] = {}
    for rollout in sorted(observed.records.rollouts.values(), key=lambda r: (r.opened, r.id)):
        if rollout.state in ACTIVE:
            found.update(dict.fromkeys(rollout.nodes, rollout))
    return found


def first_rung(case: Case, policy: Policy, forbidden: frozenset[Verb]) -> Verb:
    """Where the ladder begins for a case: the highest beginning that policy names for its causes."""
    ladder = [rung for rung in policy.ladder if rung not in forbidden]
    named = [policy.first_rung[cause] for cause in case.causes if cause in policy.first_rung]
    wanted = max((policy.ladder.index(rung) for rung in named if rung in policy.ladder), default=0)
    above = [rung for rung in ladder if policy.ladder.index(rung) >= wanted]
    return above[0] if above else Verb.RMA


def want(
    node: DeclaredNode,
    seen: NodeSeen,
    enrolled: Enrolment,
    case: Case | None,
    rollout: Rollout | None,
    declared: Declared,
) -> Want | None:
    """The one thing that a node wants most, or None where it is as declared."""
    if node.disposition is Disposition.RETIRED:
        return None if enrolled.retired else Want(node.id, Purpose.RETIRE, why="declared retired")
    policy = declared.pools[node.pool].policy
    if case is not None and case.open and case.severity is not Severity.WATCH:
        release = declared.releases.get(enrolled.applied) if enrolled.applied else None
        forbidden = frozenset(release.forbids) if release else frozenset()
        rung = first_rung(case, policy, forbidden)
        return Want(node.id, Purpose.REPAIR, case=case, rung=rung, why=", ".join(case.causes))
    if node.disposition is Disposition.PARKED:
        return None
    if not enrolled.served:
        return Want(node.id, Purpose.ENROL, declared.target(node), why="it never served")
    if rollout is not None:
        found = declared.releases.get(rollout.release)
        if found is not None and node.id not in rollout.failed and is_on(seen, found) is not True:
            return Want(node.id, Purpose.UPGRADE, rollout.release, rollout.id, why=f"rollout {rollout.id}")
    return _drift(node, seen, enrolled, rollout, declared)


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
