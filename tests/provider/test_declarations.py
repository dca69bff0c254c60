"""Site, Rack and Pool: declarations that are checked, and a Site that misses its nodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.provider.pool import POOL
from fleet.provider.rack import RACK
from fleet.provider.resource import Ask, Gone, Made
from fleet.provider.site import site
from tests.provider.world import World

ASK = Ask(seconds=1, interrupted=lambda: False)


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World.of(tmp_path / "world.json", {})
    with made.open() as state:
        state["enrolled"] = {
            "n01": {"node": "n01", "serial": "S1"},
            "n02": {"node": "n02", "serial": "S2", "retired": True, "certificate": "n02.json"},
        }
    return made


def test_a_declaration_is_what_it_says() -> None:
    rack = {"rack": "r1", "site": "lab", "feed": "A"}

    made = RACK.create(rack, ASK)

    assert made == Made("r1", rack)
    assert RACK.read("r1", rack, rack) == Made("r1", rack, inputs=rack)
    assert list(RACK.diff(rack, rack, {**rack, "feed": "B"})) == ["feed"]
    assert RACK.delete("r1", rack) == Gone()


def test_a_declaration_keeps_its_name() -> None:
    old = {
        "pool": "train",
        "site": "lab",
        "accelerator": "MI300X",
        "vendor": "amd",
        "release": "amd-2026.1",
        "nodes": 4,
    }

    assert POOL.check({}, old) == []
    assert POOL.check(old, {**old, "release": "amd-2026.2"}) == []
    assert [flaw.name for flaw in POOL.check(old, {**old, "pool": "big"})] == ["pool"]


@pytest.mark.parametrize(
    ("left", "missed"),
    [
        (["n01", "n02", "n03"], []),
        (["n01", "n03"], []),  # n02 is retired and certified
        (["n01", "n02"], []),  # n03 was never enrolled
        (["n02", "n03"], ["n01"]),
    ],
)
def test_a_site_misses_nodes_that_are_not_retired(world: World, left: list[str], missed: list[str]) -> None:
    before = {"site": "lab", "nodes": ["n01", "n02", "n03"]}

    flaws = site(world.ports).check(before, {"site": "lab", "nodes": [*left]})

    assert [flaw.why.split()[0] for flaw in flaws] == missed
    assert all("fleet retire" in flaw.why for flaw in flaws)


def test_a_site_asks_nobody_while_no_node_is_missed(world: World) -> None:
    site(world.ports).check({"site": "lab", "nodes": ["n01"]}, {"site": "lab", "nodes": ["n01", "n04"]})

    assert world.calls() == []
