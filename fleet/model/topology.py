"""What is declared: nodes, the domains they fail with, pools and the site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from fleet.model.economy import Burst, Economy, Tenant
from fleet.model.fabric import DataNeed, Fabric, StorageTier
from fleet.model.hardware import Accelerator, NodeModel, SwitchModel
from fleet.model.ids import NodeId, PoolId, ReleaseId
from fleet.model.plant import Plant
from fleet.model.policy import Policy
from fleet.model.release import Release


class Disposition(StrEnum):
    """What git says of a node."""

    IN_SERVICE = "in_service"
    PARKED = "parked"
    RETIRED = "retired"


class DomainKind(StrEnum):
    """Kinds of things that fail together, each with a budget and a floor of its own."""

    POOL = "pool"
    RACK = "rack"
    FEED = "feed"
    LOOP = "loop"
    LEAF = "leaf"
    NVLINK = "nvlink"
    QUOTA = "quota"
    SITE = "site"

    __hash__ = str.__hash__  # Enum's own hash is a Python call


class Domain(NamedTuple):
    """One thing that fails together: `rack a1`, `feed B`, `pool train`. A tuple: the plan hashes it for every node."""

    kind: DomainKind
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class DeclaredNode:
    """One machine as git declares it. `domains` holds every domain that it is a member of, its pool among them."""

    id: NodeId
    pool: PoolId
    serial: str
    domains: tuple[Domain, ...]
    address: str = ""
    bmc: str = ""
    accelerators: int = 0
    disposition: Disposition = Disposition.IN_SERVICE
    rack: str = ""
    slot: int | None = None
    release: ReleaseId | None = None  # an override; the pool's otherwise
    confirmed_by: str = ""  # who declared it retired, where the declaration itself carries the confirmation
    place: str = ""  # file:line
    model: NodeModel | None = None  # with what the site, the pool and the node itself say of it
    mac: str = ""


class PoolPurpose(StrEnum):
    """What a pool is for."""

    TRAINING = "training"
    INFERENCE = "inference"
    INTERACTIVE = "interactive"
    BURST = "burst"
    SERVICE = "service"


@dataclass(frozen=True, slots=True)
class Pool:
    """Nodes alike: one accelerator, one release, one policy, one partition of the scheduler.

    `data_class` names how the data on it may travel; `regions` are where it may lie, empty: anywhere.
    """

    id: PoolId
    accelerator: str
    vendor: str
    release: ReleaseId
    policy: Policy
    partition: str = ""
    place: str = ""
    purpose: PoolPurpose = PoolPurpose.TRAINING
    scheduler: str = "slurm"
    tenants: tuple[Tenant, ...] = ()
    priority: int = 0
    data_class: str = ""
    regions: tuple[str, ...] = ()
    need: DataNeed | None = None


@dataclass(frozen=True, slots=True)
class Declared:
    """A whole site as git declares it. `refused` names policy edits that contradict themselves (last good one kept)."""

    site: str
    nodes: Mapping[NodeId, DeclaredNode]
    pools: Mapping[PoolId, Pool]
    releases: Mapping[ReleaseId, Release] = field(default_factory=dict)
    region: str = ""
    plant: Plant = field(default_factory=Plant)
    fabrics: Mapping[str, Fabric] = field(default_factory=dict)
    storage: Mapping[str, StorageTier] = field(default_factory=dict)
    bursts: Mapping[str, Burst] = field(default_factory=dict)
    economy: Economy = field(default_factory=Economy)
    accelerators: Mapping[str, Accelerator] = field(default_factory=dict)
    switch_models: Mapping[str, SwitchModel] = field(default_factory=dict)
    approvers: tuple[str, ...] | None = None  # whose key may sign approvals (patterns too); None: nobody has looked

    def target(self, node: DeclaredNode) -> ReleaseId:
        """The release that git names for a node: its own, or its pool's."""
        return node.release or self.pools[node.pool].release
