"""A site as a picture."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from fleet.feasibility.plant_figures import PlantFigures, plant_figures
from fleet.model.topology import Declared
from fleet.render.draw import bar, fullest, kilowatts, picture
from fleet.render.rack_svg import rack_svg
from fleet.render.text import plain
from fleet.spec import load
from tests.spec.sites import write

RACKS = """feeds: {A: {volts: 415 V, breaker: 63 A}, B: {volts: 415 V, breaker: 63 A}}
rooms: {hall: {air: 60 kW}}
racks:
  r[1-3]: {units: 24, power: 25 kW, room: hall, redundancy: 2N, circuits: [{feed: A}, {feed: B}]}
"""
NODES = """nodes:
  g[1-3]: {model: Box, pool: train, rack: r1, slot: [1, 9, 17], serial: "S{i}", address: 10.0.1.1+, bmc: https://10.0.2.1+}
  g4: {model: Dark, pool: train, rack: r2, serial: S4, address: 10.0.3.1, bmc: "https://10.0.3.2"}
"""
MODELS = """models:
  Box: {units: 8, power: 9 kW}
  Dark: {units: 4}
"""

DRAWN = """\
site here

r1 (24U)                    r2 (24U)                    r3 (24U)
power ###### 27/25 kW       power ?????? ?/25 kW        power ...... 0/25 kW
air   ####.. 27/40 kW       air   ?????? ?/40 kW        air   ...... 0/40 kW
     +-------------------+
17-24|g3 Box             |       +-------------------+
 9-16|g2 Box             |   1-24|free               |       +-------------------+
  1-8|g1 Box             |       |no slot: 1 node    |   1-24|free               |
     +-------------------+       +-------------------+       +-------------------+

feed  all well                   alone                      UPS
A     ####......  14.2/36.2 kVA  ########..  28.4/36.2 kVA  -    3 racks
B     ####......  14.2/36.2 kVA  ########..  28.4/36.2 kVA  -    3 racks

heat                             from
room  hall  ####......  27/60 kW  3 racks"""


@pytest.fixture
def site(tmp_path: Path) -> tuple[Declared, PlantFigures]:
    declared = load(write(tmp_path, {"racks.yaml": RACKS, "nodes.yaml": NODES, "models.yaml": MODELS}))
    return declared, plant_figures(declared)


def test_a_small_site(site: tuple[Declared, PlantFigures]) -> None:
    declared, figures = site
    drawn = plain(picture(declared, figures, list(figures.racks), 90))
    assert [each.split() for each in drawn.splitlines()] == [each.split() for each in DRAWN.splitlines()]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_is_wider_than_the_terminal(site: tuple[Declared, PlantFigures], width: int) -> None:
    declared, figures = site
    assert (
        max(len(each) for each in plain(picture(declared, figures, list(figures.racks), width)).splitlines()) <= width
    )


def test_the_fullest_racks_are_drawn_and_the_rest_is_said(site: tuple[Declared, PlantFigures]) -> None:
    declared, figures = site
    assert fullest(figures, 1) == ("r1",)
    assert "2 racks more" in plain(picture(declared, figures, ["r1"], 80))


def test_bars() -> None:
    assert [bar(*each).text for each in ((0, 10), (5, 10), (10, 10), (99, 10), (5, None), (None, 5))] == [
        "..........", "#####.....", "##########", "##########", "??????????", "??????????"
    ]  # fmt: skip
    assert [bar(used, 10).style for used in (1, 9, 11)] == ["good", "warn", "bad"]
    assert kilowatts(33240, 40000) == "33.2/40 kW"
    assert kilowatts(None, None) == "?/? kW"
    assert kilowatts(5.2e6, 3e8) == "5200/300000 kW"


def test_a_rack_as_svg_is_well_formed_and_the_same_each_time(site: tuple[Declared, PlantFigures]) -> None:
    declared, figures = site
    for load_ in figures.racks.values():
        drawn = rack_svg(load_, declared.plant)
        assert drawn == rack_svg(load_, declared.plant)
        root = ET.fromstring(drawn)
        assert root.find("{http://www.w3.org/2000/svg}title") is not None
        texts = [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]
        inside = [n for n in load_.nodes if n.slot is not None and n.slot + 7 <= load_.rack.units]
        assert all(any(text.startswith(node.id) for text in texts) for node in inside)
