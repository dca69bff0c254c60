"""Resets every accelerator by its vendor's tool. Arguments: {"vendor": "amd" | "nvidia"}."""

from __future__ import annotations

import json
import subprocess
import sys

COMMANDS = {"amd": ["amd-smi", "reset", "--gpureset", "--gpu", "all"], "nvidia": ["nvidia-smi", "--gpu-reset"]}

argv = COMMANDS[json.load(sys.stdin)["vendor"]]
try:
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = done.stdout.decode("utf-8", "replace").strip()
    failed = done.returncode != 0
except FileNotFoundError:
    text, failed = "%s isn't installed" % argv[0], True
if failed:
    print(json.dumps({"why": "%s: %s" % (" ".join(argv), (text.splitlines() or ["it said nothing"])[-1][:300])}))
    sys.exit(1)
print(json.dumps({"changed": True, "detail": " ".join(argv)}))
