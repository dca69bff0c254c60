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
            subprocess.Popen(
                [sys.executable, "-m", MODULE, str(home.root), str(len(plan.nodes))],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
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
    """Process id of the emulator of this home, if one lives; the process table is asked, no file is believed."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if MODULE.encode() in words and str(home.root).encode() in words:
            return int(entry.name)
    return None


def stop(home: Home) -> bool:
    """Whether there was an emulator to end; ends every one of this home."""
    found = False
    while (pid := running(home)) is not None:
        found = True
        _end(pid)
    return found


def _end(pid: int) -> None:
    """Ask it, then insist."""
    for signal_number, wait_s in ((signal.SIGTERM, STOP_WAIT_S), (signal.SIGKILL, STOP_WAIT_S)):
        try:
            os.kill(pid, signal_number)
        except ProcessLookupError:
            return
        end = time.monotonic() + wait_s
        while time.monotonic() < end:
            _reap(pid)
            if not _lives(pid):
                return
            time.sleep(0.05)


def _lives(pid: int) -> bool:
    """Whether it still runs; a zombie doesn't, and has no command line."""
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


def _reap(pid: int) -> None:
    """It may be a child of this very process, where up and down run in one."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return
