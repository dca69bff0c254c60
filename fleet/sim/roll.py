"""A rolling upgrade of a fleet that has an inventory's shape: jobs run, durations vary, the controller may die.

What comes out is read off the world: who was out when, what became of the jobs, and what must never happen.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from fleet.errors import Misuse
from fleet.lifecycle.fold import is_on
from fleet.model.ids import NodeId, PoolId, ReleaseId, Verb
from fleet.model.order import RolloutState
from fleet.model.plan import Held, RolloutPlan
from fleet.model.topology import Declared, DeclaredNode, Disposition, Domain, DomainKind
from fleet.planning.bound import Work as Cost
from fleet.planning.bound import bound
from fleet.planning.capacity import survey
from fleet.planning.preview import preview
from fleet.sim import work
from fleet.sim.nevers import Nevers
from fleet.sim.run import Simulation, populate
from fleet.sim.world import Machine, Work, World

LONGEST_SECONDS = 14 * 86400.0
MANY = 100
"""From so many nodes on, events of half a minute share a pass."""
LOOKS = 400
"""How often at most the fleet's picture is taken."""

DOING: Mapping[Verb, str] = {
    Verb.CONVERGE: "c",
    Verb.REVERT: "c",
    Verb.FLASH: "f",
    Verb.REBOOT: "r",
    Verb.POWER_CYCLE: "r",
    Verb.VERIFY: "v",
}
"""The letter of a node that is worked on; `.` serves, `d` is emptied, `w` waits closed, `x` is gone."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What is to be simulated."""

    pool: PoolId
    release: ReleaseId
    nodes: int | None = None
    seed: int = 0
    crash: bool = False
    jobs: bool = True
    bad: bool = False  # no node is fit under the release


@dataclass(slots=True)
class Rolled:
    """What became of a roll."""

    ask: Ask
    plan: RolloutPlan
    nodes: tuple[NodeId, ...]
    state: RolloutState | None = None
    seconds: float = 0.0
    bound_seconds: float = 0.0  # of what the steps really took
    lowest: int = 0
    lowest_at: float = 0.0
    picture: list[tuple[float, dict[NodeId, str]]] = field(default_factory=list)
    steps: Counter[str] = field(default_factory=Counter)
    jobs: Counter[str] = field(default_factory=Counter)
    most_reboots: int = 0
    on_release: int = 0
    in_service: int = 0
    passes: int = 0
    crashes: int = 0
    held: tuple[Held, ...] = ()
    broken: tuple[str, ...] = ()

    @property
    def as_wanted(self) -> bool:
        """Whether it ended as it should: a bad release is halted and goes back, and nobody loses anything."""
        if not self.ask.bad:
            return self.ended_well
        turned_back = self.state in (RolloutState.HALTED, RolloutState.REVERTED)
        return not self.broken and turned_back and self.on_release == 0 and self.in_service == len(self.nodes)

    @property
    def ended_well(self) -> bool:
        """Whether every node serves on the release, and nothing happened that must never happen."""
        return not self.broken and self.state is RolloutState.DONE and self.on_release == len(self.nodes)


def of_size(declared: Declared, pool: PoolId, nodes: int | None) -> Declared:
    """A site with `nodes` nodes in the pool, in racks like the inventory's; other pools are left out."""
    own = [node for node in declared.nodes.values() if node.pool == pool]
    if not own:
        raise Misuse(f"pool {pool}", "it has no nodes", "name another pool")
    if nodes is None or nodes == len(own):
        return replace(declared, nodes={node.id: node for node in own}, pools={pool: declared.pools[pool]})
    patterns: dict[str, list[DeclaredNode]] = {}
    for node in own:
        patterns.setdefault(node.rack, []).append(node)
    made: dict[NodeId, DeclaredNode] = {}
    width = len(str(nodes))
    for number in count(1):
        for index, (_, fellows) in enumerate(patterns.items()):
            rack = f"rack{(number - 1) * len(patterns) + index + 1:02d}"
            for fellow in fellows:
                if len(made) == nodes:
                    return replace(declared, nodes=made, pools={pool: declared.pools[pool]})
                name = NodeId(f"n{len(made) + 1:0{width}d}")
                domains = tuple(
                    Domain(domain.kind, rack) if domain.kind is DomainKind.RACK else domain for domain in fellow.domains
                )
                made[name] = replace(fellow, id=name, serial=f"SIM-{name}", rack=rack, domains=domains)
    raise AssertionError


def roll(declared: Declared, ask: Ask) -> Rolled:
    """Play the whole roll."""
    fleet = of_size(declared, ask.pool, ask.nodes)
    if ask.release not in fleet.releases:
        known = ", ".join(sorted(fleet.releases))
        raise Misuse(f"release {ask.release}", "no such release in the inventory", f"one of: {known}")
    before = fleet.pools[ask.pool].release
    if before == ask.release:
        before = _before(fleet, ask)
    started = replace(fleet, pools={ask.pool: replace(fleet.pools[ask.pool], release=before)})
    simulation = populate(started, seed=ask.seed, jitter=0.2)
    wanted = replace(fleet, pools={ask.pool: replace(fleet.pools[ask.pool], release=ask.release)})
    simulation.world.declared = wanted
    simulation.share_seconds = 30.0 if len(fleet.nodes) > MANY else 0.0
    simulation.world.bad = (ask.release,) if ask.bad else ()
    chance = random.Random(ask.seed)
    if ask.jobs:
        _fill(simulation, chance)
    plan = preview(wanted, simulation.look(), ask.pool, ask.release)
    nodes = tuple(n.id for n in wanted.nodes.values() if n.disposition is Disposition.IN_SERVICE)
    found = Rolled(ask, plan, nodes)
    if plan.refused is not None:
        return found
    if ask.crash:
        writes = 12 * len(nodes) + 20
        points = chance.sample(range(2, writes), k=max(3, writes // 12))
        simulation.crash_at = {point: chance.choice([0.0, 0.0, 45.0, 240.0]) for point in points}
    ready = {job.nodes[0]: job.runs or 0.0 for job in simulation.world.jobs.values() if job.state == "running"}
    slots = _slots(wanted, simulation)
    nevers = Nevers()
    simulation.watchers += [nevers, _Watch(found, max(60.0, plan.predicted_seconds / LOOKS))]
    simulation.order_rollout(ask.release, nodes, plan=plan.identity)
    simulation.ledger.approve(plan.identity, "simulated", "", simulation.clock.now())
    _until_ended(simulation)
    _sum_up(simulation, found, nevers)
    soak = wanted.pools[ask.pool].policy.soak.total_seconds()
    costs = {
        node: Cost(
            node,
            simulation.world.took.get(node, 0.0) + (soak if node in plan.canaries else 0.0),
            ready.get(node, 0.0),
            wanted.nodes[node].domains,
        )
        for wave in plan.waves
        for node in wave
    }
    found.bound_seconds = bound([[costs[node] for node in wave] for wave in plan.waves], slots).seconds
    return found


def _slots(declared: Declared, simulation: Simulation) -> dict[Domain, int]:
    """Slots by domain before the roll begins."""
    capacity = survey(declared, simulation.look())
    found: dict[Domain, int] = {}
    for node in declared.nodes.values():
        for domain in node.domains:
            free = capacity.slots(domain, declared.pools[node.pool].policy)
            if free is not None:
                found[domain] = max(free, 0)
    return found


def _before(fleet: Declared, ask: Ask) -> ReleaseId:
    """A release that the pool may come from, where it is declared to be on the wanted one already."""
    vendor = fleet.pools[ask.pool].vendor
    others = [
        release.id for release in fleet.releases.values() if release.vendor == vendor and release.id != ask.release
    ]
    if not others:
        raise Misuse(f"release {ask.release}", "there is no other one to come from", "name another release")
    return min(others)


def _fill(simulation: Simulation, chance: random.Random) -> None:
    """Most nodes have a job that ends soon, and others queue behind it for as long as the run goes on."""
    numbers = count(1)

    def next_job(node: NodeId, *, running: bool) -> None:
        job = Work(f"j{next(numbers)}", (node,), chance.uniform(300, 2400), saved=simulation.world.now)
        work.submit(simulation.world, job, running=running)
        simulation.world.agenda.after(chance.uniform(2400, 7200), lambda: next_job(node, running=False))

    for node in simulation.world.machines:
        if chance.random() < 0.7:
            next_job(node, running=True)


def _until_ended(simulation: Simulation) -> None:
    agenda = simulation.world.agenda
    hour = 3600.0
    while agenda.now < LONGEST_SECONDS:
        simulation.run(agenda.now + hour)
        rollout = next(iter(simulation.ledger.rollouts.values()))
        if not simulation.ledger.orders and rollout.state is not RolloutState.RUNNING:
            return


@dataclass(slots=True)
class _Watch:
    """Takes the fleet's picture, not too often, and remembers the lowest point."""

    found: Rolled
    every_seconds: float
    last: float = -1e9

    def __post_init__(self) -> None:
        self.found.lowest = len(self.found.nodes)

    def __call__(self, simulation: Simulation) -> None:
        """After a pass."""
        world, found = simulation.world, self.found
        if found.state in (None, RolloutState.RUNNING):
            rollout = next(iter(simulation.ledger.rollouts.values()))
            serving = sum(world.machines[node].in_service for node in found.nodes)
            if serving < found.lowest:
                found.lowest, found.lowest_at = serving, world.now
            if world.now - self.last >= self.every_seconds or rollout.state is not RolloutState.RUNNING:
                self.last = world.now
                found.picture.append((world.now, {node: _letter(world, node) for node in found.nodes}))
            found.state = rollout.state
            if rollout.state is not RolloutState.RUNNING:
                found.seconds = world.now


def _letter(world: World, node: NodeId) -> str:
    machine: Machine = world.machines[node]
    for run in machine.runs:
        if run.step.verb in DOING:
            return DOING[run.step.verb]
    if machine.in_service:
        return "."
    if not machine.reachable or machine.broken:
        return "x"
    return "d" if world.jobs_on(node) else "w"


def _sum_up(simulation: Simulation, found: Rolled, nevers: Nevers) -> None:
    world = simulation.world
    release = world.declared.releases[found.ask.release]
    observed = simulation.look()
    found.on_release = sum(is_on(observed.nodes[node], release) is True for node in found.nodes)
    found.in_service = sum(world.machines[node].in_service for node in found.nodes)
    found.steps = Counter(str(begun.verb) for begun in world.begun)
    reboots = Counter(begun.node for begun in world.begun if begun.verb is Verb.REBOOT and begun.index in world.acted)
    found.most_reboots = max(reboots.values(), default=0)
    found.jobs = Counter(job.state for job in world.jobs.values())
    found.jobs["killed"] = sum(job.killed for job in world.jobs.values())
    found.jobs["requeued"] = sum(job.preempted for job in world.jobs.values())
    found.passes, found.crashes = simulation.passes, simulation.crashes
    found.held = simulation.last.held if simulation.last is not None else ()
    found.broken = (*nevers.broken, *world.violations, *simulation.failures)
