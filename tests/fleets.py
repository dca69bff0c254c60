"""Small fleets for tests: `Fleet` builds what is declared and observed, and plans."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from fleet.model.health import Case, Severity
from fleet.model.ids import FLEET, CaseId, NodeId, OrderId, PoolId, Purpose, ReleaseId, RolloutId, Verb
from fleet.model.observation import Cordon, Enrolment, Job, NodeSeen, Observed, Power, Records
from fleet.model.order import Result, Rollout, RolloutState, StepRecord, WorkOrder
from fleet.model.plan import Held, Plan, Step
from fleet.model.policy import Amount, Policy
from fleet.model.release import Package, Release
from fleet.model.topology import Declared, DeclaredNode, Domain, DomainKind, Pool
from fleet.planning.planner import plan

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
OLD, NEW = ReleaseId("r1"), ReleaseId("r2")


def release(name: ReleaseId, driver: str, **more: object) -> Release:
    """A release of one package, `driver`, that a reboot makes effective."""
    made = Release(
        name, {"driver": driver}, (Verb.REBOOT,), (Package("amdgpu-dkms", driver, "0" * 64, "driver"),), "amd"
    )
    return replace(made, **more)  # type: ignore[arg-type]


@dataclass
class Fleet:
    """`count` nodes n1.. in racks of two, all serving, idle, on the old release; change what a test is about."""

    count: int = 6
    policy: Policy = field(default_factory=Policy)
    seen: dict[NodeId, NodeSeen] = field(default_factory=dict)
    enrolled: dict[NodeId, Enrolment] = field(default_factory=dict)
    nodes: dict[NodeId, DeclaredNode] = field(default_factory=dict)
    orders: dict[NodeId, WorkOrder] = field(default_factory=dict)
    cases: dict[NodeId, Case] = field(default_factory=dict)
    rollouts: dict[RolloutId, Rollout] = field(default_factory=dict)
    records: dict[str, object] = field(default_factory=dict)
    releases: dict[ReleaseId, Release] = field(default_factory=lambda: {OLD: release(OLD, "1"), NEW: release(NEW, "2")})
    at: datetime = AT
    clocks: tuple[datetime, ...] = ()
    in_flight: frozenset[OrderId] = frozenset()

    def __post_init__(self) -> None:
        for number in range(1, self.count + 1):
            name = NodeId(f"n{number}")
            rack = f"a{(number + 1) // 2}"
            domains = (Domain(DomainKind.POOL, "train"), Domain(DomainKind.RACK, rack))
            self.nodes[name] = DeclaredNode(name, PoolId("train"), f"S{number}", domains, rack=rack)
            self.seen[name] = NodeSeen(
                name,
                reachable=True,
                power=Power.ON,
                boot="b1",
                shown={"driver": "1"},
                packages={"amdgpu-dkms": "1"},
                scheduler_up=True,
                has_work=False,
            )
            self.enrolled[name] = Enrolment(
                name, f"S{number}", applied=OLD, served=True, fit_since=AT - timedelta(days=9)
            )

    def change(self, name: str, **what: object) -> None:
        """Change what is seen of a node."""
        self.seen[NodeId(name)] = replace(self.seen[NodeId(name)], **what)  # type: ignore[arg-type]

    def busy(self, name: str, job: str = "j1", ends: datetime | None = None) -> None:
        """A job runs on the node."""
        self.change(name, has_work=True, work=(Job(job, (NodeId(name),), ends),))

    def cordoned(self, name: str, by: str = FLEET) -> None:
        """Somebody holds the node closed."""
        self.change(name, cordons=(*self.seen[NodeId(name)].cordons, Cordon(by, "a reason")))

    def upgraded(self, name: str) -> None:
        """The node carries and shows the new release."""
        self.change(name, shown={"driver": "2"}, packages={"amdgpu-dkms": "2"})

    def roll(self, **what: object) -> Rollout:
        """A running rollout of the new release to all nodes."""
        made = Rollout(RolloutId("roll"), PoolId("train"), NEW, AT, RolloutState.RUNNING, tuple(self.nodes))
        self.rollouts[made.id] = replace(made, **what)  # type: ignore[arg-type]
        return self.rollouts[made.id]

    def order(
        self, name: str, *steps: tuple[Verb, Result], purpose: Purpose = Purpose.UPGRADE, **what: object
    ) -> WorkOrder:
        """An open order with a history, a minute for each step."""
        began = AT - timedelta(minutes=len(steps))
        history = tuple(
            StepRecord(verb, n, began + timedelta(minutes=n), "b1", "", began + timedelta(minutes=n), result)
            for n, (verb, result) in enumerate(steps)
        )
        history = tuple(replace(s, ended=None) if s.result is Result.RUNNING else s for s in history)
        made = WorkOrder(OrderId(f"o-{name}"), NodeId(name), purpose, began, NEW, steps=history)
        self.orders[NodeId(name)] = replace(made, **what)  # type: ignore[arg-type]
        return self.orders[NodeId(name)]

    def case(self, name: str, what: str = "xid_79", severity: Severity = Severity.FATAL) -> Case:
        """An open case of the node."""
        self.cases[NodeId(name)] = Case(CaseId(f"c-{name}"), NodeId(name), (what,), severity, AT, AT)
        return self.cases[NodeId(name)]

    def declared(self) -> Declared:
        """What git says."""
        pool = Pool(PoolId("train"), "MI300X", "amd", OLD, self.policy)
        return Declared("lab", self.nodes, {pool.id: pool}, self.releases)

    def observed(self) -> Observed:
        """What was seen."""
        records = Records(
            orders=self.orders,
            rollouts=self.rollouts,
            cases=self.cases,
            enrolled=self.enrolled,
            **self.records,  # type: ignore[arg-type]
        )
        return Observed(self.at, self.seen, records, self.clocks, in_flight=self.in_flight)

    def plan(self) -> Plan:
        """The decision of one pass."""
        return plan(self.declared(), self.observed())


def steps(found: Plan) -> dict[str, Verb]:
    """The verb of each node in a plan."""
    return {step.node: step.verb for step in found.steps}


def step(found: Plan, node: str) -> Step:
    """The step of one node."""
    return next(step for step in found.steps if step.node == node)


def held(found: Plan, node: str) -> Held:
    """Why one node waits."""
    return next(held for held in found.held if held.node == node)


def nodes(count: int | None = None, percent: float | None = None) -> Amount:
    """An amount of nodes."""
    return Amount(count, percent)
