"""Cooling: the heat of racks against air, of loops against capacity and flow, of rooms against their units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fleet.feasibility.plant_figures import LoopLoad, PlantFigures, RackLoad, RoomLoad, air_limit, plant_figures
from fleet.feasibility.power import kilo
from fleet.feasibility.problem import Level, Problem
from fleet.model.hardware import Accelerator, Coolant
from fleet.model.plant import Loop, Plant, Redundancy, Room
from fleet.model.topology import Declared

WATER = 4186.0 / 60
"""Watts that a litre per minute of water takes for each kelvin that it warms (4.186 kJ/kg K, 1 kg a litre)."""

WARMEST_C = 45.0
"""The warmest supply of the usual classes for direct liquid cooling: facts/hardware.yaml cooling (W32 to W45)."""

_AIR = "facts/hardware.yaml cooling: 40 to 50 kW a rack is the practical limit of air, with containment or a rear door"
_FLOW = "heat = flow x 4.186 kJ/(kg K) x warming"


def cooling(declared: Declared, figures: PlantFigures | None = None) -> Iterator[Problem]:
    """All problems of cooling."""
    found, plant = figures or plant_figures(declared), declared.plant
    for load in found.racks.values():
        yield from _air(load, plant)
        yield from _needs_loop(load)
    yield from _boards(declared, found)
    for name, loop in found.loops.items():
        yield from _loop(plant.loops[name], loop)
    for name, room in found.rooms.items():
        yield from _room(plant.rooms[name], room)


def _air(load: RackLoad, plant: Plant) -> Iterator[Problem]:
    limits = air_limit(load.rack, plant)
    if limits is None or load.air_w <= limits[0]:
        return
    over = load.air_w > limits[1]
    bound = limits[1] if over else limits[0]
    what = f"rack {load.rack.name} gives {kilo(load.air_w)}W to the air, and air takes {kilo(bound)}W of a rack"
    fix = "spread its nodes over more racks, or cool them with water"
    total = f"{kilo(load.draw_w)}W - {kilo(load.liquid_w)}W to water = {kilo(load.air_w)}W > {kilo(bound)}W"
    source = "the rack's own air_limit" if load.rack.air_limit_w is not None else _AIR
    yield Problem("cooling-air", Level.ERROR if over else Level.WARNING, load.rack.place, what, fix, source, sum=total)


def _needs_loop(load: RackLoad) -> Iterator[Problem]:
    wet = [node for node in load.nodes if node.model is not None and node.model.coolant is Coolant.LIQUID]
    if wet and not load.rack.loop:
        names = ", ".join(node.id for node in wet[:4]) + (f" and {len(wet) - 4} more" if len(wet) > 4 else "")
        what = f"{names} are cooled by water, and rack {load.rack.name} has no loop"
        fix = "declare the loop of the rack (`loop: ...`), or place them in one that has a loop"
        yield Problem("cooling-no-loop", Level.ERROR, load.rack.place, what, fix, "the model's cooling")


def _boards(declared: Declared, figures: PlantFigures) -> Iterator[Problem]:
    """Boards that are made for water only, in a machine that is cooled by air; once for a model."""
    told: set[str] = set()
    for load in figures.racks.values():
        for node in load.nodes:
            model = node.model
            if model is None or model.name in told or model.coolant is Coolant.LIQUID:
                continue
            board: Accelerator | None = declared.accelerators.get(model.accelerator)
            if board is not None and board.coolant is Coolant.LIQUID:
                told.add(model.name)
                what = f"{model.name or node.id} is cooled by air, and its {board.name} is made for water only"
                fix = "correct the model's cooling, or choose a board for air (MI350X in place of MI355X)"
                yield Problem("cooling-board", Level.ERROR, node.place, what, fix, board.source)


def _loop(loop: Loop, load: LoopLoad) -> Iterator[Problem]:
    if loop.capacity_w is not None:
        yield from _capacity(loop, load, loop.capacity_w)
    if loop.flow_lpm is not None and loop.delta_k is not None:
        carried = loop.flow_lpm * WATER * loop.delta_k
        if load.heat_w > carried:
            needed = load.heat_w / (WATER * loop.delta_k)
            what = f"the water of loop {loop.name} carries {kilo(carried)}W, and {kilo(load.heat_w)}W reach it"
            fix = f"{needed:.0f} l/min at {loop.delta_k:g} K would do"
            total = f"{loop.flow_lpm:g} l/min x {WATER:.1f} W x {loop.delta_k:g} K = {kilo(carried)}W"
            yield Problem("cooling-flow", Level.ERROR, loop.place, what, fix, _FLOW, sum=total)
    if loop.supply_c is not None and loop.supply_c > WARMEST_C and load.racks:
        what = f"loop {loop.name} supplies {loop.supply_c:g} °C, and machines are made for {WARMEST_C:g} °C at most"
        source = "facts/hardware.yaml cooling: W32 to W45"
        yield Problem("cooling-warm", Level.ERROR, loop.place, what, "supply colder water", source)


def _capacity(loop: Loop, load: LoopLoad, capacity: float) -> Iterator[Problem]:
    spare = 1 if loop.redundancy is not Redundancy.N else 0
    left = capacity * (loop.units - spare) / loop.units if loop.units > spare else 0.0
    if load.heat_w > capacity:
        what = f"{kilo(load.heat_w)}W of heat reach loop {loop.name}, which takes {kilo(capacity)}W"
        total = f"{_named(load.racks)}: {kilo(load.heat_w)}W > {kilo(capacity)}W"
        fix = f"move {kilo(load.heat_w - capacity)}W to another loop"
        yield Problem("cooling-loop", Level.ERROR, loop.place, what, fix, "the loop's capacity", sum=total)
    elif spare and load.heat_w > left:
        what = f"loop {loop.name} is declared {loop.redundancy}, and with one unit lost {_named(load.racks)} overheat"
        total = f"{kilo(load.heat_w)}W > {loop.units - spare} of {loop.units} units = {kilo(left)}W"
        fix = f"add a unit, or move {kilo(load.heat_w - left)}W to another loop"
        yield Problem("cooling-loop-spare", Level.ERROR, loop.place, what, fix, "the loop's redundancy", sum=total)


def _room(room: Room, load: RoomLoad) -> Iterator[Problem]:
    powers = [unit.capacity_w for unit in room.units]
    whole = sum(powers) if powers else room.air_w
    if whole is None:
        return
    if load.heat_w > whole:
        what = f"{kilo(load.heat_w)}W reach the air of room {room.name}, whose units take {kilo(whole)}W"
        total = f"{len(load.racks)} racks: {kilo(load.heat_w)}W > {kilo(whole)}W"
        fix = f"add {kilo(load.heat_w - whole)}W of air handling, or cool racks with water"
        yield Problem("cooling-room", Level.ERROR, room.place, what, fix, "the room's units", sum=total)
    elif powers and room.redundancy is not Redundancy.N and load.heat_w > whole - max(powers):
        biggest = max(room.units, key=lambda unit: unit.capacity_w)
        left = whole - biggest.capacity_w
        what = (
            f"room {room.name} is declared {room.redundancy}, and without {biggest.name} {_named(load.racks)} overheat"
        )
        total = f"{kilo(load.heat_w)}W > {kilo(whole)}W - {kilo(biggest.capacity_w)}W = {kilo(left)}W"
        fix = f"add a unit of {kilo(load.heat_w - left)}W or more"
        yield Problem("cooling-room-spare", Level.ERROR, room.place, what, fix, "the room's redundancy", sum=total)


def _named(racks: Sequence[str]) -> str:
    return ", ".join(racks[:4]) + (f" and {len(racks) - 4} more racks" if len(racks) > 4 else "")
