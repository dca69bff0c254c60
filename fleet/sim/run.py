"""One run of a simulated fleet: events, passes of the very controller that runs on real machines, and crashes.

A pass is made at every moment at which something happened, at least once a minute, and again within one moment as long
as the pass before began something. A crash drops the controller and everything that is neither in the ledger nor in
the world.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from fleet.errors import FleetError, NoLease
from fleet.execution.reconcile import Controller, Ports
from fleet.model.ids import NodeId, OrderId, ReleaseId, RolloutId, Verb
from fleet.model.observation import Enrolment, NodeSeen, Observed, Records
from fleet.model.order import Outcome, Result, Rollout, RolloutState, StepRecord, WorkOrder
from fleet.model.plan import Change, Plan, Step
from fleet.model.topology import Declared, DeclaredNode
from fleet.sim.agenda import moment
from fleet.sim.engine import VirtualEngine
from fleet.sim.fakes import Bmcs, Hosts, Scheduler, SimClock, Told
from fleet.sim.ledger import MemoryLedger
from fleet.sim.physics import installed
from fleet.sim.world import Machine, World

PASSES_IN_A_MOMENT = 12


class Crash(BaseException):
    """The controller dies here. Not an Exception: nothing in the product may catch it."""


class Sources:
    """All that can be seen, as one source."""

    def __init__(self, world: World) -> None:
        self._hosts, self._bmcs, self._scheduler = Hosts(world), Bmcs(world), Scheduler(world)

    def look(self, nodes: Sequence[DeclaredNode]) -> dict[NodeId, NodeSeen]:
        """Each node as SSH, its BMC and the scheduler show it."""
        powers, told = self._bmcs.look(nodes), self._scheduler.look(nodes)
        return {node: _joined(seen, powers[node], told[node]) for node, seen in self._hosts.look(nodes).items()}


def _joined(host: NodeSeen, bmc: NodeSeen, scheduler: NodeSeen) -> NodeSeen:
    """What `execution.observe.join` gives for these three, whose fields do not overlap, at a third of its cost."""
    return replace(
        host,
        power=bmc.power,
        serial=host.serial or bmc.serial,
        cordons=scheduler.cordons,
        scheduler_up=scheduler.scheduler_up,
        has_work=scheduler.has_work,
        work=scheduler.work,
        gaps=(*host.gaps, *bmc.gaps, *scheduler.gaps),
    )


@dataclass(slots=True)
class TrippedLedger:
    """The ledger with wires in it: `trip` is called around each durable write, and may raise Crash."""

    inner: MemoryLedger
    trip: Callable[[str], None]

    def records(self) -> Records:
        """As the ledger says."""
        return self.inner.records()

    def commit(self, changes: Iterable[Change], by: str, at: datetime) -> None:
        """A crash can come right after it."""
        listed = tuple(changes)
        self.inner.commit(listed, by, at)
        if listed:
            self.trip("commit")

    def begin(self, step: Step, record: StepRecord, by: str) -> int:
        """A crash can come after the entry and before the step."""
        token = self.inner.begin(step, record, by)
        self.trip("begin")
        return token

    def end(self, step: Step, token: int, outcome: Outcome, at: datetime) -> None:
        """A crash can come before the end is written, or after it."""
        self.trip("before end")
        self.inner.end(step, token, outcome, at)
        self.trip("end")

    def waited(self, order: OrderId, seconds: float) -> None:
        """As the ledger does."""
        self.inner.waited(order, seconds)

    def still_ours(self, node: NodeId, token: int) -> bool:
        """As the ledger does."""
        return self.inner.still_ours(node, token)


@dataclass(slots=True)
class Simulation:
    """A fleet, its ledger, at most one controller, and who watches."""

    world: World
    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    clock: SimClock = field(init=False)
    controller: Controller | None = None
    engine: VirtualEngine | None = None
    last: Plan | None = None
    observed: Observed | None = None
    passes: int = 0
    watchers: list[Callable[[Simulation], None]] = field(default_factory=list)
    crash_at: dict[int, float] = field(default_factory=dict)  # seconds after which numbered durable writes it dies
    restart_seconds: float = 10.0
    writes: int = 0
    crashes: int = 0
    failures: list[str] = field(default_factory=list)
    ends: float = 0.0
    tick_seconds: float = 60.0  # a pass is made at least that often
    share_seconds: float = 0.0  # events within so long share a pass: for large fleets
    shared_until: float = 0.0
    ticking: bool = False
    auto_restart: bool = True
    home: NodeId | None = None  # the node on which the controller lives

    def __post_init__(self) -> None:
        self.clock = SimClock(self.world)

    # The controller

    def start_controller(self) -> None:
        """A controller comes up with an empty memory."""
        if self.controller is not None:
            return
        self.engine = VirtualEngine(self.world)
        ledger = TrippedLedger(self.ledger, self._trip)
        sources = Sources(self.world)
        ports = Ports(
            sources=(sources,),
            schedule=Scheduler(self.world),
            ledger=ledger,
            lease=self.ledger,
            engine=self.engine,
            clock=self.clock,
            notify=Told(self.world),
            certify=self._certify,
        )
        self.controller = Controller(lambda: self.world.declared, ports, "simulated")

    def _certify(self, node: DeclaredNode, order: WorkOrder, at: datetime) -> str:
        """The grade stands for the certificate; a wipe that did not happen has none."""
        wiped = [step for step in order.steps if step.verb is Verb.WIPE and step.result is Result.DONE]
        if not wiped:
            raise FleetError(f"{node.id}: no certificate", "no wipe of this order was verified")
        return self.world.declared.pools[node.pool].policy.wipe.grade

    def kill_controller(self) -> None:
        """It dies with no time to write anything."""
        if self.engine is not None:
            self.engine.stop()
        self.controller = self.engine = None

    def _trip(self, _where: str) -> None:
        self.writes += 1
        delay = self.crash_at.get(self.writes)
        if delay == 0:
            raise Crash
        if delay is not None:
            self.world.agenda.after(delay, self._crashed)

    def _crashed(self) -> None:
        self.crashes += 1
        self.kill_controller()
        if self.auto_restart:
            self.world.agenda.after(self.restart_seconds, self.start_controller)

    # Time

    def run(self, until: float) -> None:
        """Go on until that moment."""
        self.ends = until
        if not self.ticking:
            self.ticking = True
            self.world.agenda.after(0, self._tick)
        agenda = self.world.agenda
        while (following := agenda.next) is not None and following <= until:
            try:
                agenda.advance()
            except Crash:
                self._crashed()
            if agenda.now >= self.shared_until or agenda.next is None:
                self.shared_until = agenda.now + self.share_seconds
                self._moment()

    def _tick(self) -> None:
        self.ticking = self.world.now + self.tick_seconds <= self.ends
        if self.ticking:
            self.world.agenda.after(self.tick_seconds, self._tick)

    def _at_home(self) -> None:
        """A controller that lives on a node goes down and comes up with it."""
        if self.home is None:
            return
        if not self.world.machines[self.home].reachable:
            self.kill_controller()
        else:
            self.start_controller()

    def _moment(self) -> None:
        self._at_home()
        for _ in range(PASSES_IN_A_MOMENT):
            began = self._pass()
            for watch in self.watchers:
                watch(self)
            if not began:
                return

    def _pass(self) -> bool:
        """One pass. True where it changed something, so that another one in the same moment makes sense."""
        if self.controller is None:
            return False
        self.passes += 1
        before = len(self.ledger.trail)
        try:
            self.last = self.controller.one_pass()
        except Crash:
            self._crashed()
            return False
        except NoLease:
            return False
        except FleetError as error:
            self.failures.append(f"{self.world.now:.0f}s: {error}")
            return False
        return len(self.ledger.trail) > before

    def look(self) -> Observed:
        """What a controller would see and remember now."""
        nodes = [node for node in self.world.declared.nodes.values() if node.id in self.world.machines]
        return Observed(
            at=self.clock.now(),
            nodes=Sources(self.world).look(nodes),
            records=self.ledger.records(),
            in_flight=self.engine.alive() if self.engine is not None else frozenset(),
        )

    # People

    def given(self, node: NodeId, by: str, did: str) -> None:
        """A person gives a node back after working on it: the remedy that was theirs is done."""
        self.ledger.give_back(node, by, did, self.clock.now())

    def order_rollout(
        self, release: ReleaseId, nodes: Sequence[NodeId], by: str = "operator", plan: str = ""
    ) -> Rollout:
        """A person orders a release for some nodes of a pool."""
        pool = self.world.declared.pools[self.world.declared.nodes[nodes[0]].pool]
        named = tuple(node for node in pool.policy.canary_nodes if node in nodes)
        found = Rollout(
            id=RolloutId(f"ro-{len(self.ledger.rollouts) + 1}-{pool.id}"),
            pool=pool.id,
            release=release,
            opened=self.clock.now(),
            state=RolloutState.RUNNING,
            nodes=tuple(nodes),
            canaries=named,
            canaries_named=bool(named),
            by=by,
            plan=plan,
            changed=self.clock.now(),
        )
        self.ledger.open_rollout(found, by)
        return found


def populate(declared: Declared, *, seed: int = 0, jitter: float = 0.0) -> Simulation:
    """A healthy, idle fleet that serves on what git declares, enrolled in an empty ledger, with a controller."""
    world = World(declared)
    if jitter:
        chance = random.Random(seed)
        world.jitter = [1.0 + chance.uniform(-jitter, jitter) for _ in range(997)]
    policies = [pool.policy for pool in declared.pools.values()]
    world.cures = {what: rung for policy in policies for what, rung in policy.first_rung.items()}
    world.services = frozenset(name for policy in policies for name in policy.drain.stop_services)
    simulation = Simulation(world)
    for node in declared.nodes.values():
        release = declared.releases[declared.target(node)]
        world.machines[node.id] = machine = Machine(node.id, node.serial or f"SN-{node.id}")
        machine.expected_devices = machine.devices = node.accelerators
        carry(machine, declared, release.id)
        simulation.ledger.enrolled[node.id] = Enrolment(
            node.id, machine.serial, applied=release.id, served=True, fit_since=None
        )
    simulation.ledger.last_entry = moment(0)
    simulation.start_controller()
    return simulation


def carry(machine: Machine, declared: Declared, release_id: str) -> None:
    """Make a machine carry and show a release, as if it always had."""
    release = next(found for found in declared.releases.values() if found.id == release_id)
    machine.packages = {package.name: package.version for package in release.packages}
    machine.installed = installed(release)
    machine.shown = dict(release.versions)
