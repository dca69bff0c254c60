"""What the shell asks of the world: Protocols of at most six methods each.

Adapters implement them for foreign systems, `sim.fakes` for a fleet that does not exist. `execution` and `sim` know
only this module. Everything here may block; nothing here decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from fleet.errors import FleetError
from fleet.model.ids import NodeId, OrderId, ReleaseId, Verb
from fleet.model.observation import Enrolment, Hold, NodeSeen, Records
from fleet.model.order import Outcome, Rollout, StepRecord
from fleet.model.plan import Change, Plan, Step
from fleet.model.release import Release
from fleet.model.topology import DeclaredNode


class Clock(Protocol):
    """The time. `now` is UTC and may jump; `monotonic` (seconds) may not."""

    def now(self) -> datetime: ...
    def monotonic(self) -> float: ...
    def sleep(self, seconds: float) -> None: ...


class Observe(Protocol):
    """One source of observation: a partial NodeSeen per node; what it can't see is a Gap in it, never an exception.

    The shell merges the sources (`execution.observe`): a later source fills what an earlier one left unseen.
    """

    def look(self, nodes: Sequence[DeclaredNode]) -> Mapping[NodeId, NodeSeen]: ...


class Schedule(Protocol):
    """The scheduler: closes, empties, opens nodes. Ours is told from foreign; a foreign reason is never overwritten."""

    def look(self, nodes: Sequence[DeclaredNode]) -> Mapping[NodeId, NodeSeen]: ...
    def cordon(self, node: NodeId, order: OrderId, reason: str) -> Outcome: ...
    def uncordon(self, node: NodeId, order: OrderId) -> Outcome: ...
    def cordon_as(self, node: NodeId, person: str, reason: str) -> Outcome: ...
    def uncordon_as(self, node: NodeId, person: str) -> Outcome: ...
    def requeue(self, node: NodeId, order: OrderId) -> Outcome: ...


class Configure(Protocol):
    """What is on a node: one run per verb and batch. Calls `ended` for each node once, as its result is known."""

    def run(
        self,
        verb: Verb,
        steps: Sequence[tuple[Step, DeclaredNode, int]],  # with the fencing token of each
        release: Release | None,
        ended: Callable[[Step, Outcome], None],
    ) -> None: ...
    def cancel(self) -> None: ...


class PowerPort(Protocol):
    """The BMC of a node."""

    def serial(self, node: DeclaredNode) -> str: ...
    def power(self, node: DeclaredNode) -> str: ...
    def turn_on(self, node: DeclaredNode) -> Outcome: ...
    def turn_off(self, node: DeclaredNode) -> Outcome: ...
    def cycle(self, node: DeclaredNode) -> Outcome: ...


class Identity(Protocol):
    """Who a machine says it is, over SSH, before it is trusted. Raises Unavailable where it doesn't answer."""

    def host_key(self, node: DeclaredNode) -> str: ...  # as in known_hosts: "ssh-ed25519 AAAA..."
    def serial(self, node: DeclaredNode) -> str: ...
    def boot(self, node: DeclaredNode) -> str: ...


class Firmware(Protocol):
    """Firmware out of band."""

    def running(self, node: DeclaredNode) -> Mapping[str, str]: ...
    def flash(self, node: DeclaredNode, release: Release) -> Outcome: ...


class Archive(Protocol):
    """Where what must be kept of a node goes before it is wiped."""

    def export(self, node: DeclaredNode, order: OrderId) -> Outcome: ...


class Revoke(Protocol):
    """Takes away what a retired node may do: keys, certificates, registrations."""

    def revoke(self, node: DeclaredNode, order: OrderId) -> Outcome: ...


class Enrol(Protocol):
    """What Pulumi's provider needs of the ledger."""

    def enrolment(self, node: NodeId) -> Enrolment | None: ...
    def by_serial(self, serial: str) -> Enrolment | None: ...
    def enrol(self, enrolment: Enrolment, by: str) -> None: ...
    def released(self, node: NodeId, by: str) -> None: ...  # Pulumi deleted it: only after its certificate


class Ledger(Protocol):
    """The store. `commit` applies changes and their trail entries in one durable transaction."""

    def records(self) -> Records: ...
    def commit(self, changes: Iterable[Change], by: str, at: datetime) -> None: ...
    def begin(self, step: Step, record: StepRecord, by: str) -> int: ...  # durable before the step; gives the token
    def end(self, step: Step, token: int, outcome: Outcome, at: datetime) -> None: ...
    def waited(self, order: OrderId, seconds: float) -> None: ...
    def still_ours(self, node: NodeId, token: int) -> bool: ...


class People(Protocol):
    """What people say to fleet, recorded in the trail: rollouts, holds, approvals, confirmations."""

    def open_rollout(self, rollout: Rollout, by: str) -> None: ...
    def hold(self, hold: Hold) -> None: ...
    def lift(self, kind: str, nodes: Sequence[NodeId], by: str, reason: str, at: datetime) -> int: ...
    def confirm(self, node: NodeId, by: str, at: datetime) -> None: ...
    def approve(self, what: str, by: str, signature: str, at: datetime) -> None: ...
    def note(self, node: NodeId | None, by: str, what: str, why: str, at: datetime) -> None: ...


class Lease(Protocol):
    """The right of one controller to act on a site. Renewed by heartbeat; a holder that went silent is taken over."""

    def take(self, holder: str, at: datetime, ttl_seconds: float) -> bool: ...
    def renew(self, holder: str, at: datetime, ttl_seconds: float) -> bool: ...
    def give(self, holder: str) -> None: ...


class Engine(Protocol):
    """Carries steps out. The embedded one runs them in threads; a distributed one dispatches them."""

    def start(self, steps: Sequence[tuple[Step, int]], ended: Callable[[Step, int, Outcome], None]) -> None: ...
    def alive(self) -> frozenset[OrderId]: ...  # orders with a step that this engine is carrying out now
    def wait(self, seconds: float) -> bool: ...  # until a step ends (True) or the time is up
    def stop(self) -> None: ...


class Notify(Protocol):
    """Tells people what needs them. Few events, deduplicated by the key."""

    def tell(self, key: str, title: str, text: str) -> None: ...


class Watch(Protocol):
    """Follows a pass: what was decided and what ended, for live progress and metrics."""

    def planned(self, plan: Plan) -> None: ...
    def ended(self, step: Step, outcome: Outcome) -> None: ...
    def troubled(self, error: FleetError) -> None: ...  # a pass or an entry that could not be made


class Trust(Protocol):
    """Checks signatures against the one allowed_signers file."""

    def release(self, manifest: bytes, signature: bytes) -> tuple[str, ...]: ...  # who signed; raises Untrusted
    def accepted(self, release: ReleaseId, serial: int) -> bool: ...
