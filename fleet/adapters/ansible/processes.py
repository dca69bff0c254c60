"""The processes of a run: found by a mark in their environment, whatever session or parent they went to.

Ansible's workers and ssh's multiplexing masters leave the process group of `ansible-playbook`, so that ending the group
ends neither. All of them inherit the environment in which the run was started.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path

MARK = "FLEET_RUN"
PREFIX = "fleet-run-"
OWNER = "owner"
YOUNG_SECONDS = 60.0


def of_run(mark: str) -> list[int]:
    """Process ids that carry the mark of a run."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if wanted in Path(entry.path, "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue  # gone, or not ours to read
    return found


def end_run(mark: str, *, seconds: float = 5.0) -> int:
    """End every process of a run, those included that are born meanwhile; how many there were."""
    ended: set[int] = set()
    until = time.monotonic() + seconds
    while alive := of_run(mark):
        for pid in alive:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        ended.update(alive)
        if time.monotonic() > until:
            break
        time.sleep(0.05)
    return len(ended)


def sign(private: Path) -> None:
    """Say in a run's directory which process it belongs to."""
    (private / OWNER).write_text(f"{os.getpid()} {_began(os.getpid())}")


def sweep(place: Path) -> int:
    """End what killed controllers left running here, and remove its directories; how many there were.

    Their playbooks would go on to the end of their tasks beside ours. The nodes are guarded by their own locks anyway.
    """
    swept = 0
    for private in place.glob(PREFIX + "*"):
        try:
            words = (private / OWNER).read_text().split()
            dead = _began(int(words[0])) != words[1]
        except (OSError, ValueError, IndexError):
            dead = _age(private) > YOUNG_SECONDS
        if dead:
            end_run(str(private))
            shutil.rmtree(private, ignore_errors=True)
            swept += 1
    return swept


def _began(pid: int) -> str:
    """When a process began, as the kernel counts; empty if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    except OSError:
        return ""


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0
