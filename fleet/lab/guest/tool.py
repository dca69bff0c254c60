"""STAND-IN, part of the lab: what `amd-smi`, `rocm-smi` and `nvidia-smi` on a lab node really start."""

from __future__ import annotations

import importlib
import sys

from fleet.lab.guest import accelerators as acc

TOOLS = {
    "amd-smi": ("amd", "amd_tools", "amd_smi"),
    "rocm-smi": ("amd", "amd_tools", "rocm_smi"),
    "nvidia-smi": ("nvidia", "nvidia_tools", "nvidia_smi"),
}


def main() -> int:
    """Run the tool named by the first argument; a node has only its own vendor's, as in life."""
    name = sys.argv[1]
    vendor, module, function = TOOLS[name]
    if acc.node().get("vendor") != vendor:
        print(f"{name}: command not found", file=sys.stderr)
        return 127
    acc.hang_if_told()
    return int(getattr(importlib.import_module(f"fleet.lab.guest.{module}"), function)(sys.argv[2:]))


if __name__ == "__main__":
    sys.exit(main())
