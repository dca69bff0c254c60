"""Rack units: every machine has a place of its own that is high enough, and the rack bears what stands in it."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.feasibility.plant_figures import PlantFigures, RackLoad, plant_figures
from fleet.feasibility.problem import Level, Problem
from fleet.model.topology import Declared, DeclaredNode

_GEOMETRY = "a slot is the lowest unit of a machine, counted from 1 at the bottom"


def space(declared: Declared, figures: PlantFigures | None = None) -> Iterator[Problem]:
    """Units used twice, machines above their rack, racks that are too small or too weak."""
    for load in (figures or plant_figures(declared)).racks.values():
        yield from _slots(load)
        yield from _whole(load)


def height(node: DeclaredNode) -> int:
    """The units of a machine; 1 where nobody says."""
    return (node.model.units if node.model is not None else None) or 1


def _slots(load: RackLoad) -> Iterator[Problem]:
    """Each clash once, told at the later of the two."""
    rack = load.rack
    taken: dict[int, DeclaredNode] = {}
    for node in load.nodes:
        if node.slot is None:
            continue
        top = node.slot + height(node) - 1
        if top > rack.units:
            what = f"{node.id} stands in units {_units(node)} of rack {rack.name}, which has {rack.units} units"
            fix = f"put it into slot {max(rack.units - height(node) + 1, 1)} or lower, or correct the rack's units"
            yield Problem("space-above", Level.ERROR, node.place, what, fix, _GEOMETRY)
        other = next((taken[unit] for unit in range(node.slot, top + 1) if unit in taken), None)
        if other is not None:
            what = f"{node.id} and {other.id} both stand in rack {rack.name}: units {_units(node)} and {_units(other)}"
            fix = f"put {node.id} into slot {other.slot + height(other) if other.slot else 1} or higher"
            yield Problem("space-slot-twice", Level.ERROR, node.place, what, fix, _GEOMETRY)
        for unit in range(node.slot, top + 1):
            taken.setdefault(unit, node)


def _units(node: DeclaredNode) -> str:
    low, high = node.slot or 1, (node.slot or 1) + height(node) - 1
    return f"{low}" if low == high else f"{low}-{high}"


def _whole(load: RackLoad) -> Iterator[Problem]:
    rack = load.rack
    if load.units > rack.units:
        what = f"rack {rack.name} has {rack.units} units, and its {len(load.nodes)} nodes need {load.units}"
        total = f"{load.units} > {rack.units}"
        yield Problem("space-full", Level.ERROR, rack.place, what, "move nodes to another rack", _GEOMETRY, sum=total)
    if rack.weight_limit_kg is not None and load.weight_kg > rack.weight_limit_kg:
        what = f"rack {rack.name} bears {rack.weight_limit_kg:g} kg, and its nodes weigh {load.weight_kg:g} kg"
        total = f"{load.weight_kg:g} kg > {rack.weight_limit_kg:g} kg"
        fix = "move nodes to another rack, or have the floor and the rack strengthened"
        yield Problem("space-weight", Level.ERROR, rack.place, what, fix, "the rack's weight_limit", sum=total)
