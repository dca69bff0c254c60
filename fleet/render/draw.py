"""A site as a picture in text: racks as elevations side by side, feeds, loops, rooms and fabrics with their bars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fleet.feasibility.plant_figures import FeedLoad, PlantFigures, RackLoad, air_limit
from fleet.feasibility.space import height
from fleet.model.plant import Plant
from fleet.model.topology import Declared
from fleet.render.text import Line, Span, line, plural, table, title

BAR = 10
"""Characters of a bar."""

COLUMN = 26
"""How wide a rack is drawn."""

MOST_RACKS = 24
"""Racks that are drawn when none is named: the fullest."""


def bar(used: float | None, usable: float | None, size: int = BAR) -> Span:
    """`#####.....`; `??????????` where what is usable isn't known. Red when over, yellow in the last fifth."""
    if used is None or usable is None or usable <= 0:
        return Span("?" * size, "dim")
    share = used / usable
    full = min(round(share * size), size)
    style = "bad" if share > 1 else "warn" if share > _NEARLY else "good"
    return Span("#" * full + "." * (size - full), style)


_NEARLY = 0.8


def kilowatts(used: float | None, usable: float | None, unit: str = "kW") -> str:
    """`33.2/40 kW`; what isn't known is `?`."""
    return f"{_thousands(used)}/{_thousands(usable)} {unit}"


def _thousands(value: float | None) -> str:
    if value is None:
        return "?"
    kilo = value / 1000
    return f"{kilo:.0f}" if kilo >= 100 else f"{kilo:.3g}"


def drawn(load: RackLoad) -> float | None:
    """What a rack draws; None where no machine of it has a figure."""
    return None if load.unknown and not load.draw_w else load.draw_w


def fullest(figures: PlantFigures, most: int = MOST_RACKS) -> tuple[str, ...]:
    """The racks to draw when none is named: those with the highest share of their power, in the site's order."""
    loads = [load for load in figures.racks.values() if load.nodes] or list(figures.racks.values())
    ranked = sorted(loads, key=lambda load: -(load.draw_w / (load.rack.power_w or float("inf")) or load.units / 1e6))
    chosen = {load.rack.name for load in ranked[:most]}
    return tuple(name for name in figures.racks if name in chosen)


def picture(declared: Declared, figures: PlantFigures, racks: Sequence[str], width: int) -> list[Line]:
    """The whole site: the racks that are named, then feeds, loops and rooms."""
    lines = [title(f"site {declared.site}")]
    across = max((width + 2) // (COLUMN + 2), 1)
    for start in range(0, len(racks), across):
        loads = [figures.racks[name] for name in racks[start : start + across]]
        lines += [line(), *beside([elevation(load, declared.plant) for load in loads])]
    left = len(figures.racks) - len(racks)
    if left > 0:
        lines += [line(), line(Span(f"{plural(left, 'rack')} more; name them with --rack r[01-16]", "dim"))]
    lines += _feeds(figures.feeds.values(), width)
    lines += _heat(declared, figures, width)
    return lines


def elevation(load: RackLoad, plant: Plant) -> tuple[list[Line], list[Line]]:
    """One rack: its name and bars, and its units from the top down, stretches of free ones in one line each."""
    rack = load.rack
    head = f"{rack.name} ({rack.units}U)"
    lines = [line(Span(head.ljust(COLUMN)[:COLUMN], "bold"))]
    lines.append(_measure("power", drawn(load), rack.power_w))
    limits = air_limit(rack, plant)
    lines.append(
        _measure("air", load.air_w if drawn(load) is not None else None, limits[1] if limits is not None else None)
    )
    if load.liquid_w:
        loop = plant.loops.get(rack.loop)
        lines.append(_measure("water", load.liquid_w, loop.capacity_w if loop is not None else None))
    return lines, [_edge(), *_units(load), _edge()]


def _measure(name: str, used: float | None, usable: float | None) -> Line:
    text = kilowatts(used, usable)
    found = line(f"{name:<6}", bar(used, usable, 6), " ", Span(text[: COLUMN - 13]))
    return (*found, Span(" " * max(COLUMN - sum(len(span.text) for span in found), 0)))


def _edge() -> Line:
    return line("     +" + "-" * (COLUMN - 7) + "+")


def _units(load: RackLoad) -> list[Line]:
    """Machines at their units; those without a slot stand beneath, since nobody says where."""
    placed = {node.slot: node for node in load.nodes if node.slot is not None}
    lines: list[Line] = []
    top = load.rack.units
    while top >= 1:
        node = next((n for slot, n in placed.items() if slot <= top < slot + height(n)), None)
        if node is None or node.slot is None:
            lowest = top
            while lowest > 1 and not any(slot <= lowest - 1 < slot + height(n) for slot, n in placed.items()):
                lowest -= 1
            lines.append(_unit(lowest, top, "free", "dim"))
            top = lowest - 1
            continue
        model = node.model.name if node.model is not None else ""
        lines.append(_unit(node.slot, top, f"{node.id} {model}", ""))
        top = node.slot - 1
    apart = [node.id for node in load.nodes if node.slot is None]
    if apart:
        lines.append(_unit(0, 0, f"no slot: {plural(len(apart), 'node')}", "warn"))
    return lines


def _unit(low: int, high: int, text: str, style: str) -> Line:
    room = COLUMN - 7
    units = "" if not low else f"{low}" if low == high else f"{low}-{high}"
    return line(f"{units:>5}|", Span(text.ljust(room)[:room], style), "|")


def beside(columns: Sequence[tuple[list[Line], list[Line]]]) -> list[Line]:
    """Racks side by side: heads in one line at the top, floors in one line at the bottom."""
    head = max(len(each) for each, _ in columns)
    body = max(len(each) for _, each in columns)
    empty = line(" " * COLUMN)
    filled = [[*heads, *[empty] * (head - len(heads) + body - len(bodies)), *bodies] for heads, bodies in columns]
    rows: list[Line] = []
    for parts in zip(*filled, strict=True):
        spans: list[Span] = []
        for part in parts:
            spans += [*part, Span("  ")]
        rows.append(tuple(spans[:-1]))
    return rows


def _feeds(feeds: Iterable[FeedLoad], width: int) -> list[Line]:
    rows = [
        (
            load.feed.name,
            bar(load.va, load.usable_va),
            kilowatts(load.va, load.usable_va, "kVA"),
            bar(load.alone_va, load.usable_va),
            kilowatts(load.alone_va, load.usable_va, "kVA"),
            load.feed.ups or "-",
            plural(len(load.racks), "rack"),
        )
        for load in feeds
    ]
    if not rows:
        return []
    heads = ("feed", "all well", "", "alone", "", "UPS", "")
    return [line(), *table(heads, rows, width, indent=0)]


def _heat(declared: Declared, figures: PlantFigures, width: int) -> list[Line]:
    plant = declared.plant
    rows = [
        ("loop", name, bar(load.heat_w, plant.loops[name].capacity_w),
         kilowatts(load.heat_w, plant.loops[name].capacity_w), plural(len(load.racks), "rack"))
        for name, load in figures.loops.items()
    ]  # fmt: skip
    for name, load in figures.rooms.items():
        room = plant.rooms[name]
        usable = sum(unit.capacity_w for unit in room.units) if room.units else room.air_w
        rows.append(
            ("room", name, bar(load.heat_w, usable), kilowatts(load.heat_w, usable), plural(len(load.racks), "rack"))
        )
    return [line(), *table(("heat", "", "", "", "from"), rows, width, indent=0)] if rows else []


def facts(declared: Declared, figures: PlantFigures) -> dict[str, object]:
    """The figures for `--json`; watts and VA, null where unknown."""
    plant = declared.plant
    return {
        "site": declared.site,
        "draw_w": figures.draw_w,
        "unknown": dict(figures.unknown),
        "racks": {name: _rack_facts(load, plant) for name, load in figures.racks.items()},
        "feeds": {
            name: {"va": load.va, "alone_va": load.alone_va, "usable_va": load.usable_va, "ups": load.feed.ups or None}
            for name, load in figures.feeds.items()
        },
        "loops": {
            name: {"heat_w": load.heat_w, "capacity_w": plant.loops[name].capacity_w, "racks": load.racks}
            for name, load in figures.loops.items()
        },
        "rooms": {name: {"heat_w": load.heat_w, "racks": load.racks} for name, load in figures.rooms.items()},
    }


def _rack_facts(load: RackLoad, plant: Plant) -> Mapping[str, object]:
    limits = air_limit(load.rack, plant)
    return {
        "units": load.rack.units,
        "used_units": load.units,
        "draw_w": load.draw_w,
        "power_w": load.rack.power_w,
        "air_w": load.air_w,
        "air_limit_w": limits[1] if limits is not None else None,
        "liquid_w": load.liquid_w,
        "nodes": [{"id": node.id, "slot": node.slot, "units": height(node)} for node in load.nodes],
    }
