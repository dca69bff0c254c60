"""The processes of a run: found by a mark in their environment, whatever session or parent they went to.

Ansible's workers and ssh's multiplexing masters leave the process group of `ansible-playbook`, so that ending the group
ends neither. All of them inherit the environment in which the run was started.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

MARK = "FLEET_RUN"


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
