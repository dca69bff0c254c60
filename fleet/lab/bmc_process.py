"""Starting and ending the one process that plays every BMC of the lab."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from fleet.errors import Unavailable
from fleet.lab.home import Home
from fleet.lab.layout import BMC_PORT, Layout

MODULE = "fleet.lab.bmc"
START_WAIT_S = 20
STOP_WAIT_S = 5


def ensure(home: Home, plan: Layout) -> None:
    """The emulator runs and answers at the last node's address."""
    if running(home) is None:
        with (home.root / "bmc.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", MODULE, str(home.root), str(len(plan.nodes))],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        _pid_file(home).write_text(f"{process.pid}\n")
    address = plan.nodes[-1].bmc_address
    end = time.monotonic() + START_WAIT_S
    while time.monotonic() < end:
        try:
            socket.create_connection((address, BMC_PORT), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise Unavailable("the BMC emulator did not start", f"nothing at {address}", f"read {home.root / 'bmc.log'}")


def running(home: Home) -> int | None:
    """Process id of the emulator of this home, if it lives."""
    try:
        pid = int(_pid_file(home).read_text())
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError, ValueError):
        return None
    return pid if MODULE.encode() in words and str(home.root).encode() in words else None


def stop(home: Home) -> bool:
    """Whether there was an emulator to end."""
    pid = running(home)
    if pid is None:
        return False
    os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + STOP_WAIT_S
    while running(home) is not None and time.monotonic() < end:
        _reap(pid)
        time.sleep(0.05)
    if running(home) is not None:
        os.kill(pid, signal.SIGKILL)
        _reap(pid)
    return True


def _reap(pid: int) -> None:
    """It may be a child of this very process, where up and down run in one."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return


def _pid_file(home: Home) -> Path:
    return home.root / "bmc.pid"
