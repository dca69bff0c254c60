"""What was seen at one moment, the ledger included. `Observed.at` is the only now that the core knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from fleet.model.health import Case, Gap, Signal
from fleet.model.ids import FLEET, NodeId, OrderId, ReleaseId, RolloutId
from fleet.model.order import Rollout, WorkOrder


class Power(StrEnum):
    """What the BMC says."""

    ON = "on"
    OFF = "off"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Cordon:
    """One owner's claim that a node take no new work."""

    owner: str
    reason: str = ""
    since: str = ""
    by_machine: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of work on a node as the scheduler knows it."""

    id: str
    nodes: tuple[NodeId, ...] = ()
    ends: datetime | None = None
    user: str = ""


@dataclass(frozen=True, slots=True)
class NodeSeen:
    """One node as observed. None and missing keys mean not seen, and then a Gap says why."""

    id: NodeId
    reachable: bool | None = None  # over SSH
    power: Power = Power.UNKNOWN
    boot: str = ""
    serial: str = ""
    shown: Mapping[str, str] = field(default_factory=dict)  # versions by part, as the running node shows them
    packages: Mapping[str, str] = field(default_factory=dict)  # installed now
    accelerators: int | None = None
    cordons: tuple[Cordon, ...] = ()
    scheduler_up: bool | None = None  # registered and responding there
    has_work: bool | None = None
    work: tuple[Job, ...] = ()
    holders: tuple[str, ...] = ()  # processes on accelerators, or steps, that the scheduler doesn't list
    lock: str = ""  # the order whose step runs on the node right now, a killed controller's orphan included
    token: int = 0  # the highest fencing token that the node saw
    signals: tuple[Signal, ...] = ()
    gaps: tuple[Gap, ...] = ()
    kernel: str = ""
    intact: bool | None = None

    @property
    def ours(self) -> bool:
        """Whether we hold a cordon on it."""
        return any(cordon.owner == FLEET for cordon in self.cordons)

    @property
    def foreign(self) -> tuple[Cordon, ...]:
        """Cordons that somebody else holds."""
        return tuple(cordon for cordon in self.cordons if cordon.owner != FLEET)


@dataclass(frozen=True, slots=True)
class Enrolment:
    """What the ledger keeps of a node as such: identity, what was last made true, whether it ever served."""

    node: NodeId
    serial: str
    host_key: str = ""
    applied: ReleaseId | None = None
    served: bool = False
    fit_since: datetime | None = None  # adopted or verified then: older evidence is history
    retired: bool = False
    certificate: str = ""
    probation_until: datetime | None = None
    probation_rung: str = ""
    tries: tuple[tuple[datetime, str], ...] = ()  # rungs taken in repairs that ended, with the time of their end
    bad_releases: tuple[ReleaseId, ...] = ()


@dataclass(frozen=True, slots=True)
class Hold:
    """A person's word: planned work waits (`freeze`), nothing new starts (`stop`), hands work here (`hands`)."""

    kind: str  # freeze, stop, hands
    nodes: tuple[NodeId, ...]  # empty: all
    by: str
    reason: str
    since: datetime
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Records:
    """The ledger's part of what is observed: open orders, rollouts, cases, what was applied, people's words."""

    orders: Mapping[NodeId, WorkOrder] = field(default_factory=dict)
    rollouts: Mapping[RolloutId, Rollout] = field(default_factory=dict)
    cases: Mapping[NodeId, Case] = field(default_factory=dict)
    enrolled: Mapping[NodeId, Enrolment] = field(default_factory=dict)
    holds: tuple[Hold, ...] = ()
    approvals: Mapping[str, str] = field(default_factory=dict)  # plan or order id -> who
    confirmations: Mapping[NodeId, str] = field(default_factory=dict)  # retirement typed by -> who
    last_entry: datetime | None = None
    token: int | None = None  # the highest fencing token that this ledger ever gave
    observe_only: str = ""  # why this ledger may only look (older than its anchor or a node's token)
    quarantined_at: tuple[tuple[datetime, NodeId], ...] = ()
    breaker: Mapping[str, datetime] = field(default_factory=dict)  # pool -> tripped since


@dataclass(frozen=True, slots=True)
class Observed:
    """All that was seen, at one moment. `clocks` are those of scheduler, nodes and BMCs."""

    at: datetime
    nodes: Mapping[NodeId, NodeSeen]
    records: Records = field(default_factory=Records)
    clocks: tuple[datetime, ...] = ()
    gaps: tuple[Gap, ...] = ()
    in_flight: frozenset[OrderId] = frozenset()  # orders with a step that this controller is carrying out now
    since_last: float = 0.0  # seconds of honest waiting since the pass before (monotonic)
