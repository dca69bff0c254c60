"""What stands where in a lab of n nodes; pure, so that inventory, containers and BMCs agree by construction."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

SUBNET = "10.77.0.0/16"
GATEWAY = "10.77.255.254"
CONTROLLER = "10.77.0.2"
BMC_PORT = 8443
LARGEST = 200
NODES_PER_RACK = 8


class Vendor(StrEnum):
    """Who made the accelerators of a node."""

    AMD = "amd"
    NVIDIA = "nvidia"


@dataclass(frozen=True, slots=True)
class LabPool:
    """Nodes alike, which Slurm sees as one partition of the same name."""

    name: str
    vendor: Vendor
    accelerator: str
    release: str


@dataclass(frozen=True, slots=True)
class LabRack:
    """A rack with its power feed and its leaf switch."""

    name: str
    feed: str
    leaf: str


@dataclass(frozen=True, slots=True)
class LabNode:
    """One container that plays a node; `index` counts from 1."""

    index: int
    name: str
    serial: str
    rack: str
    slot: int
    pool: LabPool

    @property
    def address(self) -> str:
        return f"10.77.1.{self.index}"

    @property
    def bmc_address(self) -> str:
        return f"127.77.1.{self.index}"

    @property
    def bmc_url(self) -> str:
        return f"https://{self.bmc_address}:{BMC_PORT}"

    @property
    def container(self) -> str:
        return f"fleet-lab-{self.name}"


@dataclass(frozen=True, slots=True)
class Layout:
    """The whole lab: racks, pools and nodes in the order of their names."""

    racks: tuple[LabRack, ...]
    pools: tuple[LabPool, ...]
    nodes: tuple[LabNode, ...]

    def node(self, name: str) -> LabNode | None:
        """The node of that name, or None."""
        return next((node for node in self.nodes if node.name == name), None)

    def members(self, pool: str) -> tuple[LabNode, ...]:
        """The nodes of a pool."""
        return tuple(node for node in self.nodes if node.pool.name == pool)


TRAIN = LabPool("train", Vendor.AMD, "MI300X", "amd-2026.1")
INFER = LabPool("infer", Vendor.NVIDIA, "H100", "nvidia-2026.1")


def layout(nodes: int = 6) -> Layout:
    """Two thirds AMD, one third NVIDIA, each spread evenly over racks on alternating feeds; 1 to 200 nodes."""
    if not 1 <= nodes <= LARGEST:
        raise ValueError(f"a lab has 1 to {LARGEST} nodes, not {nodes}")
    racks = _racks(nodes)
    amd = max(1, round(nodes * 2 / 3))
    placed = [(TRAIN, _spread(i, amd, len(racks))) for i in range(amd)]
    placed += [(INFER, _spread(i, nodes - amd, len(racks))) for i in range(nodes - amd)]
    used = dict.fromkeys((rack.name for rack in racks), 0)
    made = []
    for index, (pool, position) in enumerate(placed, start=1):
        rack = racks[position]
        used[rack.name] += 1
        made.append(LabNode(index, f"n{index:02}", f"LAB{index:04}", rack.name, used[rack.name], pool))
    return Layout(racks, (TRAIN, INFER), tuple(made))


def _racks(nodes: int) -> tuple[LabRack, ...]:
    count = max(2, -(-nodes // NODES_PER_RACK))
    count += count % 2
    return tuple(LabRack(f"r{i + 1}", "AB"[i % 2], f"l{i % 2 + 1}") for i in range(count))


def _spread(position: int, of: int, racks: int) -> int:
    return position * racks // of
