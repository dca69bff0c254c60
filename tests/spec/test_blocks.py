"""200 nodes are one short block: what is said once is spread, counted up, and overridden where a node differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.errors import InventoryError
from fleet.model.hardware import Coolant, NodeKind
from fleet.model.ids import NodeId
from fleet.model.topology import Declared, Disposition, DomainKind
from fleet.spec import load
from fleet.spec.edit import set_on_nodes
from tests.spec.sites import write

RACKS = """
rooms: {hall: {air: 300 kW, containment: aisle}}
ups: {u1: {power: 500 kW}}
feeds:
  A: {volts: 415 V, breaker: 400 A, ups: u1}
  B: {volts: 415 V, breaker: 400 A, derating: 80 %}
loops: {"cdu1": {capacity: 250 kW, flow: 300 l/min, delta: 10 K}, cdu2: {}}
leaves: {"l[1-4]": }
racks:
  r[1-4]:
    room: hall
    leaf: l[1-4]
    loop: cdu1,cdu2
    power: 45 kW
    circuits: [{feed: A, volts: 415 V, breaker: 60 A}, {feed: B, volts: 415 V, breaker: 60 A}]
    redundancy: 2N
"""
NODES = """
nodes:
  g[01-08]:
    model: Own Box
    pool: train
    rack: r[1-4]
    slot: [1, 9]
    serial: "S-{name}"
    address: 10.1.0.254+
    bmc: https://10.2.0.1+
    mac: 02:00:00:00:00:01+
overrides:
  g03: {disposition: parked}
  g[07-08]: {hardware: {measured: 8.9 kW}}
"""
MODELS = """
models:
  Own Box: {units: 8, accelerators: 8, accelerator: MI300X, power: 11 kW, nics: [8 x 400 Gb/s, 2 x 100 Gb/s]}
  Own Wet Box: {like: Own Box, cooling: liquid, liquid_share: 85 %}
  Plain: {kind: cpu, units: 1, power: 800 W}
"""


def site(tmp_path: Path, **changed: str) -> Declared:
    files = {"racks.yaml": RACKS, "nodes.yaml": NODES, "models.yaml": MODELS}
    return load(write(tmp_path, {**files, **{f"{name}.yaml": text for name, text in changed.items()}}))


def told(tmp_path: Path, **changed: str) -> list[str]:
    with pytest.raises(InventoryError) as caught:
        site(tmp_path, **changed)
    return [f"{Path(one.file).name}:{one.line}: {one.text}" for one in caught.value.problems]


def test_a_block_is_many_nodes(tmp_path: Path) -> None:
    found = site(tmp_path).nodes
    assert list(found) == [f"g{number:02}" for number in range(1, 9)]
    third = found[NodeId("g03")]
    assert (third.rack, third.slot, third.serial) == ("r2", 1, "S-g03")
    assert (third.address, third.bmc, third.mac) == ("10.1.1.0", "https://10.2.0.3", "02:00:00:00:00:03")
    assert third.disposition is Disposition.PARKED
    assert found[NodeId("g04")].slot == 9
    assert {str(domain) for domain in found[NodeId("g08")].domains} == {
        "pool train", "rack r4", "feed A", "feed B", "loop cdu2", "leaf l4", "site here"
    }  # fmt: skip


def test_a_model_is_shared_until_a_node_differs(tmp_path: Path) -> None:
    found = site(tmp_path).nodes
    first, last = found[NodeId("g01")].model, found[NodeId("g08")].model
    assert first is found[NodeId("g02")].model
    assert first is not None
    assert last is not None
    assert (first.max_w, first.measured_w, first.draw_w) == (11000, None, 11000)
    assert (last.max_w, last.measured_w, last.draw_w) == (11000, 8900, 8900)
    assert [(nic.count, nic.gbps) for nic in first.nics] == [(8, 400), (2, 100)]


def test_the_site_holds_over_the_pool_and_the_pool_over_the_model(tmp_path: Path) -> None:
    pools = """pools:
  train: {accelerator: MI300X, vendor: amd, release: amd-1, node: {measured: 9 kW, idle: 2 kW, power: 10 kW}}
"""
    whole = """site: here
hardware: {measured: 8 kW}
"""
    found = site(tmp_path, pools=pools, site=whole).nodes
    first, last = found[NodeId("g01")].model, found[NodeId("g08")].model
    assert first is not None
    assert last is not None
    assert (first.max_w, first.idle_w, first.measured_w) == (10000, 2000, 8000)
    assert last.measured_w == 8900  # what a node says of itself holds over all


def test_models_are_like_others(tmp_path: Path) -> None:
    wet = site(tmp_path, nodes=NODES.replace("Own Box", "Own Wet Box")).nodes[NodeId("g01")].model
    assert wet is not None
    assert (wet.name, wet.coolant, wet.liquid_share, wet.max_w) == ("Own Wet Box", Coolant.LIQUID, 0.85, 11000)


def test_machines_without_accelerators(tmp_path: Path) -> None:
    pools = """pools:
  train: {accelerator: MI300X, vendor: amd, release: amd-1}
  login: {purpose: service}
"""
    more = NODES.replace(
        "overrides:",
        """  login[1-2]: {model: Plain, pool: login, rack: r1, slot: [20, 21], serial: "L{i}",
    address: 10.3.0.1+, bmc: https://10.3.1.1+}
overrides:""",
    )
    found = site(tmp_path, pools=pools, nodes=more)
    login = found.nodes[NodeId("login2")]
    assert login.accelerators == 0
    assert login.model is not None
    assert login.model.kind is NodeKind.CPU
    assert found.target(login) == ""


def test_parts_may_be_directories(tmp_path: Path) -> None:
    first, _, rest = NODES.partition("overrides:")
    home = write(tmp_path, {
        "racks.yaml": RACKS, "models.yaml": MODELS, "nodes.yaml": None,
        "nodes/train.yaml": first, "nodes/changed.yaml": f"overrides:{rest}",
    })  # fmt: skip
    (home / "nodes.yaml").unlink(missing_ok=True)
    found = load(home)
    assert len(found.nodes) == 8
    assert found.nodes[NodeId("g01")].place.endswith("nodes/train.yaml:3")
    assert found.nodes[NodeId("g03")].place.endswith("nodes/changed.yaml:2")


def test_a_name_in_two_files_is_told(tmp_path: Path) -> None:
    home = write(tmp_path, {"racks.yaml": RACKS, "models.yaml": MODELS, "nodes.yaml": NODES, "nodes/more.yaml": NODES})
    with pytest.raises(InventoryError) as caught:
        load(home)
    assert [Path(one.file).name for one in caught.value.problems] == ["more.yaml"] * 3
    assert "written a second time; the first is in" in caught.value.problems[0].text


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"nodes": NODES.replace("rack: r[1-4]", "rack: r[1-5]")}, "nodes.yaml:6: g[01-08]: there is no rack 'r5'"),
        ({"nodes": NODES.replace("Own Box", "Own Bax")}, "nodes.yaml:4: g[01-08]: there is no model 'Own Bax'"),
        ({"nodes": NODES.replace('"S-{name}"', "[a, b]")}, "nodes.yaml:8: g[01-08] is 8 nodes, and serial lists 2"),
        ({"nodes": NODES.replace('"S-{name}"', "S1")}, "nodes.yaml:8: g02 and g01 both have serial S1"),
        ({"nodes": NODES.replace("10.1.0.254+", "10.1.0.999+")}, "nodes.yaml:9: '10.1.0.999+' can't be counted up"),
        ({"nodes": NODES.replace("g03:", "g13:")}, "nodes.yaml:13: there is no node 'g13' to override"),
        ({"racks": RACKS.replace("leaf: l[1-4]", "leaf: l[1-5]")}, "racks.yaml:12: r[1-4]: there is no leaf 'l5'"),
        ({"racks": RACKS.replace("ups: u1", "ups: u2")}, "racks.yaml:5: A: there is no UPS 'u2'"),
        ({"racks": RACKS.replace("45 kW", "45")}, "racks.yaml:14: racks.r[1-4].power: '45' has no unit"),
        ({"racks": RACKS.replace("45 kW", "45 A")}, "racks.yaml:14: racks.r[1-4].power: '45 A' is in A"),
        ({"models": MODELS.replace("like: Own Box", "like: Own Wet Box")}, "models.yaml:4: Own Wet Box is like itself"),
    ],
)
def test_mistakes_in_blocks(tmp_path: Path, changed: dict[str, str], problem: str) -> None:
    assert any(one.startswith(problem) for one in told(tmp_path, **changed)), told(tmp_path, **changed)


@pytest.mark.parametrize("address", ["10.0.0.999", "10.0.1", "256.1.1.1", "1:2:3"])
def test_an_address_that_is_none(tmp_path: Path, address: str) -> None:
    nodes = f'nodes: {{n1: {{serial: S, rack: r1, pool: train, address: "{address}", bmc: "https://10.0.0.1"}}}}'
    assert told(tmp_path, nodes=nodes) == [f"nodes.yaml:1: nodes.n1.address: '{address}' can't stand here"]


def test_anchors_and_merge_keys(tmp_path: Path) -> None:
    nodes = """nodes:
  n1: &base {serial: S1, rack: r1, pool: train, address: 10.0.0.1, bmc: "https://10.0.1.1", disposition: parked}
  n2:
    <<: *base
    serial: S2
    address: 10.0.0.2
    bmc: https://10.0.1.2
"""
    found = site(tmp_path, nodes=nodes).nodes[NodeId("n2")]
    assert (found.serial, found.rack, found.disposition) == ("S2", "r1", Disposition.PARKED)


def test_a_merge_key_with_no_mapping(tmp_path: Path) -> None:
    assert told(tmp_path, nodes="nodes:\n  <<: [1]\n") == ["nodes.yaml:2: `<<` takes a mapping"]


def test_a_link_out_of_the_repository_is_not_followed(tmp_path: Path) -> None:
    home = write(tmp_path / "repository")
    secret = tmp_path / "secret.yaml"
    secret.write_text("nodes: {}")
    (home / "nodes.yaml").unlink()
    (home / "nodes.yaml").symlink_to(secret)
    with pytest.raises(InventoryError) as caught:
        load(home)
    assert "this link leads out of the repository" in str(caught.value)


def test_links_in_a_circle_a_directory_and_a_huge_file(tmp_path: Path) -> None:
    home = write(tmp_path)
    (home / "nodes.yaml").unlink()
    (home / "nodes.yaml").symlink_to("nodes.yaml")
    (home / "pools.yaml").unlink()
    (home / "pools.yaml").mkdir()
    with (home / "racks.yaml").open("wb") as file:
        file.truncate(100 << 20)
    with pytest.raises(InventoryError) as caught:
        load(home)
    problems = {Path(one.file).name: one.text for one in caught.value.problems}
    assert problems["racks.yaml"] == "100 MiB are more than the 16 MiB that are read"
    assert problems["pools.yaml"] == "this is no file"
    assert "can't be read" in problems["nodes.yaml"]


def test_a_node_of_a_block_is_edited_under_overrides(tmp_path: Path) -> None:
    home = write(tmp_path, {"racks.yaml": RACKS, "models.yaml": MODELS, "nodes.yaml": NODES})
    for edit in set_on_nodes(home, ["g01", "g02", "g03"], "disposition", "retired"):
        edit.write()
    found = load(home).nodes
    assert [node for node, one in found.items() if one.disposition is Disposition.RETIRED] == ["g01", "g02", "g03"]
    assert {domain.kind for domain in found[NodeId("g01")].domains} >= {DomainKind.POOL, DomainKind.FEED}
