"""The BMC emulator by itself: one system per address, passwords, power words, and faults that work at once."""

from __future__ import annotations

import base64
import json
import socket
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from werkzeug.test import Client

from fleet.lab import bmc, faults, keys
from fleet.lab.home import Home, LabState
from fleet.lab.layout import Layout, layout


@dataclass
class Power:
    """Containers that are only names, with what was done to them."""

    on: dict[str, bool] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)

    def start(self, container: str) -> None:
        self.on[container] = True
        self.done.append(f"start {container}")

    def stop(self, container: str, *, grace_s: int) -> None:
        self.on[container] = False
        self.done.append(f"{'ask' if grace_s else 'cut'} {container}")


@dataclass
class Rack:
    """A lab's home with the emulator over pretended containers."""

    home: Home
    plan: Layout
    power: Power
    app: Any

    def ask(self, name: str, path: str, *, secret: str | None = None, body: Any = None) -> tuple[int, Any]:
        """Status and JSON of a request to a node's BMC."""
        node = self.plan.node(name)
        assert node is not None
        word = secret if secret is not None else (self.home.bmc / name / "password").read_text()
        token = base64.b64encode(f"fleet:{word}".encode()).decode()
        client = Client(bmc.front(self.home, node, self.app))
        answer = client.open(
            path, method="POST" if body else "GET", json=body, headers={"Authorization": f"Basic {token}"}
        )
        return answer.status_code, json.loads(answer.data) if answer.data else None

    def system(self, name: str) -> str:
        node = self.plan.node(name)
        assert node is not None
        return f"/redfish/v1/Systems/{bmc.system_id(node)}"

    def break_(self, name: str, *words: str, off: bool = False) -> None:
        faults.apply(self.home, faults.Order(name, "bmc", words, off=off))


@pytest.fixture(scope="module")
def rack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    home, plan, power = Home(tmp_path_factory.mktemp("lab")), layout(6), Power()
    LabState(6, "image", 0).write(home)
    keys.certificates(home.bmc, {node.name: node.bmc_address for node in plan.nodes})
    for node in plan.nodes:
        keys.password(home.bmc / node.name / "password")
    patch = pytest.MonkeyPatch()
    patch.setattr(bmc, "POWER", {
        "On": (power.start,),
        "ForceOff": (lambda c: power.stop(c, grace_s=0),),
        "ForceRestart": (lambda c: power.stop(c, grace_s=0), power.start),
    })  # fmt: skip
    patch.setattr(bmc.ContainerSystems, "get_power_state", lambda self, identity: "On")
    patch.setattr(faults, "_booted", lambda container: None)
    yield Rack(home, plan, power, bmc.prepare_emulator(home, plan))
    patch.undo()


def test_each_address_shows_its_own_system_and_serial(rack: Rack) -> None:
    for node in rack.plan.nodes:
        status, members = rack.ask(node.name, "/redfish/v1/Systems")
        assert (status, [one["@odata.id"] for one in members["Members"]]) == (200, [rack.system(node.name)])
        assert rack.ask(node.name, rack.system(node.name))[1]["SerialNumber"] == node.serial


def test_a_bmc_knows_no_other_nodes_system(rack: Rack) -> None:
    assert rack.ask("n01", rack.system("n02"))[0] == 404


def test_a_wrong_password_is_refused_and_the_root_is_public(rack: Rack) -> None:
    assert rack.ask("n01", "/redfish/v1/Systems", secret="guess")[0] == 401
    assert rack.ask("n01", "/redfish/v1/", secret="guess")[0] == 200


def test_another_nodes_password_is_refused(rack: Rack) -> None:
    other = (rack.home.bmc / "n02" / "password").read_text()
    assert rack.ask("n01", "/redfish/v1/Systems", secret=other)[0] == 401


@pytest.mark.parametrize(
    ("word", "steps"),
    [("On", ["start"]), ("ForceOff", ["cut"]), ("ForceRestart", ["cut", "start"])],
)
def test_power_words_are_done_to_that_nodes_container(rack: Rack, word: str, steps: list[str]) -> None:
    rack.power.done.clear()
    path = f"{rack.system('n03')}/Actions/ComputerSystem.Reset"
    assert rack.ask("n03", path, body={"ResetType": word})[0] == 204
    assert rack.power.done == [f"{step} fleet-lab-n03" for step in steps]


def test_an_unknown_power_word_does_nothing(rack: Rack) -> None:
    rack.power.done.clear()
    path = f"{rack.system('n03')}/Actions/ComputerSystem.Reset"
    assert rack.ask("n03", path, body={"ResetType": "Explode"})[0] >= 400
    assert rack.power.done == []


def test_faults_work_at_once_and_on_one_bmc_only(rack: Rack) -> None:
    rack.break_("n02", "500")
    assert [rack.ask(name, "/redfish/v1/Systems")[0] for name in ("n01", "n02")] == [200, 500]
    rack.break_("n02", off=True)
    assert rack.ask("n02", "/redfish/v1/Systems")[0] == 200


def test_a_swapped_machine_tells_another_serial(rack: Rack) -> None:
    rack.break_("n02", "wrong-serial")
    assert rack.ask("n02", rack.system("n02"))[1]["SerialNumber"] != "LAB0002"
    rack.break_("n02", off=True)


def test_over_the_network_tls_holds_and_a_dead_bmc_refuses_connections(
    rack: Rack, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.77.1.4", 0)) as probe:
        port = probe.getsockname()[1]
    monkeypatch.setattr(bmc, "BMC_PORT", port)
    node = rack.plan.nodes[3]
    bmc.Listener(rack.home, node, rack.app).start()
    context = ssl.create_default_context(cafile=str(rack.home.bmc / "ca.pem"))

    def answers() -> bool:
        try:
            with urllib.request.urlopen(f"https://127.77.1.4:{port}/redfish/v1/", context=context, timeout=5) as got:
                return bool(got.status == 200)
        except urllib.error.URLError:
            return False

    assert _soon(answers)
    rack.break_("n04", "dead")
    assert _soon(lambda: not answers())
    rack.break_("n04", off=True)
    assert _soon(answers)
    rack.break_("n04", "dead")


def _soon(true: Any, within_s: float = 5) -> bool:
    waiting = threading.Event()
    for _ in range(int(within_s / 0.1)):
        if true():
            return True
        waiting.wait(0.1)
    return False
