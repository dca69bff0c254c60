"""Unloads the accelerators' kernel modules and loads them again. Arguments: {"vendor": "amd" | "nvidia"}."""

from __future__ import annotations

import json
import subprocess
import sys

MODULES = {"amd": ["amdgpu"], "nvidia": ["nvidia_uvm", "nvidia_drm", "nvidia_modeset", "nvidia"]}


def run(argv):
    """Exit code and last line."""
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except FileNotFoundError:
        return 127, "%s isn't installed" % argv[0]
    return done.returncode, (done.stdout.decode("utf-8", "replace").strip().splitlines() or [""])[-1]


modules = MODULES[json.load(sys.stdin)["vendor"]]
for argv in (["modprobe", "-r", *modules], ["modprobe", modules[-1]]):
    code, said = run(argv)
    if code:
        print(json.dumps({"why": "%s: %s" % (" ".join(argv), said[:300] or "exit %d" % code)}))
        sys.exit(1)
print(json.dumps({"changed": True, "detail": "reloaded " + modules[-1]}))
