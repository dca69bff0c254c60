"""The lab itself, up and running: what a machine hall does, seen with plain tools and never through the product."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import ssl
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet.errors import Misuse
from fleet.lab import bmc_process, containers, slurm
from fleet.lab.faults import Order, apply
from fleet.lab.home import Home, LabState
from fleet.lab.layout import Layout, layout
from fleet.lab.releases import release
from fleet.lab.status import look
from fleet.lab.up import answers, down, up, wait_scheduler

pytestmark = [
    pytest.mark.acceptance,
    pytest.mark.skipif(os.geteuid() != 0 or shutil.which("podman") is None, reason="containers need root and podman"),
]
PLAN: Layout = layout(6)
ROOT = Path(__file__).parents[2]


def quiet(text: str) -> None:
    """Progress that no test reads."""


def install(node: str, name: str) -> None:
    """A release put on a node by hand, with nothing but apt."""
    wanted = [f"{package.name}={package.version}" for package in release(name).packages]
    says(node, "apt-get", "-qq", "-y", "--allow-downgrades", "install", *wanted)


def says(node: str, *command: str) -> str:
    """What a command on the node prints, over SSH as the operator."""
    target = next(one for one in PLAN.nodes if one.name == node)
    key = str(HOME.operator_key)
    ssh = ["ssh", "-i", key, "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o", "LogLevel=ERROR"]
    ssh += ["-o", "UserKnownHostsFile=/dev/null", f"root@{target.address}", *command]
    return subprocess.run(ssh, capture_output=True, text=True, timeout=60, check=False).stdout.strip()


def soon(true: Callable[[], bool], within_s: float = 45) -> bool:
    """Whether it becomes true in time."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.2)
    return False


def boot_of(node: str) -> str:
    """What changes with each boot."""
    return containers.seen()[f"fleet-lab-{node}"].started


def reboot(node: str) -> None:
    """Over SSH, as an administrator does it."""
    before = boot_of(node)
    says(node, "systemctl", "reboot")
    assert soon(lambda: containers.seen()[f"fleet-lab-{node}"].running and boot_of(node) != before)
    address = next(one.address for one in PLAN.nodes if one.name == node)
    assert soon(lambda: answers(address))


def redfish(node: str, path: str, body: Any = None) -> Any:
    """JSON of a request to a node's BMC, its certificate checked."""
    target = next(one for one in PLAN.nodes if one.name == node)
    secret = (HOME.bmc / node / "password").read_text()
    request = urllib.request.Request(
        target.bmc_url + path,
        data=json.dumps(body).encode() if body else None,
        headers={
            "Authorization": "Basic " + base64.b64encode(f"fleet:{secret}".encode()).decode(),
            "Content-Type": "application/json",
        },
    )
    context = ssl.create_default_context(cafile=str(HOME.bmc / "ca.pem"))
    with urllib.request.urlopen(request, context=context, timeout=30) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def system(node: str) -> str:
    """The path of a node's system."""
    return str(redfish(node, "/redfish/v1/Systems")["Members"][0]["@odata.id"])


def power(node: str, word: str) -> str:
    """Say a power word to a node's BMC; its power state afterwards."""
    redfish(node, f"{system(node)}/Actions/ComputerSystem.Reset", {"ResetType": word})
    return str(redfish(node, system(node))["PowerState"])


HOME = Home(ROOT / ".fleet" / "lab")


@pytest.fixture(scope="module", autouse=True)
def lab() -> Iterator[None]:
    """A lab of its own for this module; one that was up already is taken down first, for there is one per machine."""
    down(HOME, quiet)
    up(HOME, nodes=6, boot_seconds=1, say=quiet)
    yield
    down(HOME, quiet)


@pytest.fixture(autouse=True)
def whole() -> Iterator[None]:
    """After each test every machine is up and the scheduler content."""
    yield
    up(HOME, nodes=6, boot_seconds=1, say=quiet)
    for name, state in slurm.node_states().items():
        if "DRAIN" in state:
            slurm.control("update", f"nodename={name}", "state=resume")
    wait_scheduler(PLAN)


def test_a_second_up_changes_nothing() -> None:
    before = {name: one.started for name, one in containers.seen().items()}
    up(HOME, nodes=6, boot_seconds=1, say=quiet)
    assert {name: one.started for name, one in containers.seen().items()} == before


def test_up_heals_what_is_missing() -> None:
    containers.remove(["fleet-lab-n03"])
    containers.power_off("fleet-lab-n04", grace_s=0)
    apply(HOME, Order("n05", "freeze"))
    assert bmc_process.stop(HOME)
    up(HOME, nodes=6, boot_seconds=1, say=quiet)
    seen = look(HOME)
    assert all(node["power"] == "on" and node["ssh"] for node in seen["nodes"])
    assert seen["bmc"] == "up"


def test_up_heals_what_a_killed_session_left() -> None:
    shown = subprocess.run(
        ["podman", "container", "inspect", "--format", "{{.State.ConmonPid}} {{.State.Pid}}", "fleet-lab-n03"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for pid in shown.split():
        os.kill(int(pid), signal.SIGKILL)
    assert soon(lambda: containers.seen()["fleet-lab-n03"].torn)
    up(HOME, nodes=6, boot_seconds=1, say=quiet)
    assert says("n03", "amd-smi", "version").endswith("amdgpu version: 6.12.12 | amd_hsmp version: N/A")


def test_another_size_is_refused_while_a_lab_is_up() -> None:
    with pytest.raises(Misuse, match="6 nodes is up"):
        up(HOME, nodes=4, boot_seconds=1, say=quiet)


def test_each_node_tells_its_own_serial() -> None:
    assert {node.name: says(node.name, "cat", "/sys/class/dmi/id/product_serial") for node in PLAN.nodes} == {
        node.name: node.serial for node in PLAN.nodes
    }


def test_nodes_reach_nothing_but_the_lab() -> None:
    assert says("n01", "ip", "route", "show", "default") == ""
    assert "10.77.0.2" in says("n01", "cat", "/etc/apt/sources.list.d/fleet-lab.sources")


def test_a_new_driver_shows_after_the_reboot_and_not_before() -> None:
    install("n01", "amd-2026.2")
    before = says("n01", "amd-smi", "version")
    reboot("n01")
    after = says("n01", "amd-smi", "version")
    assert ("ROCm version: 7.0.2" in before, "amdgpu version: 6.12.12" in before) == (True, True)
    assert ("ROCm version: 7.0.2" in after, "amdgpu version: 6.14.14" in after) == (True, True)
    install("n01", "amd-2026.1")
    reboot("n01")
    assert "amdgpu version: 6.12.12" in says("n01", "amd-smi", "version")


def test_the_bad_release_installs_well_and_shows_seven_of_eight() -> None:
    install("n05", "nvidia-2026.3-bad")
    assert len(says("n05", "nvidia-smi", "-L").splitlines()) == 8
    reboot("n05")
    assert len(says("n05", "nvidia-smi", "-L").splitlines()) == 7
    install("n05", "nvidia-2026.1")
    reboot("n05")
    assert len(says("n05", "nvidia-smi", "-L").splitlines()) == 8


def test_an_altered_package_is_refused_by_apt() -> None:
    apply(HOME, Order("controller", "repo", ("corrupt", "rocm-core_7.0.2")))
    install("n02", "amd-2026.2")
    assert "ROCm version: 6.4.3" in says("n02", "amd-smi", "version")
    apply(HOME, Order("controller", "repo", off=True))


def test_a_node_that_reboots_itself_comes_back_and_one_powered_off_stays_off() -> None:
    reboot("n02")
    says("n02", "systemctl", "poweroff")
    assert soon(lambda: not containers.seen()["fleet-lab-n02"].running)
    time.sleep(3)
    assert redfish("n02", system("n02"))["PowerState"] == "Off"
    assert power("n02", "On") == "On"
    assert soon(lambda: answers("10.77.1.2"))


@pytest.mark.parametrize(
    ("word", "state", "boots"),
    [("ForceOff", "Off", False), ("GracefulShutdown", "Off", False), ("ForceRestart", "On", True),
     ("GracefulRestart", "On", True)],
)  # fmt: skip
def test_a_bmc_moves_its_own_machine(word: str, state: str, boots: bool) -> None:
    before = {name: one.started for name, one in containers.seen().items()}
    assert power("n06", word) == state
    after = {name: one.started for name, one in containers.seen().items()}
    changed = {name for name in before if before[name] != after[name]}
    assert changed == ({"fleet-lab-n06"} if boots else set())


def test_a_frozen_machine_has_power_and_a_power_cycle_wakes_it() -> None:
    apply(HOME, Order("n06", "freeze"))
    assert redfish("n06", system("n06"))["PowerState"] == "On"
    assert not answers("10.77.1.6")
    assert power("n06", "ForceRestart") == "On"
    assert soon(lambda: answers("10.77.1.6"))


def test_a_lost_gpu_is_in_the_kernel_log_and_a_reboot_brings_it_back() -> None:
    apply(HOME, Order("n05", "lost", ("3",)))
    assert "Xid (PCI:0000:5d:00): 79" in says("n05", "journalctl", "-k", "--no-pager", "-o", "cat")
    assert len(says("n05", "nvidia-smi", "-L").splitlines()) == 7
    reboot("n05")
    assert len(says("n05", "nvidia-smi", "-L").splitlines()) == 8
    assert "Xid" not in says("n05", "journalctl", "-k", "--no-pager", "-o", "cat")


def test_a_persistent_fault_outlives_the_reboot() -> None:
    apply(HOME, Order("n06", "lost", ("1",), persistent=True))
    reboot("n06")
    assert len(says("n06", "nvidia-smi", "-L").splitlines()) == 7
    apply(HOME, Order("n06", "lost", off=True))
    assert len(says("n06", "nvidia-smi", "-L").splitlines()) == 8


def test_ssh_can_die_and_come_back() -> None:
    for word in ("dead", "blocked"):
        apply(HOME, Order("n03", "ssh", (word,)))
        assert not answers("10.77.1.3")
        apply(HOME, Order("n03", "ssh", off=True))
        assert soon(lambda: answers("10.77.1.3"))


def test_a_job_runs_for_real_and_is_seen_on_its_node() -> None:
    job = slurm.submit_on("n04", partition="train", seconds=4)
    assert soon(lambda: "slurmstepd" in says("n04", "ps", "-eo", "args"))
    assert soon(lambda: any(r.job == job and r.state == "COMPLETED" for r in slurm.completions()))
    assert next(now for now in slurm.jobs() if now.job == job).restarts == 0


def test_a_requeue_is_counted() -> None:
    job = slurm.submit_on("n04", partition="train", seconds=300)
    assert soon(lambda: next(now for now in slurm.jobs() if now.job == job).state == "RUNNING")
    slurm.control("requeue", str(job))
    assert soon(lambda: next(now for now in slurm.jobs() if now.job == job).restarts == 1)
    containers.inside(containers.CONTROLLER_CONTAINER, ["scancel", str(job)])


def test_a_drained_node_is_still_drained_after_its_reboot() -> None:
    slurm.control("update", "nodename=n03", "state=drain", "reason=someone")
    reboot("n03")
    assert soon(lambda: slurm.node_states()["n03"] == "IDLE+DRAIN")


def test_the_scheduler_stops_and_starts() -> None:
    apply(HOME, Order("controller", "slurmctld", ("stop",)))
    assert look(HOME)["controller"]["scheduler"] == "down"
    apply(HOME, Order("controller", "slurmctld", ("start",)))
    wait_scheduler(PLAN)


def test_the_scratch_disk_holds_something_worth_wiping() -> None:
    assert says("n01", "stat", "-c", "%s", "/var/lib/scratch/disk0.img") == str(64 * 2**20)
    assert says("n01", "head", "-c", "22", "/var/lib/scratch/disk0.img") == "tenant data on LAB0001"


def test_down_leaves_nothing() -> None:
    down(HOME, quiet)
    assert containers.seen() == {}
    assert bmc_process.running(HOME) is None
    assert not HOME.root.exists()
    assert (
        containers.NETWORK
        not in subprocess.run(
            ["podman", "network", "ls", "--format", "{{.Name}}"], capture_output=True, text=True, check=True
        ).stdout.split()
    )
    assert LabState.read(HOME) is None
    assert down(HOME, quiet) == ()
