"""Power: what racks draw against circuits, feeds, UPS and the site, with everything well and with one side lost.

Loads are compared in VA, since breakers see current; a machine's draw over its power factor. Where neither a circuit
nor its feed nor a code says how much of a breaker may be used for hours, 80 % is the line for a warning and all of it
the line for an error.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.feasibility.plant_figures import (
    FeedLoad,
    PlantFigures,
    RackLoad,
    breaker_va,
    circuit_va,
    derating,
    plant_figures,
)
from fleet.feasibility.problem import Level, Problem
from fleet.feasibility.supplies import supplies
from fleet.model.plant import Circuit, Plant, Redundancy
from fleet.model.topology import Declared

_CONTINUOUS = "NEC 210.20, 215.3: loads of 3 h or more use 80 % of a breaker; IEC allows all (facts/hardware.yaml)"
_BOTH_FEEDS = "facts/hardware.yaml power_rules: each feed must carry the whole rack when the other is lost"
_ARITHMETIC = "sum of nameplates, or of measured peaks where they are declared"


def power(declared: Declared, figures: PlantFigures | None = None) -> Iterator[Problem]:
    """All problems of power."""
    found = figures or plant_figures(declared)
    plant = declared.plant
    for load in found.racks.values():
        yield from _rack(load)
        yield from _circuits(load, plant)
        yield from _headroom(load)
    for feed in found.feeds.values():
        yield from _feed(feed, plant)
        yield from _phases(feed, plant)
    yield from _ups(found, plant)
    yield from _site(declared, found)
    yield from _unknown(declared, found)
    yield from supplies(found)


def kilo(watts: float) -> str:
    """Watts or VA in thousands, as people say them: `40.8 k`."""
    return f"{watts / 1000:.4g} k"


def _rack(load: RackLoad) -> Iterator[Problem]:
    rated = load.rack.power_w
    if rated is not None and load.draw_w > rated:
        over = load.draw_w - rated
        what = f"rack {load.rack.name} draws {kilo(load.draw_w)}W and is rated for {kilo(rated)}W"
        fix = f"move {kilo(over)}W to another rack, or declare measured peaks if they are lower"
        total = f"{_machines(load)} = {kilo(load.draw_w)}W > {kilo(rated)}W"
        yield Problem("power-rack-over", Level.ERROR, load.rack.place, what, fix, _ARITHMETIC, sum=total)


def _machines(load: RackLoad) -> str:
    """`4 x 10.2 kW + 1 x 800 W`, the biggest first."""
    counts: dict[float, int] = {}
    for node in load.nodes:
        draw = node.model.draw_w if node.model is not None else None
        if draw is not None:
            counts[draw] = counts.get(draw, 0) + 1
    return " + ".join(f"{count} x {kilo(draw)}W" for draw, count in sorted(counts.items(), reverse=True)) or "nothing"


def _circuits(load: RackLoad, plant: Plant) -> Iterator[Problem]:
    """Whether a rack's circuits carry it, all of them and with one or one side of them lost."""
    rack, circuits = load.rack, load.rack.circuits
    if not circuits or not load.va:
        return
    if rack.redundancy is Redundancy.TWO_N and len({one.feed for one in circuits}) < 2:
        what = f"rack {rack.name} is declared 2N, and all its circuits hang on feed {circuits[0].feed}"
        yield Problem("power-one-feed", Level.ERROR, rack.place, what, "give it a circuit on another feed", _BOTH_FEEDS)
        return
    usable = [circuit_va(one, plant) for one in circuits]
    if any(each is None for each in usable):
        what = f"whether the circuits of rack {rack.name} carry it can't be judged: volts or breaker aren't declared"
        fix = "write volts and breaker of each circuit"
        yield Problem("power-circuit-unknown", Level.UNKNOWN, rack.place, what, fix, _CONTINUOUS)
        return
    for lost, left in _losses(rack.redundancy, circuits):
        carried = sum(circuit_va(one, plant) or 0 for one in left)
        if load.va > carried:
            yield _short(load, plant, lost, left, carried)
            return


def _losses(redundancy: Redundancy, circuits: tuple[Circuit, ...]) -> Iterator[tuple[str, tuple[Circuit, ...]]]:
    """What may be lost without anything stopping, and the circuits that then remain."""
    yield "", circuits
    match redundancy:
        case Redundancy.N:
            return
        case Redundancy.N_PLUS_1:
            biggest = max(circuits, key=lambda one: breaker_va(one) or 0)
            rest = list(circuits)
            rest.remove(biggest)
            yield f"a circuit on feed {biggest.feed}", tuple(rest)
        case Redundancy.TWO_N:
            for feed in dict.fromkeys(one.feed for one in circuits):
                yield f"feed {feed}", tuple(one for one in circuits if one.feed != feed)


def _short(load: RackLoad, plant: Plant, lost: str, left: tuple[Circuit, ...], carried: float) -> Problem:
    rack = load.rack
    code = "power-redundancy" if lost else "power-circuit"
    share = [derating(one, plant, plant.feeds.get(one.feed)) for one in left]
    whole = sum(breaker_va(one) or 0 for one in left)
    level = Level.WARNING if left and all(each is None for each in share) and load.va <= whole else Level.ERROR
    after = f" once {lost} is lost" if lost else ""
    what = f"rack {rack.name} needs {kilo(load.va)}VA, and its circuits carry {kilo(carried)}VA{after}"
    fix = f"take {kilo(load.va - carried)}VA out of the rack, or give it bigger circuits"
    total = f"{_machines(load)} = {kilo(load.draw_w)}W, {kilo(load.va)}VA > {_written(left, plant)} = {kilo(carried)}VA"
    return Problem(code, level, rack.place, what, fix, _BOTH_FEEDS if lost else _CONTINUOUS, sum=total)


def _written(circuits: tuple[Circuit, ...], plant: Plant) -> str:
    """`60 A x 415 V x 1.732 x 80 %` for each circuit, alike ones counted."""
    counts: dict[str, int] = {}
    for one in circuits:
        share = derating(one, plant, plant.feeds.get(one.feed))
        phases = " x 1.732" if one.phases == 3 else ""
        text = f"{one.breaker_a:g} A x {one.volts:g} V{phases} x {0.8 if share is None else share:.0%}"
        counts[text] = counts.get(text, 0) + 1
    return " + ".join(f"{count} x ({text})" if count > 1 else text for text, count in counts.items()) or "nothing"


def _headroom(load: RackLoad) -> Iterator[Problem]:
    wanted, rated = load.rack.headroom_w, load.rack.power_w
    if wanted is not None and rated is not None and load.draw_w <= rated < load.draw_w + wanted:
        left = rated - load.draw_w
        what = f"rack {load.rack.name} keeps {kilo(left)}W free, and {kilo(wanted)}W are to stay free"
        total = f"{kilo(rated)}W - {kilo(load.draw_w)}W = {kilo(left)}W < {kilo(wanted)}W"
        fix = "move a node, or lower the headroom"
        yield Problem("power-headroom", Level.WARNING, load.rack.place, what, fix, "the rack's own headroom", sum=total)


def _feed(load: FeedLoad, plant: Plant) -> Iterator[Problem]:
    usable, feed = load.usable_va, load.feed
    if usable is None or not load.va:
        return
    whole = breaker_va(feed)
    lenient = feed.power_w is None and derating(feed, plant) is None
    for needed, code, when in (
        (load.va, "power-feed", "with everything well"),
        (load.alone_va, "power-feed-alone", "when it must carry its 2N racks alone"),
    ):
        if needed > usable:
            level = Level.WARNING if lenient and whole is not None and needed <= whole else Level.ERROR
            what = f"feed {feed.name} must carry {kilo(needed)}VA {when}, and may carry {kilo(usable)}VA"
            fix = f"move {kilo(needed - usable)}VA to other feeds"
            total = f"{len(load.racks)} racks: {kilo(needed)}VA > {kilo(usable)}VA"
            yield Problem(code, level, feed.place, what, fix, _CONTINUOUS, sum=total)
            return
    if plant.next_rack_w is not None and load.alone_va + plant.next_rack_w > usable:
        what = f"feed {feed.name} has {kilo(usable - load.alone_va)}VA left, and the next rack needs "
        what += f"{kilo(plant.next_rack_w)}W"
        total = f"{kilo(usable)}VA - {kilo(load.alone_va)}VA = {kilo(usable - load.alone_va)}VA"
        fix = "plan the next rack on another feed"
        yield Problem("power-next-rack", Level.WARNING, feed.place, what, fix, "site.yaml next_rack", sum=total)


def _phases(load: FeedLoad, plant: Plant) -> Iterator[Problem]:
    """Single-phase circuits on a feed of three: the fullest phase decides, however well they are spread."""
    whole = breaker_va(load.feed)
    if not load.single_phase or whole is None:
        return
    share = derating(load.feed, plant)
    limit = whole / 3 * (0.8 if share is None else share)
    balanced = load.va - sum(load.single_phase)
    phases = [balanced / 3] * 3
    for each in sorted(load.single_phase, reverse=True):
        phases[phases.index(min(phases))] += each
    worst, least = max(phases), min(phases)
    total = " / ".join(f"{kilo(each)}VA" for each in phases) + f" on three phases; {kilo(limit)}VA each"
    if worst > limit and load.usable_va is not None and load.va <= load.usable_va:
        what = f"a phase of feed {load.feed.name} carries {kilo(worst)}VA at best, and may carry {kilo(limit)}VA"
        fix = "use three-phase circuits, or spread the single-phase ones over more feeds"
        yield Problem("power-phase", Level.ERROR, load.feed.place, what, fix, _CONTINUOUS, sum=total)
    elif worst > 0 and (worst - least) / worst > _IMBALANCE:
        what = f"the phases of feed {load.feed.name} differ by {(worst - least) / worst:.0%} at best"
        fix = "use three-phase circuits, or a number of single-phase ones that three divides"
        source = "usual limit of imbalance for UPS and generators, 10 %"
        yield Problem("power-imbalance", Level.WARNING, load.feed.place, what, fix, source, sum=total)


_IMBALANCE = 0.10


def _ups(figures: PlantFigures, plant: Plant) -> Iterator[Problem]:
    """A UPS carries its feeds as they must run alone, since that is what it is for."""
    for ups in plant.ups.values():
        loads = [load for load in figures.feeds.values() if load.feed.ups == ups.name]
        needed = sum(load.alone_va for load in loads)
        if ups.power_w is not None and needed > ups.power_w:
            names = ", ".join(load.feed.name for load in loads)
            what = f"UPS {ups.name} must carry {kilo(needed)}VA of feeds {names}, and carries {kilo(ups.power_w)}W"
            total = " + ".join(f"{kilo(load.alone_va)}VA" for load in loads) + f" > {kilo(ups.power_w)}W"
            fix = f"move {kilo(needed - ups.power_w)}VA to another UPS"
            yield Problem("power-ups", Level.ERROR, ups.place, what, fix, _BOTH_FEEDS, sum=total)


def _site(declared: Declared, figures: PlantFigures) -> Iterator[Problem]:
    granted = declared.plant.power_w
    if granted is None:
        return
    pue = declared.economy.pue or 1.0
    needed = figures.draw_w * pue
    if needed > granted:
        place = next((rack.place for rack in declared.plant.racks.values()), "")
        what = f"site {declared.site} draws {kilo(needed)}W, and {kilo(granted)}W are granted"
        total = f"{kilo(figures.draw_w)}W x PUE {pue:g} = {kilo(needed)}W > {kilo(granted)}W"
        fix = f"leave {kilo((needed - granted) / pue)}W of machines out, or have more granted"
        yield Problem("power-site", Level.ERROR, place, what, fix, "site.yaml power", sum=total)


def _unknown(declared: Declared, figures: PlantFigures) -> Iterator[Problem]:
    """Models without a draw, where a draw matters: once each, not once a node."""
    judged = declared.plant
    if not (judged.power_w or any(rack.power_w or rack.circuits for rack in judged.racks.values())):
        return
    for model, count in figures.unknown.items():
        place = next(
            (node.place for load in figures.racks.values() for node in load.nodes if _is(node.model, model)), ""
        )
        what = f"the draw of {model} is not known ({count} nodes): their racks are judged without it"
        fix = "write `power` (nameplate) or `measured` in models.yaml"
        yield Problem("power-unknown", Level.UNKNOWN, place, what, fix, "facts/hardware.yaml has no figure")


def _is(model: object, name: str) -> bool:
    return getattr(model, "name", "") == name or (name == "nodes without a model" and not getattr(model, "name", ""))
