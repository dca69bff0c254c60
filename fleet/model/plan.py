"""The decision: steps that may be taken now, nodes that wait and why, and what the ledger is to record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from fleet.model.health import Case
from fleet.model.ids import Because, CaseId, NodeId, OrderId, Purpose, ReleaseId, RolloutId, Verb
from fleet.model.order import RolloutState


@dataclass(frozen=True, slots=True)
class Step:
    """One verb on one node in this pass, under an order (new ones are opened by an `OrderOpened` in the same plan)."""

    order: OrderId
    node: NodeId
    verb: Verb
    purpose: Purpose
    release: ReleaseId | None = None
    force: bool = False  # the drain's deadline passed and policy said so beforehand
    why: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """A node that wants work and may not have it. `names` are the nodes, people, jobs or processes to blame."""

    node: NodeId
    purpose: Purpose
    reason: Because
    names: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class OrderOpened:
    """A new order."""

    order: OrderId
    node: NodeId
    purpose: Purpose
    release: ReleaseId | None = None
    rollout: RolloutId | None = None
    case: CaseId | None = None
    rung: Verb | None = None
    canary: bool = False
    confirmed_by: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class OrderChanged:
    """An open order gets another purpose, target, rung, or turns back."""

    order: OrderId
    purpose: Purpose | None = None
    release: ReleaseId | None = None
    rung: Verb | None = None
    case: CaseId | None = None
    reverting: bool | None = None
    hands: bool | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class OrderClosed:
    """An order ends. `applied` is the release that was made true by it; None leaves the node's baseline as it was."""

    order: OrderId
    node: NodeId
    good: bool
    why: str = ""
    applied: ReleaseId | None = None
    probation_until: datetime | None = None
    rungs: tuple[Verb, ...] = ()  # the remedies that a repair took
    certificate: str = ""  # where the certificate of a retirement lies


@dataclass(frozen=True, slots=True)
class RolloutMoved:
    """A rollout changes its state, or its lists of canaries, passed and failed nodes."""

    rollout: RolloutId
    state: RolloutState
    why: str = ""
    canaries: tuple[NodeId, ...] | None = None
    passed: tuple[NodeId, ...] | None = None
    failed: tuple[NodeId, ...] | None = None


@dataclass(frozen=True, slots=True)
class StepEnded:
    """A step whose end was found by looking, not by being told."""

    order: OrderId
    result: str
    detail: str


@dataclass(frozen=True, slots=True)
class CaseMoved:
    """A case opens, gains evidence, or closes (`case.closed`)."""

    case: Case
    why: str = ""


@dataclass(frozen=True, slots=True)
class Adopted:
    """A node that serves when first seen: what it carries becomes its applied baseline."""

    node: NodeId
    release: ReleaseId | None
    served: bool = True
    why: str = ""


Change = OrderOpened | OrderChanged | OrderClosed | RolloutMoved | StepEnded | CaseMoved | Adopted


@dataclass(frozen=True, slots=True)
class Refusal:
    """A rollout that can't be carried out at all, said before anything is touched."""

    reason: str  # unmeetable incompatible node_off invalid_policy unsigned
    names: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Tell:
    """What a person must hear; `key` makes sure that it is said once."""

    key: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What may be done this pass. `changes` are committed first, then steps begin."""

    at: datetime
    steps: tuple[Step, ...] = ()
    held: tuple[Held, ...] = ()
    changes: tuple[Change, ...] = ()
    out: Mapping[str, int] = field(default_factory=dict)  # nodes out by domain, as text
    notes: tuple[str, ...] = ()
    tell: tuple[Tell, ...] = ()


@dataclass(frozen=True, slots=True)
class RolloutPlan:
    """What a rollout would do, shown before it is confirmed. `identity` is the hash of what it decides."""

    release: ReleaseId
    pool: str
    waves: tuple[tuple[NodeId, ...], ...]
    canaries: tuple[NodeId, ...]
    already: tuple[NodeId, ...]
    held: tuple[Held, ...]
    budget: int
    floor: int
    predicted_seconds: float
    bound_seconds: float
    lowest: int
    irreversible: tuple[str, ...]
    identity: str
    refused: Refusal | None = None
    held_back_by: str = ""
