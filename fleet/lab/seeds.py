"""What each machine is given before its first boot: identity, keys, scheduler configuration, apt source."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from fleet.lab import slurm
from fleet.lab.containers import CONTROLLER_CONTAINER, Machine
from fleet.lab.home import Home
from fleet.lab.keys import private, secret, ssh_pair
from fleet.lab.layout import CONTROLLER, LabNode, Layout
from fleet.lab.packages import SUITE

SOURCES = f"""Types: deb
URIs: http://{CONTROLLER}/
Suites: {SUITE}
Components: main
Signed-By: /etc/apt/keyrings/fleet-lab.gpg
"""
HOST_CLASSES = ("lo", "eth0")
MODELS = {"amd": "Lab AMD MI300X node", "nvidia": "Lab NVIDIA H100 node"}


def write_seeds(home: Home, plan: Layout, boot_seconds: float) -> None:
    """Seeds and identities of every machine of the layout; existing secrets are kept."""
    operator = ssh_pair(home.operator_key, "operator@fleet-lab")
    ssh_pair(home.person_key, "alice@fleet-lab")
    munge = home.root / "munge.key"
    secret(munge, 1024)
    common = {
        "authorized_keys": operator + "\n",
        "lab.sources": SOURCES,
        "slurm.conf": slurm.configuration(plan),
        "gres.conf": slurm.gres(plan),
        "boot_seconds": f"{boot_seconds:g}\n",
    }
    for name in (CONTROLLER_CONTAINER, *(node.name for node in plan.nodes)):
        directory = home.seed(name)
        directory.mkdir(parents=True, exist_ok=True)
        for file, text in common.items():
            (directory / file).write_text(text)
        private(directory / "munge.key", munge.read_bytes())
        shutil.copyfile(home.root / "lab.gpg", directory / "lab.gpg")
    (home.seed(CONTROLLER_CONTAINER) / "controller").touch()
    for node in plan.nodes:
        (home.seed(node.name) / "node").touch()
        (home.seed(node.name) / "node.json").write_text(json.dumps(_about(node)))
        write_identity(home, node, node.serial)


def _about(node: LabNode) -> dict[str, str]:
    return {
        "name": node.name,
        "serial": node.serial,
        "vendor": node.pool.vendor.value,
        "model": node.pool.accelerator,
    }


def write_identity(home: Home, node: LabNode, serial: str) -> None:
    """A /sys/class in which the node finds its own serial; a container would else see the host's or none."""
    root = home.identity(node.name)
    dmi = root / "dmi" / "id"
    dmi.mkdir(parents=True, exist_ok=True)
    facts = {
        "product_serial": serial,
        "chassis_serial": serial,
        "board_serial": f"{serial}-B",
        "product_name": MODELS[node.pool.vendor.value],
        "sys_vendor": "fleet lab (stand-in)",
    }
    for name, value in facts.items():
        (dmi / name).write_text(value + "\n")
    net = root / "net"
    net.mkdir(exist_ok=True)
    for device in HOST_CLASSES:
        link = net / device
        if not link.is_symlink():
            link.symlink_to(f"../../devices/virtual/net/{device}")


def machines(home: Home, plan: Layout) -> tuple[Machine, ...]:
    """Every container of the lab, the controller first."""
    controller = Machine(
        CONTROLLER_CONTAINER,
        CONTROLLER_CONTAINER,
        CONTROLLER,
        ((home.seed(CONTROLLER_CONTAINER), "/lab"), (home.repo, "/srv/repo")),
    )
    return (controller, *(_node_machine(home, node) for node in plan.nodes))


def _node_machine(home: Home, node: LabNode) -> Machine:
    mounts: tuple[tuple[Path, str], ...] = (
        (home.seed(node.name), "/lab"),
        (home.identity(node.name), "/sys/class"),
    )
    return Machine(node.container, node.name, node.address, mounts)
