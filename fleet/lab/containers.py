"""The lab's machines as podman containers: made, started, asked, taken away; what runs in them is not known here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fleet.errors import Misuse
from fleet.lab.commands import attempt, run
from fleet.lab.layout import GATEWAY, SUBNET

NETWORK = "fleet-lab"
CONTROLLER_CONTAINER = "fleet-lab-ctl"
LABEL = "fleet.lab.home"
POWERED = ("running", "paused")
STARTABLE = ("created", "configured", "exited", "stopped")
FLAGS = (
    "--systemd=always", "--restart=on-failure", "--cap-add=SYS_BOOT", "--ulimit=nofile=4096:4096",
    "--ulimit=nproc=4096:4096", "--stop-timeout=10", "--log-driver=none", "--tz=local",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Machine:
    """What a container of the lab is made from."""

    container: str
    host: str
    address: str
    mounts: tuple[tuple[Path, str], ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """A container that exists: whether it has power (a frozen one has), since when, and whose lab it belongs to.

    `torn`: podman believes that it runs and its processes are gone, as after a killed session; podman can't start it.
    """

    container: str
    running: bool
    frozen: bool
    torn: bool
    pid: int
    started: str
    home: str


def seen() -> dict[str, Seen]:
    """All containers of any lab on this machine, by name."""
    names = run(["podman", "ps", "--all", "--filter", f"label={LABEL}", "--format", "{{.Names}}"]).split()
    if not names:
        return {}
    shown = attempt(["podman", "container", "inspect", *names])
    return {one.container: one for one in map(_seen, json.loads(shown.stdout or "[]"))}


def _seen(raw: dict[str, dict[str, object]]) -> Seen:
    state, labels = raw["State"], raw["Config"]["Labels"]
    pid, word = int(str(state["Pid"])), state["Status"]
    lives = pid > 0 and Path(f"/proc/{pid}").exists()
    return Seen(
        container=str(raw["Name"]),
        running=word in POWERED and lives,
        frozen=word == "paused",
        torn=word not in STARTABLE and not lives,
        pid=pid,
        started=str(state["StartedAt"]),
        home=str(labels.get(LABEL, "")) if isinstance(labels, dict) else "",
    )


def ensure_network() -> None:
    """The lab's network: no way out, no names."""
    if attempt(["podman", "network", "exists", NETWORK]).returncode == 0:
        return
    run(["podman", "network", "create", "--internal", "--disable-dns", "--subnet", SUBNET, "--gateway", GATEWAY,
         "--label", f"{LABEL}=lab", NETWORK])  # fmt: skip


def create(machine: Machine, image: str, home: Path) -> None:
    """Make and start a machine."""
    args: list[str | Path] = ["podman", "--runtime", "runc", "run", "--detach", "--name", machine.container]
    args += ["--hostname", machine.host, "--network", NETWORK, "--ip", machine.address]
    args += ["--label", f"{LABEL}={home}", *FLAGS]
    for source, target in machine.mounts:
        args += ["--volume", f"{source}:{target}:ro"]
    run([*args, image, "/sbin/init"])


def power_on(container: str) -> None:
    """Start a machine that is off, thaw one that is frozen; nothing where it runs."""
    run(["podman", "unpause" if status(container) == "paused" else "start", container])


def power_off(container: str, *, grace_s: int) -> None:
    """Stop a machine: asked first if there is grace, its power cut afterwards; it stays off. A frozen one too."""
    if status(container) == "paused":
        run(["podman", "unpause", container])
    run(["podman", "stop", "--time", str(grace_s), container])


def status(container: str) -> str:
    """Podman's word for the container's state; empty where there is none."""
    return attempt(["podman", "container", "inspect", "--format", "{{.State.Status}}", container]).stdout.strip()


def remove(names: Sequence[str]) -> None:
    """Take machines away, running or not, with their disks."""
    if names:
        run(["podman", "rm", "--force", "--time", "0", "--volumes", *names], timeout_s=300)


def remove_network() -> bool:
    """Whether there was one to remove."""
    if attempt(["podman", "network", "exists", NETWORK]).returncode != 0:
        return False
    run(["podman", "network", "rm", "--force", NETWORK])
    return True


def inside(container: str, args: Sequence[str], *, text: str | None = None, timeout_s: float = 120) -> str:
    """Standard output of a command in a running machine; it must succeed."""
    flags = ["--interactive"] if text is not None else []
    return run(["podman", "exec", *flags, container, *args], text=text, timeout_s=timeout_s)


def try_inside(container: str, args: Sequence[str], *, timeout_s: float = 60) -> bool:
    """Whether a command in a machine succeeds."""
    return attempt(["podman", "exec", container, *args], timeout_s=timeout_s).returncode == 0


def pid_of(container: str) -> int:
    """The process id, on this machine, of a container's PID 1."""
    found = seen().get(container)
    if found is None or not found.running:
        raise Misuse(f"{container} is not running", "", "`fleet lab status` shows what is; `fleet lab up` heals")
    return found.pid
