"""A site that does not exist: BMCs, nodes and an enrolment ledger in one JSON file, shared by processes.

What a test changes between two runs of Pulumi is a change made by somebody in the world; `calls` tells what was asked
of it. Run as a program it is the plugin `pulumi-resource-fleet` over these machines and a real ledger (FLEET_TEST_WORLD
names the file).
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fleet.errors import Unavailable
from fleet.model.ids import NodeId
from fleet.model.observation import Enrolment
from fleet.model.order import Done, Outcome
from fleet.model.topology import DeclaredNode
from fleet.provider.resource import Ports
from fleet.provider.settings import Settings


@dataclass(frozen=True)
class World:
    """Implements the ports Enrol, PowerPort, Identity and Clock. A machine is found by its BMC's address."""

    path: Path
    delay_seconds: float = 0.0
    journal: bool = True

    @classmethod
    def of(cls, path: Path, machines: dict[str, str], **more: Any) -> World:
        """A world with switched-off machines: BMC address to serial."""
        made = cls(path, **more)
        path.write_text(
            json.dumps(
                {
                    "machines": {
                        bmc: {"serial": serial, "power": "off", "boots": 0, "key": f"ssh-ed25519 key-{serial}"}
                        for bmc, serial in machines.items()
                    },
                    "enrolled": {},
                    "released": [],
                    "calls": [],
                }
            )
        )
        return made

    @contextmanager
    def open(self) -> Iterator[dict[str, Any]]:
        """The state, to read and to change."""
        with self.path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            state = json.loads(self.path.read_text())
            yield state
            part = self.path.with_suffix(".part")
            part.write_text(json.dumps(state))
            part.replace(self.path)

    def state(self) -> dict[str, Any]:
        """The state, to read."""
        with self.open() as state:
            return state

    def machine(self, bmc: str, /, **changed: Any) -> None:
        """Somebody changes a machine behind our back."""
        with self.open() as state:
            state["machines"][bmc].update(changed)

    def busy(self, node: str, order: str) -> None:
        """An order is opened on a node."""
        with self.open() as state:
            state["busy"] = {node: order}

    def calls(self, *verbs: str) -> list[str]:
        """What was asked: `verb node`, all of it or only some verbs."""
        return [call for call in self.state()["calls"] if not verbs or call.split()[0] in verbs]

    @contextmanager
    def _asked(self, verb: str, subject: str) -> Iterator[dict[str, Any]]:
        if self.delay_seconds:
            time.sleep(self.delay_seconds)
        with self.open() as state:
            if self.journal:
                state["calls"].append(f"{verb} {subject}")
            yield state

    # PowerPort

    def serial(self, node: DeclaredNode) -> str:
        with self._asked("bmc-serial", node.id) as state:
            return str(self._bmc(state, node)["serial"])

    def power(self, node: DeclaredNode) -> str:
        with self._asked("power", node.id) as state:
            return str(self._bmc(state, node)["power"])

    def turn_on(self, node: DeclaredNode) -> Outcome:
        with self._asked("turn_on", node.id) as state:
            machine = self._bmc(state, node)
            machine.update(power="on", boots=machine["boots"] + 1)
            return Done()

    def turn_off(self, node: DeclaredNode) -> Outcome:
        raise AssertionError("Pulumi never turns a node off")

    def cycle(self, node: DeclaredNode) -> Outcome:
        raise AssertionError("Pulumi never cycles a node")

    def _bmc(self, state: dict[str, Any], node: DeclaredNode) -> dict[str, Any]:
        machine: dict[str, Any] = state["machines"].get(node.bmc, {"bmc": "dead"})
        if machine.get("bmc") == "dead":
            raise Unavailable(f"BMC {node.bmc}", "no answer within 5 s", "look at its network")
        return machine

    # Enrol

    def enrolment(self, node: NodeId) -> Enrolment | None:
        with self._asked("enrolment", node) as state:
            found = state["enrolled"].get(node)
            return Enrolment(**found) if found else None

    def by_serial(self, serial: str) -> Enrolment | None:
        with self._asked("by_serial", serial) as state:
            found = [each for each in state["enrolled"].values() if each["serial"] == serial]
            return Enrolment(**found[0]) if found else None

    def enrol(self, enrolment: Enrolment, by: str) -> None:
        with self._asked("enrol", enrolment.node) as state:
            state["enrolled"][enrolment.node] = {
                "node": enrolment.node,
                "serial": enrolment.serial,
                "host_key": enrolment.host_key,
            }

    def released(self, node: NodeId, by: str) -> None:
        with self._asked("released", node) as state:
            state["released"].append(node)

    def ports(self) -> Ports:
        """What the provider gets."""
        return Ports(
            enrol=self,
            power=self,
            identity=_Ssh(self),
            clock=_Fast(),
            busy=lambda node: str(self.state().get("busy", {}).get(node, "")),
            declared=lambda node: self.state().get("declared", {}).get(node),
        )


@dataclass(frozen=True)
class _Ssh:
    """The port Identity. A machine answers if it is on and its SSH isn't dead."""

    world: World

    def _up(self, state: dict[str, Any], node: DeclaredNode) -> dict[str, Any]:
        machine: dict[str, Any] = state["machines"][node.bmc]
        if machine["power"] != "on" or machine.get("ssh") == "dead":
            raise Unavailable(f"{node.id} ({node.address})", "connection refused", "look at its console")
        return machine

    def host_key(self, node: DeclaredNode) -> str:
        with self.world._asked("host_key", node.id) as state:
            return str(self._up(state, node)["key"])

    def serial(self, node: DeclaredNode) -> str:
        with self.world._asked("serial", node.id) as state:
            machine = self._up(state, node)
            return str(machine.get("board", machine["serial"]))

    def boot(self, node: DeclaredNode) -> str:
        with self.world._asked("boot", node.id) as state:
            return f"boot-{self._up(state, node)['boots']}"


class _Fast:
    """The port Clock with seconds that take a hundredth."""

    def now(self) -> Any:
        raise AssertionError("the provider has no use for the time of day")

    def monotonic(self) -> float:
        return time.monotonic() * 100

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds / 100)


def main() -> int:
    """The plugin over the machines that the environment names, and the ledger that the settings do."""
    from fleet.cli.provider import LedgerOnDemand
    from fleet.provider.server import serve
    from fleet.spec import project_root

    delay = float(os.environ.get("FLEET_TEST_DELAY", "0"))
    world = World(Path(os.environ["FLEET_TEST_WORLD"]), delay, os.environ.get("FLEET_TEST_JOURNAL", "1") == "1")

    def open_ports(settings: Settings) -> Ports:
        ledger = LedgerOnDemand(settings.ledger(project_root(settings.inventory)))
        return replace(world.ports(), enrol=ledger, busy=ledger.busy)

    code = serve(open_ports, "0.0.0")
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
