"""What machines are made of: boards, nodes and switches by model, with the figures that a site is judged by."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class NodeKind(StrEnum):
    """What a node is for, as far as place, power, health and retirement care."""

    GPU = "gpu"
    CPU = "cpu"
    STORAGE = "storage"
    LOGIN = "login"
    FPGA = "fpga"
    TPU = "tpu"
    NPU = "npu"


class Coolant(StrEnum):
    """What takes most of the heat away."""

    AIR = "air"
    LIQUID = "liquid"


@dataclass(frozen=True, slots=True)
class Nic:
    """Network ports of one kind that a node has: `count` ports of `gbps` each, for `fabric` where it is named."""

    count: int
    gbps: float
    fabric: str = ""


@dataclass(frozen=True, slots=True)
class Accelerator:
    """A board. `name` is that of the facts (`H100-SXM5`, `MI300X`); None is unknown, never 0."""

    name: str
    vendor: str
    memory_gib: float | None = None
    memory_tbps: float | None = None  # terabytes per second
    power_w: float | None = None
    coolant: Coolant | None = None  # where it is made for one only
    confidence: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class NodeModel:
    """A machine as its maker, or a site that measured it, describes it. None is unknown.

    `max_w` is the nameplate at the inlet; `measured_w` the highest draw that the site has seen, which is what it is
    judged by where it is given. `psus_needed` of `psus` must run to carry `max_w`. `liquid_share` of the heat goes to
    the loop, the rest to the air. `inrush_a` is the peak at power-on at `volts` of its inlet.
    """

    name: str
    kind: NodeKind = NodeKind.GPU
    units: int | None = None
    accelerators: int = 0
    accelerator: str = ""
    max_w: float | None = None
    measured_w: float | None = None
    idle_w: float | None = None
    psus: int | None = None
    psus_needed: int | None = None
    psu_w: float | None = None
    psu_efficiency: float | None = None
    power_factor: float | None = None
    inrush_a: float | None = None
    coolant: Coolant = Coolant.AIR
    liquid_share: float | None = None
    weight_kg: float | None = None
    host_memory_gib: float | None = None
    numa: int | None = None
    cxl_gib: float | None = None
    pcie_gBps: float | None = None  # noqa: N815  # gigabytes per second of one NIC's slot
    nics: tuple[Nic, ...] = ()
    price: float | None = None
    confidence: str = ""
    source: str = ""

    @property
    def draw_w(self) -> float | None:
        """The highest draw to plan with: measured where it was, else the nameplate."""
        return self.measured_w if self.measured_w is not None else self.max_w


@dataclass(frozen=True, slots=True)
class SwitchModel:
    """A switch: `ports` of `gbps` each."""

    name: str
    ports: int
    gbps: float
    units: int | None = None
    max_w: float | None = None
    protocol: str = ""
    confidence: str = ""
    source: str = ""
