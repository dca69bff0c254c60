"""The one limit of this machine that a large lab runs into: how many inotify instances root may have.

Every container's systemd, journal and daemons hold some; without room for more, a node hangs half-way through its boot.
`up` raises the limit where the lab wouldn't fit, and `down` sets it back to what it was.
"""

from __future__ import annotations

from pathlib import Path

LIMIT = Path("/proc/sys/fs/inotify/max_user_instances")
PER_MACHINE = 9
FOR_OTHERS = 60


def wanted(nodes: int) -> int:
    """Instances that a lab of so many nodes, its controller and the rest of the machine need."""
    return FOR_OTHERS + PER_MACHINE * (nodes + 1)


def make_room(nodes: int) -> int | None:
    """Raise the limit if it is too low; the former limit if it was raised, else None."""
    before = int(LIMIT.read_text())
    if before >= wanted(nodes):
        return None
    LIMIT.write_text(f"{wanted(nodes)}\n")
    return before


def set_back(before: int | None) -> bool:
    """Whether a raised limit was set back."""
    if before is None:
        return False
    LIMIT.write_text(f"{before}\n")
    return True
