"""STAND-IN, part of the lab: eight accelerators that don't exist, as the tools beside this file report them.

A device is computed from three things on the node: who the node is, which "kernel driver" was loaded at its last boot
(the lab's boot unit copies what the installed driver package brings), and the faults that `fleet lab break` wrote.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NODE = Path("/lab/node.json")
LOADED = Path("/run/fleet-lab/driver.json")
FAULTS = Path("/var/lib/fleet-lab/faults.json")
COUNT = 8
HUNG_SECONDS = "900"

CURED_BY = {
    "lost": {"reboot"},
    "ecc": {"reset", "reboot"},
    "slow": {"reset", "reboot"},
    "hung": {"reboot"},
    "thermal": set(),
}


@dataclass(frozen=True)
class Device:
    """One accelerator and what is wrong with it."""

    index: int
    digest: str
    faults: dict[str, int]

    @property
    def temperature(self) -> int:
        return self.faults.get("thermal", 38 + self.index)

    @property
    def throttled(self) -> bool:
        return "thermal" in self.faults

    @property
    def uncorrectable(self) -> int:
        return self.faults.get("ecc", 0)

    def clock(self, full: int) -> int:
        """MHz now; a slow or hot device stays far under `full`."""
        return self.faults.get("slow", full // 3 if self.throttled else full)


def read_json(path: Path) -> Any:
    """Its content, or None where it isn't there."""
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return None


def node() -> dict[str, Any]:
    """Name, serial, vendor and model of this node."""
    return dict(read_json(NODE) or {})


def loaded_driver() -> dict[str, Any] | None:
    """The kernel driver of the last boot: module, version, and devices that it fails to bring up."""
    found = read_json(LOADED)
    return None if found is None else dict(found)


def faults() -> list[dict[str, Any]]:
    """What `fleet lab break` has put on this node."""
    return list(read_json(FAULTS) or [])


def write_faults(kept: list[dict[str, Any]]) -> None:
    """Replace the faults of this node at once."""
    FAULTS.parent.mkdir(parents=True, exist_ok=True)
    temporary = FAULTS.with_suffix(".new")
    temporary.write_text(json.dumps(kept))
    temporary.replace(FAULTS)


def cure(remedy: str, gpu: int | None = None) -> None:
    """Drop the faults that this remedy (`reset` or `reboot`) takes away in life."""
    kept = [
        fault
        for fault in faults()
        if fault.get("persistent")
        or remedy not in CURED_BY[fault["kind"]]
        or (gpu is not None and fault.get("gpu") != gpu)
    ]
    write_faults(kept)


def devices() -> list[Device]:
    """The devices that the driver shows: those that it brings up and that haven't fallen off the bus."""
    driver = loaded_driver()
    if driver is None:
        return []
    serial = node().get("serial", "none")
    shown = []
    for index in range(COUNT):
        mine = {f["kind"]: int(f.get("value", 1)) for f in faults() if f.get("gpu") == index}
        if "lost" in mine or index in driver.get("fails", []):
            continue
        shown.append(Device(index, hashlib.sha256(f"{serial}/{index}".encode()).hexdigest(), mine))
    return shown


def lost() -> list[int]:
    """Indices of the devices that fell off the bus."""
    return [int(f["gpu"]) for f in faults() if f["kind"] == "lost"]


def hang_if_told() -> None:
    """A hung tool: a child holds the pipe, as a process stuck in the driver does; ends by itself in the end."""
    if any(fault["kind"] == "hung" for fault in faults()):
        subprocess.run(["sleep", HUNG_SECONDS], check=False)
        sys.exit(255)


def package_file(path: str) -> Any:
    """JSON that an installed package brings, or None."""
    return read_json(Path(path))
