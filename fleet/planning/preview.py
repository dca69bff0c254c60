"""What a rollout would do, before it is confirmed: waves, prediction, bound, capacity, and its identity.

The prediction plays the planner's own preference under the same slots with expected durations; it knows no faults.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fleet.lifecycle.fold import is_on
from fleet.lifecycle.table import EXPECTED_SECONDS
from fleet.model.ids import Because, NodeId, PoolId, Purpose, ReleaseId, RolloutId, Verb
from fleet.model.observation import NodeSeen, Observed, Power
from fleet.model.order import Rollout, RolloutState
from fleet.model.plan import Held, Refusal, RolloutPlan
from fleet.model.policy import AtDeadline, Policy
from fleet.model.release import Release
from fleet.model.topology import Declared, DeclaredNode, Disposition, Domain, DomainKind
from fleet.planning.bound import Work, bound
from fleet.planning.capacity import Capacity, survey, unmeetable
from fleet.planning.draft import start
from fleet.planning.foretell import play
from fleet.planning.identity import identity
from fleet.planning.opening import blocked_by_people_or_reach, no_build
from fleet.planning.wants import Want
from fleet.planning.waves import choose_canaries, preference, waves


def members(declared: Declared, observed: Observed, pool: PoolId) -> tuple[NodeId, ...]:
    """The nodes of a pool that a rollout concerns: not retired, not parked."""
    enrolled = observed.records.enrolled
    return tuple(
        node.id
        for node in declared.nodes.values()
        if node.pool == pool
        and node.disposition is Disposition.IN_SERVICE
        and not ((record := enrolled.get(node.id)) is not None and record.retired)
    )


def preview(
    declared: Declared,
    observed: Observed,
    pool: PoolId,
    release_id: ReleaseId,
    *,
    exclude: Sequence[NodeId] = (),
    canary: Sequence[NodeId] = (),
    durations: Mapping[Verb, float] = EXPECTED_SECONDS,
) -> RolloutPlan:
    """The plan of bringing a pool to a release. `durations` are expected seconds by verb."""
    policy = declared.pools[pool].policy
    release = declared.releases.get(release_id)
    nodes = [node for node in members(declared, observed, pool) if node not in set(exclude)]
    capacity = survey(declared, observed)
    if release is None:
        return _refuse(declared, pool, release_id, capacity, Refusal("incompatible", (release_id,), "no such release"))
    refused = _refusal(declared, observed, pool, release, capacity, nodes)
    already = tuple(node for node in nodes if is_on(_seen(observed, node), release) is True)
    wanting = [node for node in nodes if node not in set(already)]
    held = _held(declared, observed, wanting, release_id)
    able = [node for node in wanting if node not in {h.node for h in held}]
    able.sort(key=lambda node: preference(_seen(observed, node), node, policy.listed_order))
    canaries = tuple(canary) or choose_canaries((_seen(observed, node) for node in able), policy)
    shape = Rollout(RolloutId(""), pool, release_id, observed.at, RolloutState.RUNNING, tuple(able), canaries)
    staged = waves(shape, policy, able) if able else ()
    works = [[_work(declared.nodes[n], observed, release, policy, durations, n in canaries) for n in w] for w in staged]
    slots = _slots(declared, capacity, able, policy)
    found = bound(works, slots)
    seconds, most_out = play(works, slots)
    pool_domain = Domain(DomainKind.POOL, pool)
    size, out = capacity.members.get(pool_domain, 0), len(capacity.out_in.get(pool_domain, ()))
    budget, floor = _limits(policy, size)
    return RolloutPlan(
        release=release_id,
        pool=pool,
        waves=staged,
        canaries=canaries,
        already=already,
        held=held,
        budget=budget,
        floor=floor,
        predicted_seconds=seconds,
        bound_seconds=found.seconds,
        lowest=size - out - most_out,
        irreversible=release.irreversible,
        identity=identity(declared, release, policy, pool, nodes, canaries),
        refused=refused,
        held_back_by=found.held_back_by,
    )


def _is_off(seen: NodeSeen) -> bool:
    return seen.power is Power.OFF or (seen.power is Power.UNKNOWN and seen.reachable is not True)


def _seen(observed: Observed, node: NodeId) -> NodeSeen:
    return observed.nodes.get(node) or NodeSeen(node)


def _limits(policy: Policy, size: int) -> tuple[int, int]:
    budget, floor = policy.budget.get("pool"), policy.floor.get("pool")
    most = budget.as_budget(size, at_least_one=policy.at_least_one) if budget is not None else size
    return most, floor.as_floor(size) if floor is not None else 0


def _refuse(declared: Declared, pool: PoolId, release: ReleaseId, capacity: Capacity, why: Refusal) -> RolloutPlan:
    size = capacity.members.get(Domain(DomainKind.POOL, pool), 0)
    budget, floor = _limits(declared.pools[pool].policy, size)
    return RolloutPlan(release, pool, (), (), (), (), budget, floor, 0.0, 0.0, size, (), "", why)


def _refusal(
    declared: Declared,
    observed: Observed,
    pool: PoolId,
    release: Release,
    capacity: Capacity,
    nodes: Sequence[NodeId],
) -> Refusal | None:
    if release.untrusted:
        return Refusal("unsigned", (release.id,), release.untrusted)
    vendor = declared.pools[pool].vendor
    if release.vendor and vendor and release.vendor != vendor:
        return Refusal("incompatible", (release.id,), f"{release.id} is for {release.vendor}, pool {pool} is {vendor}")
    wrong = [name for name in nodes if no_build(release, _seen(observed, name))]
    if wrong and len(wrong) == len(nodes):
        return Refusal("incompatible", tuple(wrong), no_build(release, _seen(observed, wrong[0])))
    off = _off_in_units(declared, observed, release, nodes)
    if off:
        return Refusal("node_off", off, f"{release.id} is applied to a whole {release.unit}, and these are off")
    full = unmeetable(declared, observed, capacity, [declared.nodes[node] for node in nodes])
    return Refusal("unmeetable", full.names, full.text) if full is not None else None


def _off_in_units(
    declared: Declared, observed: Observed, release: Release, nodes: Sequence[NodeId]
) -> tuple[NodeId, ...]:
    """Machines that are off in a unit which the release is applied to as a whole."""
    units = {d for name in nodes for d in declared.nodes[name].domains if d.kind == release.unit}
    return tuple(
        node.id
        for node in declared.nodes.values()
        if units.intersection(node.domains) and _is_off(_seen(observed, node.id))
    )


def _held(declared: Declared, observed: Observed, nodes: Sequence[NodeId], release: ReleaseId) -> tuple[Held, ...]:
    draft = start(declared, observed)
    found = []
    for name in nodes:
        wanted = Want(name, Purpose.UPGRADE, release, why="rollout")
        held = blocked_by_people_or_reach(draft, declared.nodes[name], wanted)
        held = held or _endless(draft.seen(name), declared.pools[declared.nodes[name].pool].policy)
        if held is not None and held.reason is not Because.APPROVAL_MISSING:
            found.append(held)
    return tuple(found)


def _endless(seen: NodeSeen, policy: Policy) -> Held | None:
    """A node whose work has no known end, under a policy that waits for it without a deadline."""
    jobs = tuple(job.id for job in seen.work if job.ends is None)
    if not jobs or (policy.drain.deadline is not None and policy.drain.then is not AtDeadline.WAIT):
        return None
    text = "its work has no known end, and policy waits for it"
    return Held(seen.id, Purpose.UPGRADE, Because.DRAIN_WAITING, jobs, text)


def _work(
    node: DeclaredNode,
    observed: Observed,
    release: Release,
    policy: Policy,
    durations: Mapping[Verb, float],
    canary: bool,
) -> Work:
    verbs = [Verb.CORDON, *([Verb.CONVERGE] if release.packages else []), *release.needs, Verb.VERIFY, Verb.UNCORDON]
    takes = sum(durations.get(verb, EXPECTED_SECONDS.get(verb, 0.0)) for verb in verbs)
    takes += policy.soak.total_seconds() if canary else 0.0
    ends = [job.ends for job in _seen(observed, node.id).work if job.ends is not None]
    ready = max(((end - observed.at).total_seconds() for end in ends), default=0.0)
    if policy.drain.deadline is not None:
        ready = min(ready, policy.drain.deadline.total_seconds())
    return Work(node.id, takes, max(ready, 0.0), node.domains)


def _slots(declared: Declared, capacity: Capacity, nodes: Sequence[NodeId], policy: Policy) -> dict[Domain, int]:
    """Slots that the rollout may use, by domain: those free now and those of its own nodes that are out already."""
    found: dict[Domain, int] = {}
    for name in nodes:
        for domain in declared.nodes[name].domains:
            if domain not in found:
                free = capacity.slots(domain, policy)
                if free is not None:
                    found[domain] = max(free, 0)
    return found
