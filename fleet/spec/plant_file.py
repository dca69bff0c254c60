"""The shape of racks.yaml: rooms, UPS, feeds, loops, leaves and racks. Racks may be written in blocks (`r[01-16]`)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from fleet.model.hardware import Coolant
from fleet.model.plant import Containment, Redundancy
from fleet.spec.quantities import Amperes, Celsius, Kelvin, Kilograms, LitresPerMinute, Share, Volts, Watts
from fleet.spec.words import EMPTY, STRICT, Name, Short

Names = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._,\[\]-]{0,511}$")]
"""One name, or a set of them: `r[01-16]`."""


def _listed(value: object) -> object:
    return [value] if isinstance(value, dict) else value


class LeafFile(BaseModel):
    """A leaf switch as a thing that fails; what it is made of stands in fabrics.yaml."""

    model_config = STRICT


class UpsFile(BaseModel):
    """An uninterruptible supply."""

    model_config = STRICT
    power: Watts | None = None


class FeedFile(BaseModel):
    """A feed: a breaker with its voltage and phases, or a plain limit of power."""

    model_config = STRICT
    volts: Volts | None = None
    phases: Annotated[int, Field(ge=1, le=3)] = 3
    breaker: Amperes | None = None
    derating: Share | None = None
    power: Watts | None = None
    ups: Name | None = None


class LoopFile(BaseModel):
    """A cooling loop: a CDU or several."""

    model_config = STRICT
    capacity: Watts | None = None
    flow: LitresPerMinute | None = None
    supply: Celsius | None = None
    delta: Kelvin | None = None
    units: int = Field(1, ge=1, le=64)
    redundancy: Redundancy = Redundancy.N


class RoomFile(BaseModel):
    """A room and its air."""

    model_config = STRICT
    air: Watts | None = None
    units: dict[Name, Watts] = {}
    redundancy: Redundancy = Redundancy.N
    containment: Containment = Containment.NONE


class CircuitFile(BaseModel):
    """One circuit of a rack."""

    model_config = STRICT
    feed: Name
    volts: Volts | None = None
    phases: Annotated[int, Field(ge=1, le=3)] = 3
    breaker: Amperes | None = None
    derating: Share | None = None
    count: int = Field(1, ge=1, le=16)


class RackFile(BaseModel):
    """One rack, or a block of racks alike."""

    model_config = STRICT
    feed: Names | None = None
    circuits: Annotated[list[CircuitFile], Short(_listed, {"type": "object"})] = []
    leaf: Names | None = None
    loop: Names | None = None
    room: Names | None = None
    row: Name | None = None
    units: int = Field(42, ge=1, le=100)
    power: Watts | None = None
    cooling: Coolant = Coolant.AIR
    air_limit: Watts | None = None
    redundancy: Redundancy = Redundancy.N
    headroom: Watts | None = None
    weight_limit: Kilograms | None = None


class RacksFile(BaseModel):
    """racks.yaml."""

    model_config = STRICT
    rooms: dict[Name, Annotated[RoomFile, EMPTY]] = {}
    ups: dict[Name, Annotated[UpsFile, EMPTY]] = {}
    feeds: dict[Name, Annotated[FeedFile, EMPTY]] = {}
    loops: dict[Name, Annotated[LoopFile, EMPTY]] = {}
    leaves: dict[Names, Annotated[LeafFile, EMPTY]] = {}
    racks: dict[Names, Annotated[RackFile, EMPTY]]
