"""Fake ports onto a simulated world. They show what a real one would show: never the truth behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from fleet.errors import FleetError
from fleet.model.health import Gap, Severity, Signal
from fleet.model.ids import FLEET, NodeId, OrderId
from fleet.model.observation import Cordon, Job, NodeSeen, Power
from fleet.model.order import Done, Failed, Outcome
from fleet.model.plan import Plan, Step
from fleet.model.topology import DeclaredNode
from fleet.sim import work
from fleet.sim.agenda import moment
from fleet.sim.world import Claim, Fault, Machine, World

WATCH_FADES = 3600.0
"""After how many seconds a mere note is no longer shown."""


@dataclass(slots=True)
class SimClock:
    """The controller's clock in virtual time. `ahead` is how wrong it is."""

    world: World
    ahead: float = 0.0

    def now(self) -> datetime:
        """What the controller takes for now."""
        return moment(self.world.now) + timedelta(seconds=self.ahead)

    def monotonic(self) -> float:
        """Seconds that have really passed."""
        return self.world.now

    def sleep(self, seconds: float) -> None:
        """Nobody waits in virtual time; the agenda moves it."""


@dataclass(slots=True)
class Hosts:
    """What SSH shows of the nodes."""

    world: World

    def look(self, nodes: Sequence[DeclaredNode]) -> Mapping[NodeId, NodeSeen]:
        """One partial view for each node that is asked for."""
        return {node.id: self._one(node.id) for node in nodes}

    def _one(self, node: NodeId) -> NodeSeen:
        machine = self.world.machines.get(node)
        if machine is None or not machine.reachable:
            return NodeSeen(id=node, reachable=False, gaps=(Gap("ssh", "no answer"),))
        dark = [part for part, value in machine.facts.items() if value == "unreadable"]
        return NodeSeen(
            id=node,
            reachable=True,
            boot=machine.boot,
            serial=machine.serial,
            shown={part: version for part, version in machine.shown.items() if part not in dark},
            packages=dict(machine.packages),
            accelerators=machine.devices if machine.expected_devices else None,
            holders=tuple(holder.what for holder in machine.holders if holder.up),
            lock=machine.lock,
            token=machine.token,
            signals=tuple(_signal(self.world, machine, fault) for fault in visible(self.world, machine)),
            gaps=tuple(Gap(part, "unreadable") for part in dark),
            kernel=machine.shown.get("kernel", str(machine.facts.get("kernel", ""))),
            intact=not machine.corrupt,
        )


def visible(world: World, machine: Machine) -> list[Fault]:
    """The evidence that a correct reader reports: notes fade, and lines of before this boot are history.

    What is really broken shows itself again after a boot.
    """
    return [
        fault
        for fault in machine.faults
        if (fault.at >= machine.booted_at or fault.real)
        and not (fault.severity is Severity.WATCH and world.now - fault.at >= WATCH_FADES)
    ]


def _signal(world: World, machine: Machine, fault: Fault) -> Signal:
    return Signal(
        node=machine.id,
        what=fault.what,
        severity=fault.severity,
        at=moment(max(fault.at, machine.booted_at)) if fault.real else moment(fault.at),
        device=fault.device,
        text=fault.text,
        source="simulated",
    )


@dataclass(slots=True)
class Bmcs:
    """What the BMCs show."""

    world: World

    def look(self, nodes: Sequence[DeclaredNode]) -> Mapping[NodeId, NodeSeen]:
        """Power and serial of each node."""
        return {node.id: self._one(node.id) for node in nodes}

    def _one(self, node: NodeId) -> NodeSeen:
        machine = self.world.machines.get(node)
        if machine is None or machine.removed or not machine.feed:
            return NodeSeen(id=node, gaps=(Gap("bmc", "no answer"),))
        power = Power.ON if machine.switched_on else Power.OFF
        return NodeSeen(id=node, power=power, serial=machine.serial)


UP_WORDS = {"DOWN": False, "NOT_RESPONDING": False}
WORK_WORDS = {"ALLOCATED": True, "MIXED": True, "COMPLETING": True, "IDLE": False, "DOWN": False}


@dataclass(slots=True)
class Scheduler:
    """A scheduler that keeps every owner's claim apart, and can be made to say anything."""

    world: World

    def look(self, nodes: Sequence[DeclaredNode]) -> Mapping[NodeId, NodeSeen]:
        """Who closed each node, and what work is on it."""
        return {node.id: self._one(node.id) for node in nodes}

    def _one(self, node: NodeId) -> NodeSeen:
        machine = self.world.machines.get(node)
        if machine is None or machine.removed:
            return NodeSeen(id=node, scheduler_up=False, has_work=False)
        if self.world.scheduler_silent:
            return NodeSeen(id=node, gaps=(Gap("scheduler", "no answer"),))
        jobs = tuple(
            Job(
                id=job.id,
                nodes=job.nodes,
                ends=moment(job.began + job.runs) if job.runs is not None else None,
            )
            for job in self.world.jobs_on(node)
        )
        up, busy = machine.reachable, bool(jobs)
        if machine.says:
            words = machine.says.upper().replace(",", " ").replace("+", " ").split()
            up = all(UP_WORDS.get(word, True) for word in words)
            told = [WORK_WORDS[word] for word in words if word in WORK_WORDS]
            busy = any(told) if told else busy
        return NodeSeen(
            id=node,
            cordons=tuple(
                Cordon(hold.owner, hold.reason, moment(hold.since).isoformat(), by_machine=hold.owner == FLEET)
                for hold in machine.holds
            ),
            scheduler_up=up,
            has_work=busy,
            work=jobs,
        )

    def cordon(self, node: NodeId, order: OrderId, reason: str) -> Outcome:
        """Close a node in our name."""
        machine = self.world.machines[node]
        if self.world.scheduler_silent:
            return Failed("the scheduler gave no answer")
        if not machine.ours:
            machine.holds.append(Claim(FLEET, reason, self.world.now, order))
        return Done()

    def uncordon(self, node: NodeId, order: OrderId) -> Outcome:
        """Give up our claim."""
        if self.world.scheduler_silent:
            return Failed("the scheduler gave no answer")
        machine = self.world.machines[node]
        machine.holds = [hold for hold in machine.holds if hold.owner != FLEET]
        work.start_waiting(self.world)
        return Done()

    def cordon_as(self, node: NodeId, person: str, reason: str) -> Outcome:
        """Close a node in a person's name."""
        self.world.machines[node].holds.append(Claim(person, reason, self.world.now))
        return Done()

    def uncordon_as(self, node: NodeId, person: str) -> Outcome:
        """Lift a person's claim; who has none there opens the node over everybody else's."""
        machine = self.world.machines[node]
        mine = machine.holds_of(person)
        machine.holds = [hold for hold in machine.holds if hold not in mine] if mine else []
        work.start_waiting(self.world)
        return Done()

    def requeue(self, node: NodeId, order: OrderId) -> Outcome:
        """Take the work off a node and queue it again."""
        work.requeue(self.world, node)
        return Done()


@dataclass(slots=True)
class Told:
    """Keeps what people were told."""

    world: World

    def tell(self, key: str, title: str, text: str) -> None:
        """Each key once."""
        if all(key != known for _, known, _ in self.world.told):
            self.world.told.append((self.world.now, key, f"{title} {text}"))


@dataclass(slots=True)
class Followed:
    """Hands each plan and each step's end to whoever follows."""

    plans: list[Callable[[Plan], None]] = field(default_factory=list)

    def planned(self, plan: Plan) -> None:
        """A pass has decided."""
        for follow in self.plans:
            follow(plan)

    def ended(self, step: Step, outcome: Outcome) -> None:
        """A step has ended."""

    def troubled(self, error: FleetError) -> None:
        """A pass could not be made."""
