"""What of the lab is there right now: read from podman, the network and the fault files, never from memory."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fleet.errors import Unavailable
from fleet.lab import bmc_process, containers, slurm
from fleet.lab.faults import standing
from fleet.lab.home import Home, LabState
from fleet.lab.layout import CONTROLLER, LabNode, layout
from fleet.lab.up import answers


def look(home: Home) -> dict[str, Any]:
    """The lab as plain data, in the shape of `fleet lab status --json`."""
    state = LabState.read(home)
    if state is None:
        return {"schema": 1, "up": False, "nodes": []}
    plan = layout(state.nodes)
    there = containers.seen()
    try:
        scheduler = slurm.node_states()
    except Unavailable:
        scheduler = {}
    with ThreadPoolExecutor(8) as pool:
        ssh = list(pool.map(lambda node: answers(node.address), plan.nodes))
    rows = [_row(home, node, there, scheduler, reached) for node, reached in zip(plan.nodes, ssh, strict=True)]
    controller = there.get(containers.CONTROLLER_CONTAINER)
    return {
        "schema": 1,
        "up": controller is not None and controller.running,
        "image": state.image,
        "controller": {
            "address": CONTROLLER,
            "power": "on" if controller and controller.running else "off",
            "scheduler": "up" if scheduler else "down",
            "faults": standing(home, "controller"),
        },
        "bmc": "up" if bmc_process.running(home) else "down",
        "nodes": rows,
    }


def _row(
    home: Home, node: LabNode, there: Mapping[str, containers.Seen], scheduler: Mapping[str, str], ssh: bool
) -> dict[str, Any]:
    found = there.get(node.container)
    return {
        "node": node.name,
        "serial": node.serial,
        "pool": node.pool.name,
        "rack": node.rack,
        "address": node.address,
        "bmc": node.bmc_url,
        "power": "absent" if found is None else "on" if found.running else "off",
        "ssh": ssh,
        "scheduler": scheduler.get(node.name, "unknown"),
        "faults": standing(home, node.name, found.started if found else ""),
    }


def as_table(seen: Mapping[str, Any]) -> str:
    """The same for a person, within 80 columns."""
    if "controller" not in seen:
        return "no lab here; `fleet lab up` brings one up"
    lines = [f"{'node':<5} {'pool':<6} {'rack':<4} {'power':<6} {'ssh':<4} {'address':<11} {'scheduler':<14} faults"]
    lines += [
        f"{n['node']:<5} {n['pool']:<6} {n['rack']:<4} {n['power']:<6} {'yes' if n['ssh'] else 'no':<4} "
        f"{n['address']:<11} {n['scheduler']:<14} {', '.join(n['faults'])}".rstrip()
        for n in seen["nodes"]
    ]
    controller = seen["controller"]
    faults = ", ".join(controller["faults"])
    lines.append(
        f"controller {controller['power']} at {controller['address']}, scheduler {controller['scheduler']}, "
        f"BMCs {seen['bmc']}" + (f"; faults: {faults}" if faults else "")
    )
    return "\n".join(lines)
