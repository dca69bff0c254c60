"""Restarts those of the named services that the node has, and sees that they run. Arguments: {"services": [names]}."""

from __future__ import annotations

import json
import subprocess
import sys


def systemctl(*arguments):
    """A finished systemctl."""
    return subprocess.run(
        ["systemctl", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )


restarted = []
for name in json.load(sys.stdin)["services"]:
    if systemctl("show", "-P", "LoadState", "--", name).stdout.strip() != "loaded":
        continue
    done = systemctl("restart", "--", name)
    if done.returncode or systemctl("is-active", "--", name).returncode:
        print(json.dumps({"why": "%s doesn't run after its restart: %s" % (name, done.stdout.strip()[-300:])}))
        sys.exit(1)
    restarted.append(name)
if not restarted:
    print(json.dumps({"why": "the node has none of the services that may be restarted"}))
    sys.exit(1)
print(json.dumps({"changed": True, "detail": "restarted " + ", ".join(restarted)}))
