"""What a stack's program declares: protection by the ledger, and what is left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pulumi
import pytest

from fleet.adapters.ledger_sql import open_ledger
from fleet.components import Inventory, Site, resources
from fleet.components.inventory import TOLD, look_up_retired, stop_where_it_cannot_work
from fleet.model.ids import NodeId, OrderId, PoolId, Purpose, ReleaseId
from fleet.model.observation import Enrolment
from fleet.model.plan import OrderClosed, OrderOpened
from fleet.model.policy import Policy
from fleet.model.topology import Declared, DeclaredNode, Disposition, Domain, DomainKind, Pool

RETIRED = Disposition.RETIRED


def node(name: str, rack: str = "r1", slot: int = 1, disposition: Disposition = Disposition.IN_SERVICE) -> DeclaredNode:
    domains = (Domain(DomainKind.RACK, rack), Domain(DomainKind.FEED, "A"))
    serial, address = f"S-{name}", f"https://bmc-{name}"
    return DeclaredNode(
        NodeId(name), PoolId("train"), serial, domains, "", address, 8, disposition=disposition, rack=rack, slot=slot
    )


def declared(*nodes: DeclaredNode) -> Declared:
    pool = Pool(PoolId("train"), "MI300X", "amd", ReleaseId("amd-1"), Policy(), "train")
    return Declared("lab", {each.id: each for each in nodes}, {pool.id: pool}, region="here")


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """n01 serves, n02 is retired and certified, n03 is retired without a certificate."""
    path, now = tmp_path / "ledger.db", datetime.now(UTC)
    with open_ledger(path) as opened:
        for name in ("n01", "n02", "n03"):
            opened.enrol(Enrolment(NodeId(name), f"S-{name}"), "test")
        for name, certificate in (("n02", "n02.json"), ("n03", "")):
            order = OrderId(f"RETIRE-{name}")
            opened.commit([OrderOpened(order, NodeId(name), Purpose.RETIRE)], "test", now)
            opened.commit([OrderClosed(order, NodeId(name), good=True, certificate=certificate)], "test", now)
    return path


def test_only_what_the_ledger_certifies_is_retired(ledger: Path) -> None:
    site = declared(
        node("n01", disposition=RETIRED), node("n02", disposition=RETIRED), node("n03", disposition=RETIRED)
    )

    assert look_up_retired(site, ledger) == (frozenset({"n02"}), frozenset())


def test_a_node_that_was_never_enrolled_is_left_out(ledger: Path, tmp_path: Path) -> None:
    site = declared(node("n02"), node("n04", disposition=RETIRED))

    assert look_up_retired(site, ledger) == (frozenset(), frozenset({"n04"}))
    assert look_up_retired(site, tmp_path / "none.db") == (frozenset(), frozenset({"n04"}))
    assert not (tmp_path / "none.db").exists()


def test_what_cannot_work_ends_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(pulumi.log, "error", told.append)

    with pytest.raises(SystemExit) as ended:
        stop_where_it_cannot_work(declared(node("n01", slot=1), node("n02", slot=1)))

    assert ended.value.code == TOLD
    assert any("n02" in line for line in told)


class Engine(pulumi.runtime.Mocks):
    """An engine that takes everything."""

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        return args.name, dict(args.inputs)

    def call(self, args: pulumi.runtime.MockCallArgs) -> Any:
        raise AssertionError("nothing is called")


Declare = Callable[..., Mapping[tuple[str, str], tuple[Mapping[str, Any], bool]]]


@pytest.fixture
def declare(monkeypatch: pytest.MonkeyPatch) -> Declare:
    """Runs a program that declares a Site; gives inputs and protection of each of our resources, by kind and name."""
    seen: dict[tuple[str, str], tuple[Mapping[str, Any], bool]] = {}

    def noted(
        token: str, name: str, inputs: Mapping[str, Any], options: pulumi.ResourceOptions
    ) -> pulumi.CustomResource:
        seen[token.rpartition(":")[2], name] = (inputs, bool(options.protect))
        return resources.declare(token, name, inputs, options)

    monkeypatch.setattr("fleet.components.rack.declare", noted)
    monkeypatch.setattr("fleet.components.site.declare", noted)
    pulumi.runtime.set_mocks(Engine(), project="fleet-lab", stack="lab")

    def run(inventory: Inventory, racks: tuple[str, ...] | None = None) -> Mapping[Any, Any]:
        pulumi.runtime.test(lambda: Site(inventory, racks) and None)()
        return seen

    return run


def test_every_node_is_protected_but_those_certified_as_retired(declare: Declare) -> None:
    site = declared(node("n01"), node("n02", slot=2, disposition=RETIRED), node("n03", slot=3, disposition=RETIRED))
    inventory = Inventory(site, {NodeId("n01"): "file:n01"}, retired=frozenset({NodeId("n02")}))

    made = declare(inventory)

    protected = {name: protect for (kind, name), (_, protect) in made.items() if kind == "Node"}
    assert protected == {"n01": True, "n02": False, "n03": True}
    assert made["Node", "n01"][0]["bmcSecret"] == "file:n01"
    assert made["Rack", "lab-r1"][0] == {"rack": "r1", "site": "lab", "feed": "A"}
    assert made["Pool", "lab-train"][0]["nodes"] == 3


def test_a_shard_declares_its_racks_and_names_all_nodes(declare: Declare) -> None:
    site = declared(node("n01"), node("n02", "r2"))

    made = declare(Inventory(site), racks=("r2",))

    assert [name for kind, name in made if kind == "Node"] == ["n02"]
    assert made["Site", "lab"][0]["nodes"] == ["n01", "n02"]
