"""One rack as an SVG: its elevation with a bar of power and one of heat. The same rack gives the same bytes."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from fleet.feasibility.plant_figures import RackLoad, air_limit
from fleet.feasibility.space import height
from fleet.model.plant import Plant
from fleet.render.draw import drawn, kilowatts

UNIT = 14
WIDE = 240
LEFT = 40
TOP = 84

_INK, _PAPER, _BOX, _FREE = "#1f2933", "#ffffff", "#d9e8f5", "#f4f5f7"
_GOOD, _WARN, _BAD, _UNKNOWN = "#3a7d44", "#b7791f", "#b3261e", "#9aa5b1"
_NEARLY = 0.8


def rack_svg(load: RackLoad, plant: Plant) -> str:
    """The whole document."""
    rack = load.rack
    tall = TOP + rack.units * UNIT + 24
    root = ET.Element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        width=str(LEFT + WIDE + 24),
        height=str(tall),
        viewBox=f"0 0 {LEFT + WIDE + 24} {tall}",
        role="img",
    )
    ET.SubElement(root, "title").text = f"Rack {rack.name}"
    limits = air_limit(rack, plant)
    air = limits[1] if limits is not None else None
    said = f"{len(load.nodes)} nodes, power {kilowatts(drawn(load), rack.power_w)}, air {kilowatts(load.air_w, air)}"
    ET.SubElement(root, "desc").text = said
    _box(root, 0, 0, LEFT + WIDE + 24, tall, _PAPER)
    _text(root, LEFT, 22, rack.name, 16)
    _bar(root, 34, "power", drawn(load), rack.power_w)
    _bar(root, 56, "air", load.air_w, air)
    _box(root, LEFT, TOP, WIDE, rack.units * UNIT, _FREE, _INK)
    for unit in range(1, rack.units + 1):
        if unit == 1 or unit % 5 == 0:
            _text(root, LEFT - 22, _top(rack.units, unit) + UNIT - 3, str(unit), 9)
    for node in sorted(load.nodes, key=lambda one: (one.slot or 0, one.id)):
        if node.slot is None or node.slot + height(node) - 1 > rack.units:
            continue
        units = height(node)
        y = _top(rack.units, node.slot + units - 1)
        _box(root, LEFT + 1, y + 1, WIDE - 2, units * UNIT - 2, _BOX, _INK)
        model = node.model.name if node.model is not None else ""
        _text(root, LEFT + 8, y + units * UNIT / 2 + 4, f"{node.id}  {model}".rstrip()[:36], 10)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def _top(units: int, unit: int) -> int:
    return TOP + (units - unit) * UNIT


def _bar(root: ET.Element, y: int, name: str, used: float | None, usable: float | None) -> None:
    _text(root, LEFT, y + 12, name, 10)
    _box(root, LEFT + 44, y + 3, 100, 10, _FREE, _INK)
    if usable and used is not None:
        share = used / usable
        colour = _BAD if share > 1 else _WARN if share > _NEARLY else _GOOD
        _box(root, LEFT + 44, y + 3, round(min(share, 1.0) * 100), 10, colour)
    else:
        _box(root, LEFT + 44, y + 3, 100, 10, _UNKNOWN)
    _text(root, LEFT + 152, y + 12, kilowatts(used, usable), 10)


def _box(root: ET.Element, x: float, y: float, wide: float, tall: float, fill: str, line: str = "none") -> None:
    where = {"x": f"{x:g}", "y": f"{y:g}", "width": f"{wide:g}", "height": f"{tall:g}"}
    ET.SubElement(root, "rect", {**where, "fill": fill, "stroke": line})


def _text(root: ET.Element, x: float, y: float, text: str, size: int) -> None:
    style = {"font-family": "sans-serif", "font-size": str(size), "fill": _INK}
    ET.SubElement(root, "text", {"x": f"{x:g}", "y": f"{y:g}", **style}).text = text
