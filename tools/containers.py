"""Can containers run here? Said in words, so that the demo and the tests can say why they do something else."""

from __future__ import annotations

import os
import shutil
import subprocess

NEEDED = ("podman", "runc", "mmdebstrap")
NAMESPACES = ("unshare", "--mount", "--pid", "--net", "--uts", "--ipc", "--fork", "true")


def why_not() -> str:
    """Empty where the lab's containers can run; else the reason, in a line."""
    if os.geteuid() != 0:
        return "the lab's nodes need root, and this is an ordinary account"
    absent = [command for command in NEEDED if shutil.which(command) is None]
    if absent:
        return f"{', '.join(absent)} not found; `make setup` installs it on Debian"
    tried = subprocess.run(NAMESPACES, capture_output=True, text=True, check=False, timeout=20)
    if tried.returncode != 0:
        return f"the kernel gives no namespaces ({(tried.stderr or 'unshare failed').strip().splitlines()[-1]})"
    return ""
