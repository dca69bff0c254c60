"""STAND-IN, part of the lab: what firmware, a boot loader and a kernel do on a real node, run before any service.

At every boot: wait as a power-on self test would, let go of the faults that a reboot cures, and "load" the kernel
driver of the accelerator package that is installed at this moment. At the first boot only, as a provisioning system
would: keys, scheduler configuration, apt source, and a scratch disk with something on it worth wiping.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from fleet.lab.guest import accelerators as acc

SEED = Path("/lab")
DONE = Path("/var/lib/fleet-lab/provisioned")
DRIVER_PACKAGE = Path("/usr/lib/fleet-lab-driver/driver.json")
DISK = Path("/var/lib/scratch/disk0.img")
DISK_MIB = 64
DEVICES = {
    "amd": ("/dev/kfd", *(f"/dev/dri/renderD{128 + i}" for i in range(acc.COUNT))),
    "nvidia": ("/dev/nvidiactl", *(f"/dev/nvidia{i}" for i in range(acc.COUNT))),
}
TOOLS = {"amd": ("amd-smi", "rocm-smi"), "nvidia": ("nvidia-smi",)}


def place(name: str, target: str, *, mode: int, owner: str = "root") -> None:
    """Copy a file of the seed to its place, if the seed has it."""
    source, to = SEED / name, Path(target)
    if not source.exists():
        return
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, to)
    to.chmod(mode)
    shutil.chown(to, owner, owner)


def fill_disk(serial: str) -> None:
    """A scratch disk full of a tenant's recognisable data."""
    DISK.parent.mkdir(parents=True, exist_ok=True)
    line = f"tenant data on {serial}: weights, prompts and keys that must not leave\n".encode()
    block = (line * (2**20 // len(line) + 1))[: 2**20]
    with DISK.open("wb") as disk:
        for _ in range(DISK_MIB):
            disk.write(block)


def provision() -> None:
    """The first boot of this machine."""
    Path("/root/.ssh").mkdir(mode=0o700, exist_ok=True)
    place("authorized_keys", "/root/.ssh/authorized_keys", mode=0o600)
    place("munge.key", "/etc/munge/munge.key", mode=0o400, owner="munge")
    place("lab.gpg", "/etc/apt/keyrings/fleet-lab.gpg", mode=0o644)
    place("lab.sources", "/etc/apt/sources.list.d/fleet-lab.sources", mode=0o644)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "/etc/ssh/ssh_host_ed25519_key"],
                   check=True, stdin=subprocess.DEVNULL)  # fmt: skip
    node = acc.node()
    for tool in TOOLS.get(node.get("vendor", ""), ()):
        Path("/usr/bin", tool).symlink_to("/usr/lib/fleet-lab/bin/tool")
    if node:
        fill_disk(str(node["serial"]))
    DONE.parent.mkdir(parents=True, exist_ok=True)
    DONE.touch()


def place_devices() -> None:
    """Empty files where the device nodes would be: the scheduler counts them, and a process can hold one open."""
    for name in DEVICES.get(acc.node().get("vendor", ""), ()):
        device = Path(name)
        device.parent.mkdir(exist_ok=True)
        device.touch(mode=0o666)
        device.chmod(0o666)


def load_driver() -> None:
    """What the installed driver package brings is what runs until the next boot."""
    acc.LOADED.parent.mkdir(parents=True, exist_ok=True)
    if DRIVER_PACKAGE.exists():
        shutil.copyfile(DRIVER_PACKAGE, acc.LOADED)
    else:
        acc.LOADED.unlink(missing_ok=True)


def main() -> int:
    """One boot; with `load` only (re)load the driver, as `modprobe` after a first install does."""
    if sys.argv[1:] == ["load"]:
        load_driver()
        return 0
    os.umask(0o022)
    place("slurm.conf", "/etc/slurm/slurm.conf", mode=0o644)
    place("gres.conf", "/etc/slurm/gres.conf", mode=0o644)
    if DONE.exists():
        time.sleep(float((SEED / "boot_seconds").read_text()))
        acc.cure("reboot")
    else:
        provision()
    place_devices()
    load_driver()
    return 0


if __name__ == "__main__":
    sys.exit(main())
