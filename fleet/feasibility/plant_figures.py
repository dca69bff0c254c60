"""What a site draws and warms, thing by thing: one pass over the nodes, then over racks. Rules and drawings read it.

Watts at the inlet. Where a node's draw isn't known its model is named in `unknown` and it counts nothing: figures are
then a lower bound, and say so.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from fleet.model.hardware import Coolant, NodeModel
from fleet.model.plant import Circuit, Code, Containment, Feed, Plant, Rack, Redundancy
from fleet.model.topology import Declared, DeclaredNode, Disposition

POWER_FACTOR = 0.95
"""Taken where a model gives none: the lower end of `facts/hardware.yaml` power_rules, so that VA is not too small."""

CONTINUOUS = 0.8
"""The share of a breaker that a load of three hours or more may use (NEC 210.20, 215.3)."""

SQRT3 = math.sqrt(3)


@dataclass(slots=True)
class RackLoad:
    """One rack: its draw, its heat to air and to water, what it may use, and how full it is."""

    rack: Rack
    draw_w: float = 0.0
    va: float = 0.0
    air_w: float = 0.0
    liquid_w: float = 0.0
    weight_kg: float = 0.0
    units: int = 0
    nodes: list[DeclaredNode] = field(default_factory=list)
    unknown: dict[str, int] = field(default_factory=dict)  # models without a draw, and how many of each
    weightless: int = 0

    @property
    def usable_w(self) -> float | None:
        """The least of what the rack is rated for; None where nothing is said."""
        return self.rack.power_w


@dataclass(slots=True)
class FeedLoad:
    """One feed: what it carries when all is well, and alone: when the other side of its 2N racks is lost."""

    feed: Feed
    va: float = 0.0
    alone_va: float = 0.0
    single_phase: list[float] = field(default_factory=list)
    usable_va: float | None = None
    racks: list[str] = field(default_factory=list)


@dataclass(slots=True)
class LoopLoad:
    """One cooling loop: the heat that reaches it, and from which racks."""

    name: str
    heat_w: float = 0.0
    racks: list[str] = field(default_factory=list)


@dataclass(slots=True)
class RoomLoad:
    """One room: the heat to its air, and from which racks."""

    name: str
    heat_w: float = 0.0
    racks: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PlantFigures:
    """All of a site. `unknown` counts the nodes of each model whose draw isn't known."""

    racks: Mapping[str, RackLoad]
    feeds: Mapping[str, FeedLoad]
    loops: Mapping[str, LoopLoad]
    rooms: Mapping[str, RoomLoad]
    draw_w: float
    unknown: Mapping[str, int]


def plant_figures(declared: Declared) -> PlantFigures:
    """Every load of a site, in one pass over nodes and one over racks."""
    plant = declared.plant
    racks = {name: RackLoad(rack) for name, rack in plant.racks.items()}
    unknown: dict[str, int] = defaultdict(int)
    for node in declared.nodes.values():
        if not node.rack or node.disposition is Disposition.RETIRED:
            continue
        if node.rack not in racks:
            racks[node.rack] = RackLoad(Rack(node.rack))
        _add(racks[node.rack], node)
    feeds = {name: FeedLoad(feed, usable_va=feed_va(feed, plant)) for name, feed in plant.feeds.items()}
    loops = {name: LoopLoad(name) for name in plant.loops}
    rooms = {name: RoomLoad(name) for name in plant.rooms}
    for name, load in racks.items():
        for model, count in load.unknown.items():
            unknown[model] += count
        _share_out(load, feeds)
        if load.rack.loop in loops:
            loops[load.rack.loop].heat_w += load.liquid_w
            loops[load.rack.loop].racks.append(name)
        if load.rack.room in rooms:
            rooms[load.rack.room].heat_w += load.air_w
            rooms[load.rack.room].racks.append(name)
    return PlantFigures(racks, feeds, loops, rooms, sum(load.draw_w for load in racks.values()), dict(unknown))


def _add(load: RackLoad, node: DeclaredNode) -> None:
    model = node.model
    load.nodes.append(node)
    load.units += (model.units if model is not None else None) or 1
    if model is None or model.weight_kg is None:
        load.weightless += 1
    else:
        load.weight_kg += model.weight_kg
    draw = model.draw_w if model is not None else None
    if model is None or draw is None:
        name = model.name if model is not None and model.name else "nodes without a model"
        load.unknown[name] = load.unknown.get(name, 0) + 1
        return
    share = liquid_share(model)
    load.draw_w += draw
    load.va += draw / (model.power_factor or POWER_FACTOR)
    load.liquid_w += draw * share
    load.air_w += draw * (1 - share)


def liquid_share(model: NodeModel) -> float:
    """The part of a machine's heat that goes to water: none of an air-cooled one's, all of an unstated liquid one's."""
    if model.coolant is not Coolant.LIQUID:
        return model.liquid_share or 0.0
    return model.liquid_share if model.liquid_share is not None else 1.0


def _share_out(load: RackLoad, feeds: Mapping[str, FeedLoad]) -> None:
    """A rack's load on its feeds: by circuits where it has them, else whole on each that may have to carry it."""
    rack = load.rack
    sides = [name for name in rack.feeds if name in feeds]
    if not sides:
        return
    circuits = [one for one in rack.circuits if one.feed in feeds]
    for name in sides:
        own = [one for one in circuits if one.feed == name]
        share = len(own) / len(circuits) if circuits else 1 / len(sides)
        feed = feeds[name]
        feed.racks.append(rack.name)
        feed.va += load.va * share
        feed.alone_va += load.va if rack.redundancy is Redundancy.TWO_N else load.va * share
        if feed.feed.phases == 3:
            feed.single_phase += [load.va / len(circuits) for one in own if one.phases == 1]


def derating(one: Circuit | Feed, plant: Plant, feed: Feed | None = None) -> float | None:
    """The usable share of a breaker: its own, its feed's, or the code's; None where no code is named."""
    if one.derating is not None:
        return one.derating
    if feed is not None and feed.derating is not None:
        return feed.derating
    match plant.code:
        case Code.NEC:
            return CONTINUOUS
        case Code.IEC:
            return 1.0
        case None:
            return None


def breaker_va(one: Circuit | Feed) -> float | None:
    """What a breaker carries at its rating; None where volts or amperes aren't declared."""
    if one.volts is None or one.breaker_a is None:
        return None
    return one.volts * one.breaker_a * (SQRT3 if one.phases == 3 else one.phases)


def circuit_va(one: Circuit, plant: Plant) -> float | None:
    """What may run on a circuit for hours; without a code named, as strict as the NEC."""
    whole = breaker_va(one)
    share = derating(one, plant, plant.feeds.get(one.feed))
    return None if whole is None else whole * (share if share is not None else CONTINUOUS)


def feed_va(feed: Feed, plant: Plant) -> float | None:
    """What may run on a feed for hours: its breaker's share, or its plain limit of power."""
    whole = breaker_va(feed)
    if whole is None:
        return feed.power_w
    share = derating(feed, plant)
    usable = whole * (share if share is not None else CONTINUOUS)
    return usable if feed.power_w is None else min(usable, feed.power_w)


def air_limit(rack: Rack, plant: Plant) -> tuple[float, float] | None:
    """The air heat of a rack above which it is doubtful, and above which it does not work; None where all is liquid.

    `facts/hardware.yaml`: 40 to 50 kW with containment or a rear door is the practical limit; without, 40 is past it.
    """
    if rack.air_limit_w is not None:
        return rack.air_limit_w, rack.air_limit_w
    room = plant.rooms.get(rack.room)
    contained = room is not None and room.containment is not Containment.NONE
    return (40_000.0, 50_000.0) if contained else (40_000.0, 40_000.0)
