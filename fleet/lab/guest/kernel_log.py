"""STAND-IN, part of the lab: puts lines into this node's journal as if its kernel had said them.

There is no /dev/kmsg in a container. Reads lines from standard input; journald keeps `_TRANSPORT=kernel` only from a
kernel, so they go in through systemd-journal-remote, into a journal file that journalctl reads beside its own.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

WRITER = "/lib/systemd/systemd-journal-remote"


def entry(message: str, machine: str, boot: str, host: str) -> str:
    """One line in the journal's export format; priority 3 is an error."""
    micros = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    fields = {
        "__REALTIME_TIMESTAMP": time.time_ns() // 1000,
        "__MONOTONIC_TIMESTAMP": micros,
        "_BOOT_ID": boot,
        "_TRANSPORT": "kernel",
        "_MACHINE_ID": machine,
        "_HOSTNAME": host,
        "PRIORITY": 3,
        "SYSLOG_FACILITY": 0,
        "SYSLOG_IDENTIFIER": "kernel",
        "_SOURCE_MONOTONIC_TIMESTAMP": micros,
        "MESSAGE": message,
    }
    return "".join(f"{name}={value}\n" for name, value in fields.items()) + "\n"


def main() -> int:
    """Write every line of standard input."""
    machine = Path("/etc/machine-id").read_text().strip()
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", "")
    host = Path("/etc/hostname").read_text().strip()
    for line in sys.stdin:
        if not line.strip():
            continue
        subprocess.run(
            [WRITER, "-o", f"/run/log/journal/{machine}/kernel.journal", "-"],
            input=entry(line.rstrip("\n"), machine, boot, host),
            text=True,
            check=True,
            capture_output=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
