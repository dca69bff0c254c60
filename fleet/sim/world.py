"""The truth of a simulated fleet: machines, what runs on them, who closed them, what is broken.

Nothing here is what fleet believes. Statements and properties are judged on this, and the fake ports show parts of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from fleet.model.health import Severity
from fleet.model.ids import FLEET, NodeId, OrderId, Purpose, ReleaseId, Verb
from fleet.model.plan import Step
from fleet.model.release import Release
from fleet.model.topology import Declared
from fleet.sim.agenda import Agenda
from fleet.sim.answers import Answer, Answers


@dataclass(slots=True)
class Fault:
    """One piece of evidence on a node. `real` says whether something is broken behind it."""

    what: str
    severity: Severity
    at: float
    device: str = ""
    text: str = ""
    real: bool = True


@dataclass(slots=True)
class Claim:
    """A claim in the scheduler that a node take no new work."""

    owner: str
    reason: str
    since: float
    order: str = ""


@dataclass(slots=True)
class Holder:
    """Something the scheduler does not know that uses an accelerator."""

    what: str
    service: bool
    up: bool = True


@dataclass(slots=True)
class Work:
    """A job: which nodes it wants, how far it got, what was lost of it."""

    id: str
    nodes: tuple[NodeId, ...]
    runs: float | None  # seconds; None is endless
    state: str = "queued"  # queued running finished failed
    began: float = 0.0
    saved: float = 0.0  # when its last checkpoint was taken
    preempted: int = 0
    lost: float = 0.0
    killed: int = 0  # torn down by a disruptive verb that nobody had announced
    turn: int = 0  # so that the end of an earlier start does not end a later one


@dataclass(slots=True)
class RunningStep:
    """A step that is being carried out in the world, whether anybody still waits for it or not."""

    step: Step
    token: int
    began: float
    ends: float
    release: Release | None
    answer: Answer | None
    index: int  # of its entry in `World.begun`
    alive: bool = True  # somebody will hear its result


@dataclass(slots=True)
class Machine:
    """One node as it really is."""

    id: NodeId
    serial: str
    feed: bool = True  # there is power on its feed
    switched_on: bool = True
    up: bool = True  # booted
    network: bool = True
    boots: int = 1
    booted_at: float = -1e9
    packages: dict[str, str] = field(default_factory=dict)
    installed: dict[str, str] = field(default_factory=dict)  # by part, what the packages on disk carry
    shown: dict[str, str] = field(default_factory=dict)  # by part, as the running node shows it
    corrupt: set[str] = field(default_factory=set)
    faults: list[Fault] = field(default_factory=list)
    facts: dict[str, object] = field(default_factory=dict)
    devices: int = 0
    expected_devices: int = 0
    holds: list[Claim] = field(default_factory=list)
    marks: list[tuple[str, str]] = field(default_factory=list)
    holders: list[Holder] = field(default_factory=list)
    runs: list[RunningStep] = field(default_factory=list)
    token: int = 0
    says: str = ""  # what the scheduler is made to say of it, literally
    removed: bool = False
    proved: bool = True  # a verify passed since the last disruptive verb began
    exported: bool = False
    wiped: bool = False
    revoked: bool = False

    @property
    def powered(self) -> bool:
        """Whether electricity reaches it and it is switched on."""
        return self.feed and self.switched_on

    @property
    def reachable(self) -> bool:
        """Whether SSH would answer."""
        return self.powered and self.up and self.network and not self.removed

    @property
    def boot(self) -> str:
        """Its boot identity."""
        return f"{self.id}-{self.boots}"

    @property
    def broken(self) -> bool:
        """Whether a real fatal fault is on it."""
        return any(fault.real and fault.severity is Severity.FATAL for fault in self.faults)

    @property
    def sick(self) -> bool:
        """Whether a real fault is on it that a verify would find."""
        return any(fault.real and fault.severity is not Severity.WATCH for fault in self.faults)

    @property
    def in_service(self) -> bool:
        """Open, up, reachable and not broken, in truth."""
        return self.reachable and not self.holds and not self.broken

    def holds_of(self, owner: str) -> list[Claim]:
        """The claims of one owner."""
        return [hold for hold in self.holds if hold.owner == owner]

    @property
    def ours(self) -> bool:
        """Whether fleet holds it."""
        return bool(self.holds_of(FLEET))

    @property
    def lock(self) -> str:
        """The order whose step runs on it."""
        return next((run.step.order for run in self.runs if run.step.verb in ON_NODE), "")

    def shows(self, release: Release) -> bool:
        """Whether it shows every part of a release."""
        return all(self.shown.get(part) == version for part, version in release.versions.items())


@dataclass(frozen=True, slots=True)
class Begun:
    """A step that began: what a statement about verbs is judged on."""

    at: float
    index: int
    verb: Verb
    node: NodeId
    order: OrderId
    purpose: Purpose
    first: bool  # of its order
    jobs: tuple[str, ...]  # that ran on the node
    work: tuple[str, ...]  # jobs and people's processes that it would have torn down
    force: bool
    was_in: bool  # the node was in service
    opened: bool  # an uncordon that really opens the node
    beside: int  # mutating steps that already ran there
    closed_by: tuple[str, ...]  # who held the node then
    proved: bool  # a verify had passed since the last disruptive verb
    evident: bool  # it showed a fatal fault, true or not
    blind: bool  # SSH or the scheduler gave no answer then


@dataclass(slots=True)
class World:
    """The fleet as it really is, with its agenda."""

    declared: Declared
    agenda: Agenda = field(default_factory=Agenda)
    machines: dict[NodeId, Machine] = field(default_factory=dict)
    jobs: dict[str, Work] = field(default_factory=dict)
    waiting: dict[str, Work] = field(default_factory=dict)  # queued jobs, oldest first
    placed: dict[NodeId, list[Work]] = field(default_factory=dict)  # running jobs by node; `work` keeps it
    answers: Answers = field(default_factory=Answers)
    begun: list[Begun] = field(default_factory=list)
    orders_seen: set[OrderId] = field(default_factory=set)
    scheduler_silent: bool = False
    told: list[tuple[float, str, str]] = field(default_factory=list)  # when, key, text
    cures: Mapping[str, Verb] = field(default_factory=dict)  # which rung mends which fault
    services: frozenset[str] = frozenset()  # may be stopped for a disruptive verb
    durations: dict[Verb, float] = field(default_factory=dict)
    bad: tuple[ReleaseId, ...] = ()  # releases under which no node is fit
    took: dict[NodeId, float] = field(default_factory=dict)  # seconds of all steps carried out, by node
    boot_seconds: float = 120.0
    most_beside: dict[NodeId, int] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    lifted: dict[NodeId, set[str]] = field(default_factory=dict)  # claims that somebody lifted since the last pass
    ever_sick: set[NodeId] = field(default_factory=set)  # nodes that ever gave a sign of a fault, true or not
    acted: set[int] = field(default_factory=set)  # entries of `begun` that really did what they are for
    jitter: list[float] = field(default_factory=list)  # factors for the durations of steps, taken in turn

    @property
    def now(self) -> float:
        """Seconds since the start."""
        return self.agenda.now

    def jobs_on(self, node: NodeId) -> list[Work]:
        """The jobs that run on a node now."""
        return list(self.placed.get(node, ()))

    def some(self, nodes: Iterable[NodeId]) -> Iterator[Machine]:
        """The machines of these nodes that exist."""
        for node in nodes:
            if (machine := self.machines.get(node)) is not None:
                yield machine


ON_NODE = frozenset(
    {
        Verb.CONVERGE,
        Verb.REVERT,
        Verb.RESTART_SERVICE,
        Verb.RELOAD_DRIVER,
        Verb.RESET_GPU,
        Verb.REBOOT,
        Verb.REIMAGE,
        Verb.WIPE,
        Verb.FLASH,
        Verb.CORRECT_LIVE,
    }
)
"""Verbs that run on the node under its lock, so that a second run there is refused."""

DISRUPTS = frozenset(
    {
        Verb.CONVERGE,
        Verb.REVERT,
        Verb.RELOAD_DRIVER,
        Verb.RESET_GPU,
        Verb.REBOOT,
        Verb.POWER_CYCLE,
        Verb.REIMAGE,
        Verb.FLASH,
        Verb.WIPE,
        Verb.REVOKE,
        Verb.POWER_OFF,
    }
)
"""What disrupts work, said here once more on purpose: properties do not trust the table of the core."""

MUTATES = DISRUPTS | {Verb.RESTART_SERVICE, Verb.CORRECT_LIVE}
