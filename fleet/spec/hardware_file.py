"""The shape of models.yaml: boards, machines and switches of a site's own, or what it measured on known ones."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from fleet.model.hardware import Coolant, Nic, NodeKind
from fleet.spec.quantities import Amperes, GBps, Gbps, Gibibytes, Kilograms, Share, Watts
from fleet.spec.words import STRICT, Name, Short, Text


def _counted(value: object) -> object:
    """`8 x 400 Gb/s` is short for `{count: 8, speed: 400 Gb/s}`."""
    if isinstance(value, str):
        count, cross, speed = value.partition(" x ")
        return {"count": count.strip(), "speed": speed.strip()} if cross else {"count": "1", "speed": value.strip()}
    return value


class NicFile(BaseModel):
    """Network ports of one kind."""

    model_config = STRICT
    count: int = Field(1, ge=1, le=256)
    speed: Gbps
    fabric: Name | Literal[""] = ""

    def as_nic(self) -> Nic:
        """The model's."""
        return Nic(self.count, self.speed, self.fabric)


class HardwareFile(BaseModel):
    """What may be said of a machine by its model, its pool, its site or itself."""

    model_config = STRICT
    kind: NodeKind | None = None
    units: int | None = Field(None, ge=1, le=60)
    accelerators: int | None = Field(None, ge=0, le=128)
    accelerator: Text | None = None
    power: Watts | None = None
    measured: Watts | None = None
    idle: Watts | None = None
    psus: int | None = Field(None, ge=1, le=32)
    psus_needed: int | None = Field(None, ge=1, le=32)
    psu_power: Watts | None = None
    psu_efficiency: Share | None = None
    power_factor: Annotated[float, Field(gt=0, le=1)] | None = None
    inrush: Amperes | None = None
    cooling: Coolant | None = None
    liquid_share: Share | None = None
    weight: Kilograms | None = None
    memory: Gibibytes | None = None
    numa: int | None = Field(None, ge=1, le=64)
    cxl: Gibibytes | None = None
    pcie: GBps | None = None
    nics: list[Annotated[NicFile, Short(_counted, {"type": "string"})]] | None = None
    price: Annotated[float, Field(ge=0)] | None = None


class ModelFile(HardwareFile):
    """A model: `like` another, or as a NetBox device type says, with what differs."""

    like: Text | None = None
    netbox: Text | None = None
    source: Text | None = None


class BoardFile(BaseModel):
    """An accelerator of a site's own."""

    model_config = STRICT
    vendor: Text
    memory: Gibibytes | None = None
    power: Watts | None = None
    source: Text | None = None


class SwitchFile(BaseModel):
    """A switch of a site's own."""

    model_config = STRICT
    ports: int = Field(ge=1, le=4096)
    speed: Gbps
    units: int | None = Field(None, ge=1, le=60)
    power: Watts | None = None


class ModelsFile(BaseModel):
    """models.yaml."""

    model_config = STRICT
    models: dict[Text, ModelFile] = {}
    boards: dict[Text, BoardFile] = {}
    switches: dict[Text, SwitchFile] = {}
