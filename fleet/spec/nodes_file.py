"""The shape of nodes.yaml: nodes one by one or in blocks (`n[001-200]`), and what differs on single ones."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from fleet.model.topology import Disposition
from fleet.spec.hardware_file import HardwareFile
from fleet.spec.plant_file import Names
from fleet.spec.words import EMPTY, STRICT, Name, Text

Each = Text | list[Text]
"""The same for each node once its placeholders are filled, or a list with one for each."""

Slot = Annotated[int, Field(ge=1, le=200)]


class NodeFile(BaseModel):
    """One node, or a block of nodes alike."""

    model_config = STRICT
    serial: Each
    rack: Names
    pool: Name
    address: Each
    bmc: Each
    mac: Each | None = None
    slot: Slot | list[Slot] | None = None
    model: Text | None = None
    accelerators: int | None = Field(None, ge=0, le=128)
    disposition: Disposition = Disposition.IN_SERVICE
    release: Name | None = None
    nvlink: Names | None = None
    hardware: HardwareFile | None = None


class OverrideFile(BaseModel):
    """What differs on nodes that stand in a block."""

    model_config = STRICT
    serial: Text | None = None
    rack: Name | None = None
    pool: Name | None = None
    address: Text | None = None
    bmc: Text | None = None
    mac: Text | None = None
    slot: Slot | None = None
    model: Text | None = None
    accelerators: int | None = Field(None, ge=0, le=128)
    disposition: Disposition | None = None
    release: Name | None = None
    nvlink: Name | None = None
    hardware: HardwareFile | None = None


class NodesFile(BaseModel):
    """nodes.yaml."""

    model_config = STRICT
    nodes: dict[Names, NodeFile]
    overrides: dict[Names, Annotated[OverrideFile, EMPTY]] = {}
