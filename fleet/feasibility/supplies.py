"""What goes on at a machine's inlets: power supplies split over feeds, what an inlet carries, and switching on."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.feasibility.plant_figures import PlantFigures, RackLoad
from fleet.feasibility.problem import Level, Problem
from fleet.model.hardware import NodeModel
from fleet.model.ids import NodeId
from fleet.model.plant import Circuit, Redundancy
from fleet.model.topology import DeclaredNode

INLET_A = 16.0
"""What the biggest usual inlet (C19/C20) carries: facts/hardware.yaml power_rules."""

TRIP = 5.0
"""How many times its rating a breaker of type C bears for an instant at least (IEC 60898: 5 to 10)."""

_SPLIT = "facts/hardware.yaml power_rules: supplies over two feeds must be enough when one feed is lost"
_INLET = "facts/hardware.yaml power_rules: a C20/C19 pair carries 16 A"


def supplies(figures: PlantFigures) -> Iterator[Problem]:
    """Problems of supplies: each once for a model, since a hundred alike are one mistake."""
    told: set[tuple[str, str]] = set()
    for load in figures.racks.values():
        for node in load.nodes:
            if node.model is None:
                continue
            for problem in _of_model(node, node.model, load):
                if (problem.code, node.model.name) not in told:
                    told.add((problem.code, node.model.name))
                    yield problem
        yield from _inrush(load)


def _of_model(node: DeclaredNode, model: NodeModel, load: RackLoad) -> Iterator[Problem]:
    rack = load.rack
    name = model.name or str(node.id)
    if model.psus and model.psus_needed and rack.redundancy is Redundancy.TWO_N and len(rack.feeds) >= 2:
        left = model.psus - -(-model.psus // len(rack.feeds))
        if left < model.psus_needed:
            what = f"{name} has {model.psus} supplies of which {model.psus_needed} must run; "
            what += f"a lost feed leaves {left} (rack {rack.name} and others)"
            total = f"{model.psus} over {len(rack.feeds)} feeds: {left} left < {model.psus_needed} needed"
            fix = "feed it from more sides, cap its power, or accept that losing a feed stops it (redundancy: N)"
            yield Problem("power-psu-split", Level.ERROR, node.place, what, fix, _SPLIT, sum=total)
    draw = model.draw_w
    if draw is not None and model.psus and model.psu_w:
        needed = model.psus_needed or model.psus
        output = draw * (model.psu_efficiency or 1.0)
        if output > needed * model.psu_w:
            what = f"{name} draws {draw:g} W, and {needed} supplies give {needed * model.psu_w:g} W"
            total = f"{draw:g} W x {model.psu_efficiency or 1.0:.0%} = {output:g} W > {needed} x {model.psu_w:g} W"
            fix = "correct the supplies or the power of the model"
            yield Problem("power-psu-small", Level.ERROR, node.place, what, fix, model.source or _SPLIT, sum=total)
    volts = _inlet_volts(rack.circuits)
    if model.psu_w and volts and model.psu_w / volts > INLET_A:
        amperes = model.psu_w / volts
        what = f"a supply of {name} is told to be {model.psu_w:g} W: {amperes:.1f} A at {volts:.0f} V on one inlet"
        fix = "take the figure for a pair of supplies, or find out which inlet it has"
        total = f"{model.psu_w:g} W / {volts:.0f} V = {amperes:.1f} A > {INLET_A:g} A"
        yield Problem("power-inlet", Level.WARNING, node.place, what, fix, _INLET, sum=total)


def _inlet_volts(circuits: tuple[Circuit, ...]) -> float | None:
    """The voltage at a machine's inlet: between lines up to 240 V, to neutral above (415 V gives 240 V)."""
    known = [one.volts for one in circuits if one.volts is not None]
    if not known:
        return None
    volts = min(known)
    return volts if volts <= 240 else volts / 1.732


def _bearable(load: RackLoad) -> float | None:
    """The current that the rack's circuits bear for an instant; None where breakers or inrush aren't declared."""
    circuits = load.rack.circuits
    if not circuits or any(one.breaker_a is None for one in circuits):
        return None
    per_feed: dict[str, float] = {}
    for one in circuits:
        per_feed[one.feed] = per_feed.get(one.feed, 0.0) + (one.breaker_a or 0.0) * TRIP * one.phases
    return min(per_feed.values()) if load.rack.redundancy is Redundancy.TWO_N else sum(per_feed.values())


def _inrush(load: RackLoad) -> Iterator[Problem]:
    bearable = _bearable(load)
    peak = sum(node.model.inrush_a or 0.0 for node in load.nodes if node.model is not None)
    if bearable is not None and peak > bearable:
        groups = power_on_order(load)
        what = f"switching rack {load.rack.name} on at once takes {peak:g} A, and its breakers bear {bearable:g} A"
        order = "; then ".join(", ".join(group) for group in groups[:4]) + ("; ..." if len(groups) > 4 else "")
        fix = f"switch it on in {len(groups)} steps: {order}"
        total = f"{len(load.nodes)} nodes: {peak:g} A > {TRIP:g} x the breakers' rating = {bearable:g} A"
        source = "IEC 60898: a type C breaker bears 5 times its rating for an instant"
        yield Problem("power-inrush", Level.WARNING, load.rack.place, what, fix, source, sum=total)


def power_on_order(load: RackLoad) -> tuple[tuple[NodeId, ...], ...]:
    """Groups of a rack's nodes, in order of their slots, each of which may be switched on at once."""
    bearable = _bearable(load)
    groups: list[list[NodeId]] = [[]]
    current = 0.0
    for node in sorted(load.nodes, key=lambda one: (one.slot or 0, one.id)):
        inrush = (node.model.inrush_a if node.model is not None else None) or 0.0
        if bearable is not None and groups[-1] and current + inrush > bearable:
            groups.append([])
            current = 0.0
        groups[-1].append(node.id)
        current += inrush
    return tuple(tuple(group) for group in groups if group)
