"""The building: rooms, racks, circuits, feeds, UPS and cooling loops. Watts, amperes, volts; None is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from fleet.model.hardware import Coolant


class Redundancy(StrEnum):
    """What may fail without anything stopping: nothing, one of several, or one whole side of two."""

    N = "N"
    N_PLUS_1 = "N+1"
    TWO_N = "2N"


class Code(StrEnum):
    """The electrical code that binds a site: NEC allows continuous loads 80 % of a breaker, IEC all of it."""

    NEC = "nec"
    IEC = "iec"


class Containment(StrEnum):
    """How hot and cold air are kept apart."""

    NONE = "none"
    AISLE = "aisle"
    REAR_DOOR = "rear_door"


@dataclass(frozen=True, slots=True)
class Ups:
    """An uninterruptible supply with what it can carry."""

    name: str
    power_w: float | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Feed:
    """A power feed: what stands behind the circuits of racks. `derating` is the usable share of its breaker."""

    name: str
    volts: float | None = None
    phases: int = 3
    breaker_a: float | None = None
    derating: float | None = None
    power_w: float | None = None
    ups: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Circuit:
    """One circuit of a rack (a PDU's plug), on a feed."""

    feed: str
    volts: float | None = None
    phases: int = 3
    breaker_a: float | None = None
    derating: float | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Loop:
    """A cooling loop or unit: litres per minute of water, supply in °C, the warming that it allows in kelvin."""

    name: str
    capacity_w: float | None = None
    flow_lpm: float | None = None
    supply_c: float | None = None
    delta_k: float | None = None
    units: int = 1
    redundancy: Redundancy = Redundancy.N
    place: str = ""


@dataclass(frozen=True, slots=True)
class AirUnit:
    """A room or in-row air handler."""

    name: str
    capacity_w: float
    place: str = ""


@dataclass(frozen=True, slots=True)
class Room:
    """A room with its air handlers; `air_w` is what the room takes away in all, where units aren't named."""

    name: str
    air_w: float | None = None
    units: tuple[AirUnit, ...] = ()
    redundancy: Redundancy = Redundancy.N
    containment: Containment = Containment.NONE
    place: str = ""


@dataclass(frozen=True, slots=True)
class Rack:
    """A rack: its height, rated power, what feeds and cools it, and the headroom that is kept free."""

    name: str
    units: int = 42
    room: str = ""
    power_w: float | None = None
    coolant: Coolant = Coolant.AIR
    air_limit_w: float | None = None
    circuits: tuple[Circuit, ...] = ()
    redundancy: Redundancy = Redundancy.N
    feeds: tuple[str, ...] = ()
    loop: str = ""
    leaf: str = ""
    row: str = ""
    headroom_w: float | None = None
    weight_limit_kg: float | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Plant:
    """All of a site's building. `power_w` is what the utility grants; `pue` what is drawn per watt of machines."""

    rooms: Mapping[str, Room] = field(default_factory=dict)
    racks: Mapping[str, Rack] = field(default_factory=dict)
    feeds: Mapping[str, Feed] = field(default_factory=dict)
    ups: Mapping[str, Ups] = field(default_factory=dict)
    loops: Mapping[str, Loop] = field(default_factory=dict)
    power_w: float | None = None
    code: Code | None = None
    next_rack_w: float | None = None
