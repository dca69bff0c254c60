"""`make bench`: the figures that can be measured on this machine, as a table, and as JSON under `.fleet/bench/`.

`python -m tests.benchmarks WORD` runs those whose name holds the word. Each figure is the best of some runs; ratios are
against a peer measured in the same run. What needs the lab is left out, and said so, where containers can't run.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks import deciding, nodes, starting
from tests.benchmarks.figure import Figure

ROOT = Path(__file__).resolve().parents[2]
SUITES: dict[str, Callable[[], list[Figure]]] = {
    "deciding": deciding.measure,
    "starting": starting.measure,
    "nodes": nodes.measure,
}


def main() -> int:
    """Measure, print, keep."""
    words = sys.argv[1:]
    found: list[Figure] = []
    for name, measure in SUITES.items():
        if words and not any(word in name for word in words):
            continue
        print(f"measuring: {name}", file=sys.stderr, flush=True)
        found += measure()
    print(f"{'what':58}{'measured':>12}{'to reach':>12}")
    for figure in found:
        verdict = "" if figure.reached is None else ("" if figure.reached else "  not reached")
        print(f"{figure.what:58}{figure.shown:>12}{figure.goal:>12}{verdict}{figure.note and '  ' + figure.note}")
    place = ROOT / ".fleet" / "bench"
    place.mkdir(parents=True, exist_ok=True)
    kept = place / f"{time.strftime('%Y%m%dT%H%M%S')}.json"
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "system": platform.platform()}
    kept.write_text(json.dumps({"schema": 1, "machine": machine, "figures": [f.plain() for f in found]}, indent=2))
    print(f"kept in {kept.relative_to(ROOT)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
