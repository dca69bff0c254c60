"""Work orders, their steps and results, rollouts: the part of the world that can't be seen by looking at nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from fleet.model.ids import CaseId, NodeId, OrderId, PoolId, Purpose, ReleaseId, RolloutId, Verb


@dataclass(frozen=True, slots=True)
class Done:
    """The verb was carried out. `shown` are figures worth keeping (versions, burn-in)."""

    detail: str = ""
    shown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Again:
    """Not yet: ask again after a while."""

    after: timedelta
    why: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The verb ran and did not succeed."""

    why: str


@dataclass(frozen=True, slots=True)
class Lost:
    """Nobody knows how it ended; look before doing it again."""

    why: str


Outcome = Done | Again | Failed | Lost


class Result(StrEnum):
    """An outcome as the ledger keeps it. `running` is an entry without an end."""

    RUNNING = "running"
    DONE = "done"
    AGAIN = "again"
    FAILED = "failed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step as the ledger keeps it: written before it begins, ended when its result is known.

    `boot` and `firmware` are what the node showed just before, so that after a crash we can look whether it happened.
    """

    verb: Verb
    token: int
    began: datetime
    boot: str = ""
    firmware: str = ""
    ended: datetime | None = None
    result: Result = Result.RUNNING
    detail: str = ""


@dataclass(frozen=True, slots=True)
class WorkOrder:
    """The open record of one purpose on one node. `steps` is its history, oldest first."""

    id: OrderId
    node: NodeId
    purpose: Purpose
    opened: datetime
    release: ReleaseId | None = None
    rollout: RolloutId | None = None
    case: CaseId | None = None
    rung: Verb | None = None
    canary: bool = False
    reverting: bool = False
    steps: tuple[StepRecord, ...] = ()
    moved: datetime | None = None  # when purpose, rung or direction last changed
    waited: timedelta = timedelta(0)  # sum of passes spent draining, never a difference of wall clocks
    approved_by: str = ""
    confirmed_by: str = ""
    mark: int = 0  # steps from here on belong to the present purpose, rung and direction
    hands: bool = False  # climbed to the end of the ladder: a person's turn

    @property
    def running(self) -> StepRecord | None:
        """The step that was begun and has no end yet."""
        last = self.steps[-1] if self.steps else None
        return last if last is not None and last.result is Result.RUNNING else None


class RolloutState(StrEnum):
    """How far a release is on its way to a pool."""

    PLANNED = "planned"
    RUNNING = "running"
    PAUSED = "paused"
    HALTED = "halted"
    REVERTING = "reverting"
    REVERTED = "reverted"
    DONE = "done"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Rollout:
    """A release on its way to a pool. `failed` are nodes whose order failed, `done` those that serve on it."""

    id: RolloutId
    pool: PoolId
    release: ReleaseId
    opened: datetime
    state: RolloutState
    nodes: tuple[NodeId, ...] = ()
    canaries: tuple[NodeId, ...] = ()
    canaries_named: bool = False  # by a person: no other node takes their place
    passed: tuple[NodeId, ...] = ()
    failed: tuple[NodeId, ...] = ()
    by: str = ""
    why: str = ""
    resumed: int = 0
    plan: str = ""  # identity of the plan that was shown and confirmed
    changed: datetime | None = None
