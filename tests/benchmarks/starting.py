"""What a person waits for before anything happens."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.benchmarks.figure import Figure, best

ROOT = Path(__file__).resolve().parents[2]
FLEET = str(Path(sys.executable).with_name("fleet"))
COMMANDS = {
    "fleet --help": ((FLEET, "--help"), 0.35),
    "fleet check inventory/lab": ((FLEET, "check", "inventory/lab"), 1.0),
}


def measure() -> list[Figure]:
    """Best of five starts."""
    found = []
    for what, (command, most) in COMMANDS.items():
        took = best(lambda c=command: subprocess.run(c, cwd=ROOT, capture_output=True, check=True))
        found.append(Figure(what, took, "s", most))
    return found
