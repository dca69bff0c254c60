"""`fleet lab up` and `down`. Level-triggered: each step looks what is there and makes what is missing."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import fleet
from fleet.errors import Misuse, Unavailable
from fleet.lab import bmc_process, containers, image, inventory, keys, limits, packages, releases, slurm
from fleet.lab.commands import missing
from fleet.lab.containers import CONTROLLER_CONTAINER, Seen
from fleet.lab.home import Home, LabState
from fleet.lab.layout import CONTROLLER, LabNode, Layout, layout
from fleet.lab.seeds import machines, write_seeds

T = TypeVar("T")
Say = Callable[[str], None]
AT_ONCE = 4
BOOT_WAIT_S = 60
SCHEDULER_WAIT_S = 90
MORE_PER_NODE_S = 5
FIRST_INSTALL = """
set -e
[ ! -e /run/fleet-lab/driver.json ] || exit 0
apt-get -qq update
DEBIAN_FRONTEND=noninteractive apt-get -qq -y install "$@"
/usr/lib/fleet-lab/bin/boot load
"""
DOWN_WORDS = ("UNKNOWN", "DOWN", "NOT_RESPONDING", "INVAL", "*")


def up(home: Home, *, nodes: int, boot_seconds: float, say: Say) -> LabState:
    """Bring the lab up, or heal it; Misuse where this machine or another lab is in the way."""
    _check_machine()
    with _alone(home):
        before = LabState.read(home)
        there = containers.seen()
        _check_other_labs(home, there, say)
        if before is not None and before.nodes != nodes and there:
            raise Misuse(
                f"a lab of {before.nodes} nodes is up here", f"you asked for {nodes}", "run `fleet lab down` first"
            )
        plan = layout(nodes)
        reference = before.image if before is not None and there else image.ensure(say)
        raised = limits.make_room(nodes)
        if raised is not None:
            say(f"raising {limits.LIMIT} from {raised} to {limits.wanted(nodes)} until `fleet lab down`")
        if before is not None and before.inotify_before is not None:
            raised = before.inotify_before
        state = LabState(nodes, reference, boot_seconds, raised)
        state.write(home)
        prepare(home, plan, boot_seconds)
        say(f"starting the controller and {nodes} nodes")
        _start(home, plan, reference)
        bmc_process.ensure(home, plan)
        say("waiting for their SSH")
        end = time.monotonic() + BOOT_WAIT_S + MORE_PER_NODE_S * nodes
        _each(lambda address: _wait_ssh(address, end), (CONTROLLER, *(node.address for node in plan.nodes)))
        _pin_controller(home)
        say("installing the first release where none is")
        _each(_install_first, plan.nodes)
        say("waiting for the scheduler to see all nodes")
        wait_scheduler(plan)
        return state


def prepare(home: Home, plan: Layout, boot_seconds: float) -> None:
    """Everything that the machines are made from, on disk."""
    if not (home.repo / "dists" / packages.SUITE / "InRelease").exists():
        packages.make_repository(home.repo, home.root / "gnupg", home.root / "lab.gpg")
    write_seeds(home, plan, boot_seconds)
    keys.certificates(home.bmc, {node.name: node.bmc_address for node in plan.nodes})
    for node in plan.nodes:
        keys.password(home.bmc / node.name / "password")
    home.faults.mkdir(exist_ok=True)
    inventory.write_beside(plan, home.inventory, committed_inventory())


def committed_inventory() -> Path:
    """`inventory/lab` of this checkout."""
    here = Path("inventory") / "lab"
    return here if here.exists() else Path(fleet.__file__).parents[1] / here


def down(home: Home, say: Say) -> tuple[str, ...]:
    """Take every lab container, network, process and file away; says what went."""
    with _alone(home):
        gone = _take_down(home, say)
    if not any(home.root.parent.iterdir()):
        home.root.parent.rmdir()
    return gone


def _take_down(home: Home, say: Say) -> tuple[str, ...]:
    gone: list[str] = []
    there = containers.seen() if shutil.which("podman") else {}
    homes = {home.root} | {Path(one.home) for one in there.values() if one.home}
    for root in sorted(homes):
        if bmc_process.stop(Home(root)):
            gone.append("BMC emulator")
    if there:
        say(f"removing {len(there)} containers")
        containers.remove(sorted(there))
        gone += sorted(there)
    if shutil.which("podman") and containers.remove_network():
        gone.append(f"network {containers.NETWORK}")
    for root in sorted(homes):
        state = LabState.read(Home(root))
        if state is not None and limits.set_back(state.inotify_before):
            gone.append(f"the raised {limits.LIMIT}")
        if root.exists():
            shutil.rmtree(root)
            gone.append(str(root))
    return tuple(gone)


def _check_machine() -> None:
    if os.geteuid() != 0:
        raise Misuse("the lab needs root", "its nodes are system containers with addresses of their own", "use sudo")
    absent = missing()
    if absent:
        raise Misuse(
            f"missing on this machine: {', '.join(absent)}", "the lab is made with them",
            f"apt-get install {' '.join(absent)}",
        )  # fmt: skip


def _check_other_labs(home: Home, there: dict[str, Seen], say: Say) -> None:
    """A running lab of another checkout is in the way; the remains of one are cleared."""
    foreign = {name: one for name, one in there.items() if one.home != str(home.root)}
    if not foreign:
        return
    if any(one.running for one in foreign.values()):
        other = next(one.home for one in foreign.values() if one.running)
        raise Misuse(
            "another lab is up on this machine", f"it belongs to {other}", "run `fleet lab down` (here or there)"
        )
    say(f"clearing the remains of another lab ({len(foreign)} containers)")
    containers.remove(sorted(foreign))
    for root in {one.home for one in foreign.values()}:
        bmc_process.stop(Home(Path(root)))
    for name in foreign:
        there.pop(name)


def _start(home: Home, plan: Layout, reference: str) -> None:
    containers.ensure_network()
    there = containers.seen()
    wanted = machines(home, plan)
    torn = [one.container for one in there.values() if one.torn]
    containers.remove(torn)
    still = [one.container for one in there.values() if not one.torn and (not one.running or one.frozen)]
    absent = [one for one in wanted if one.container not in there or one.container in torn]
    _each(containers.power_on, still)
    _each(lambda one: containers.create(one, reference, home.root), absent)


def _each(work: Callable[[T], object], items: Iterable[T]) -> None:
    """Work on all items a few at a time; the first failure is raised after all ended."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for future in [pool.submit(work, item) for item in items]:
            future.result()


def answers(address: str, timeout_s: float = 1.0) -> bool:
    """Whether an SSH daemon greets there."""
    try:
        with socket.create_connection((address, 22), timeout=timeout_s) as connection:
            connection.settimeout(timeout_s)
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False


def _wait_ssh(address: str, end: float) -> None:
    while not answers(address):
        if time.monotonic() > end:
            break
        time.sleep(0.2)
    else:
        return
    raise Unavailable(f"the machine at {address} did not come up", "no SSH in time", "`fleet lab status` shows more")


def _pin_controller(home: Home) -> None:
    line = containers.inside(CONTROLLER_CONTAINER, ["cat", "/etc/ssh/ssh_host_ed25519_key.pub"]).split()
    home.known_hosts.write_text(f"{CONTROLLER} {line[0]} {line[1]}\n")


def _install_first(node: LabNode) -> None:
    """apt-get from the lab's repository, as a provisioning system would; nothing where a driver is loaded."""
    wanted = [f"{p.name}={p.version}" for p in releases.release(node.pool.release).packages]
    containers.inside(node.container, ["sh", "-c", FIRST_INSTALL, "first-install", *wanted], timeout_s=300)


def wait_scheduler(plan: Layout) -> None:
    """Until Slurm knows every node as there (drained counts as there)."""
    wait_s = SCHEDULER_WAIT_S + MORE_PER_NODE_S * len(plan.nodes)
    end = time.monotonic() + wait_s
    waiting: list[str] = []
    while time.monotonic() < end:
        try:
            states = slurm.node_states()
        except Unavailable:
            states = {}
        waiting = [n.name for n in plan.nodes if any(w in states.get(n.name, "UNKNOWN") for w in DOWN_WORDS)]
        if not waiting:
            return
        time.sleep(0.5)
    raise Unavailable(
        f"the scheduler does not see {', '.join(waiting)}", f"waited {wait_s} s",
        f"podman exec {CONTROLLER_CONTAINER} tail /var/log/slurm/slurmctld.log",
    )  # fmt: skip


@contextmanager
def _alone(home: Home) -> Iterator[None]:
    """Two of `up` and `down` beside each other would undo each other's work; the lock is on the directory itself."""
    directory = home.root.parent
    directory.mkdir(parents=True, exist_ok=True)
    lock = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as busy:
        raise Misuse("another `fleet lab up` or `down` is at work here", "", "wait for it") from busy
    finally:
        os.close(lock)
