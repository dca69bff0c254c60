"""The lab's stack in a directory of its own: real engine, host, program and ledger; only the machines don't exist."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fleet.adapters.ledger_sql import open_ledger
from fleet.model.ids import NodeId, OrderId, Purpose
from fleet.model.observation import Enrolment
from fleet.model.plan import OrderClosed, OrderOpened
from tests.provider.world import World

ROOT = Path(__file__).resolve().parents[2]
NODES = tuple(f"n{number:02}" for number in range(1, 7))
LIMIT_SECONDS = 60


def bmc(node: str) -> str:
    """The address of a lab node's BMC."""
    return f"https://127.77.1.{int(node[1:])}:8443"


def pulumi_path() -> str:
    """PATH with this clone's Pulumi before what is there."""
    return os.pathsep.join([str(ROOT / ".fleet/bin"), str(ROOT / ".venv/bin"), os.environ["PATH"]])


@dataclass
class Stack:
    """A stack `lab` under `root`. `said` is what the last run printed."""

    root: Path
    world: World
    delay: float = 0.0
    said: str = ""
    environ: dict[str, str] = field(default_factory=dict)

    @classmethod
    def make(cls, root: Path) -> Stack:
        """A fresh stack over the lab's inventory, with six machines that are off."""
        here = root / "stacks" / "lab"
        here.mkdir(parents=True)
        for name in ("__main__.py", "Pulumi.lab.yaml"):
            shutil.copy(ROOT / "stacks/lab" / name, here)
        project = (ROOT / "stacks/lab/Pulumi.yaml").read_text()
        project = project.replace("../../.venv/bin", str(root / "bin"))
        (here / "Pulumi.yaml").write_text(project.replace("../../.venv", str(ROOT / ".venv")))
        shutil.copytree(ROOT / "inventory/lab", root / "inventory/lab")
        (root / "bin").mkdir()
        plugin = root / "bin/pulumi-resource-fleet"
        plugin.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tests.provider.world\n')
        plugin.chmod(0o755)
        World.of(root / "world.json", {bmc(node): f"LAB{int(node[1:]):04}" for node in NODES})
        (root / "state").mkdir()
        stack = cls.at(root)
        stack.run("stack", "init", "lab")
        return stack

    @classmethod
    def at(cls, root: Path) -> Stack:
        """The stack that lies under `root`."""
        stack = cls(root, World(root / "world.json"))
        stack.environ = {
            **os.environ,
            "PATH": pulumi_path(),
            "PYTHONPATH": str(ROOT),
            "PULUMI_HOME": str(root / "home"),
            "PULUMI_BACKEND_URL": f"file://{root / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": "",
            "PULUMI_STACK": "lab",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_SKIP_CHECKPOINTS": "true",
            "FLEET_INVENTORY": "",
            "FLEET_HOME": "",
            "FLEET_TEST_WORLD": str(stack.world.path),
        }
        return stack

    def copy(self, root: Path) -> Stack:
        """The same stack, with its state, ledger and machines, under another root."""
        shutil.copytree(self.root, root, dirs_exist_ok=True)
        for name in ("stacks/lab/Pulumi.yaml", "bin/pulumi-resource-fleet"):
            path = root / name
            path.write_text(path.read_text().replace(str(self.root), str(root)))
        return self.at(root)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Starts Pulumi in a process group of its own."""
        return subprocess.Popen(
            ["pulumi", *words, "--non-interactive", "--color=never"],
            cwd=self.root / "stacks/lab",
            env={**self.environ, "FLEET_TEST_DELAY": str(self.delay)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str, expect: int | None = 0) -> str:
        """Runs Pulumi to its end; `expect` is its exit code, None any but 0."""
        return self.finish(self.start(*words), expect)

    def finish(self, process: subprocess.Popen[str], expect: int | None = 0) -> str:
        """Waits for a started Pulumi; gives what it said."""
        try:
            self.said, _ = process.communicate(timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        good = process.returncode != 0 if expect is None else process.returncode == expect
        assert good, f"exit {process.returncode}\n{self.said}"
        assert "Traceback" not in self.said
        return self.said

    def up(self, expect: int | None = 0) -> str:
        """`pulumi up` without its preview, which other tests look at."""
        return self.run("up", "--yes", "--skip-preview", expect=expect)

    def resources(self) -> list[dict[str, Any]]:
        """The nodes in the stack's state, as the file backend keeps it."""
        kept = json.loads((self.root / "state/.pulumi/stacks/fleet-lab/lab.json").read_text())
        latest = kept["checkpoint"]["latest"] or {}
        return [each for each in latest.get("resources", []) if each["type"] == "fleet:index:Node"]

    def state(self) -> dict[str, dict[str, Any]]:
        """The same by name."""
        return {each["id"]: each for each in self.resources()}

    def nodes(self) -> list[str]:
        """Their names, one for each resource."""
        return sorted(each["id"] for each in self.resources())

    def enrolled(self) -> dict[str, Enrolment]:
        """What the ledger holds of the six nodes."""
        with open_ledger(self.root / ".fleet/ledger.db") as ledger:
            found = {node: ledger.enrolment(NodeId(node)) for node in NODES}
        return {node: each for node, each in found.items() if each is not None}

    def retire(self, node: str) -> None:
        """What `fleet retire` leaves in the ledger at its end."""
        now, order = datetime.now(UTC), OrderId(f"RETIRE-{node}")
        with open_ledger(self.root / ".fleet/ledger.db") as ledger:
            ledger.commit([OrderOpened(order, NodeId(node), Purpose.RETIRE)], "test", now)
            ledger.commit([OrderClosed(order, NodeId(node), good=True, certificate=f"{node}.json")], "test", now)
        self.world.machine(bmc(node), power="off")

    def edit(self, file: str, pattern: str, replacement: str) -> None:
        """Changes the inventory in one place."""
        path = self.root / "inventory/lab" / file
        text, count = re.subn(pattern, replacement, path.read_text(), flags=re.MULTILINE)
        assert count == 1, f"{pattern} is {count} times in {file}"
        path.write_text(text)

    def wait(self, condition: Callable[[], bool], seconds: float = 20) -> None:
        """Until something holds in the world."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it never came to be"
            time.sleep(0.05)
