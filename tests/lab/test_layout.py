"""What stands where: the six nodes that everybody meets, and the rules that hold for any number."""

from __future__ import annotations

from collections import Counter

import pytest

from fleet.lab.layout import LARGEST, Vendor, layout


def test_six_nodes_stand_as_the_inventory_says() -> None:
    places = [(n.name, n.serial, n.rack, n.pool.name, n.address, n.bmc_url) for n in layout(6).nodes]
    assert places == [
        ("n01", "LAB0001", "r1", "train", "10.77.1.1", "https://127.77.1.1:8443"),
        ("n02", "LAB0002", "r1", "train", "10.77.1.2", "https://127.77.1.2:8443"),
        ("n03", "LAB0003", "r2", "train", "10.77.1.3", "https://127.77.1.3:8443"),
        ("n04", "LAB0004", "r2", "train", "10.77.1.4", "https://127.77.1.4:8443"),
        ("n05", "LAB0005", "r1", "infer", "10.77.1.5", "https://127.77.1.5:8443"),
        ("n06", "LAB0006", "r2", "infer", "10.77.1.6", "https://127.77.1.6:8443"),
    ]


@pytest.mark.parametrize("nodes", [2, 6, 7, 16, 17, 30, 64, LARGEST])
def test_any_lab_is_two_thirds_amd_and_even_over_racks_and_feeds(nodes: int) -> None:
    plan = layout(nodes)
    amd = sum(node.pool.vendor is Vendor.AMD for node in plan.nodes)
    assert abs(amd - nodes * 2 / 3) <= 1
    per_rack = Counter(node.rack for node in plan.nodes)
    feeds = Counter(rack.feed for rack in plan.racks)
    assert max(per_rack.values()) <= 9
    assert max(per_rack.values()) - min(per_rack.values()) <= 2
    assert feeds["A"] == feeds["B"]


@pytest.mark.parametrize("nodes", [1, 6, 30, LARGEST])
def test_names_addresses_serials_and_slots_are_each_used_once(nodes: int) -> None:
    plan = layout(nodes)
    for key in ("name", "serial", "address", "bmc_address", "container"):
        assert len({getattr(node, key) for node in plan.nodes}) == nodes
    assert len({(node.rack, node.slot) for node in plan.nodes}) == nodes


@pytest.mark.parametrize("nodes", [0, -1, LARGEST + 1])
def test_a_lab_of_no_or_too_many_nodes_is_refused(nodes: int) -> None:
    with pytest.raises(ValueError, match="1 to"):
        layout(nodes)
