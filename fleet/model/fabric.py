"""Networks as declared: switches, cables, and what each is for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class FabricKind(StrEnum):
    """What a fabric is made of, or that it only manages."""

    INFINIBAND = "infiniband"
    ROCE = "roce"
    ETHERNET = "ethernet"
    NVLINK = "nvlink"
    XGMI = "xgmi"
    MANAGEMENT = "management"


class Shape(StrEnum):
    """The plan by which switches are cabled; `as_cabled` has none but its cables."""

    LEAF_SPINE = "leaf_spine"
    FAT_TREE = "fat_tree"
    RAIL_OPTIMISED = "rail_optimised"
    DRAGONFLY = "dragonfly"
    AS_CABLED = "as_cabled"


class Port(NamedTuple):
    """One port of a node or a switch."""

    device: str
    port: str

    def __str__(self) -> str:
        return f"{self.device}:{self.port}"


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch; `tier` is 0 where nodes are plugged in; `group` is its pod, group or rail."""

    name: str
    ports: int
    gbps: float
    tier: int = 0
    group: str = ""
    model: str = ""
    rack: str = ""
    place: str = ""


class Cable(NamedTuple):
    """A cable with the speed of either end. A tuple, since large fabrics have many."""

    a: Port
    b: Port
    a_gbps: float
    b_gbps: float
    place: str = ""

    @property
    def gbps(self) -> float:
        """What goes through: the slower end."""
        return min(self.a_gbps, self.b_gbps)


@dataclass(frozen=True, slots=True)
class Fabric:
    """One network. `oversubscription` is the most that is accepted on any tier (1: non-blocking)."""

    name: str
    kind: FabricKind
    shape: Shape = Shape.AS_CABLED
    switches: Mapping[str, Switch] = field(default_factory=dict)
    cables: tuple[Cable, ...] = ()
    nodes: tuple[str, ...] = ()
    rails: int = 1
    oversubscription: float | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class StorageTier:
    """Where data lies. Gigabytes per second and terabytes."""

    name: str
    kind: str
    read_gBps: float | None = None  # noqa: N815
    write_gBps: float | None = None  # noqa: N815
    capacity_tb: float | None = None
    per_node: bool = False
    fabric: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class DataNeed:
    """What a pool's nodes need of storage: per node to read, and checkpoints of `checkpoint_gb` for the whole job."""

    tier: str
    read_gBps: float | None = None  # noqa: N815
    checkpoint_gb: float | None = None
    checkpoint_within_s: float | None = None
    checkpoint_tier: str = ""
    place: str = ""
