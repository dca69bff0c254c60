"""Reboots the node. Runs until the reboot ends it, and so holds the step's lock until then. Arguments: none."""

from __future__ import annotations

import json
import subprocess
import sys
import time

done = subprocess.run(["systemctl", "reboot"], stderr=subprocess.PIPE, universal_newlines=True)
if done.returncode not in (0, -15, 143):  # ended by its own shutdown: as asked
    print(json.dumps({"why": "systemctl reboot: %s" % done.stderr.strip()[-300:]}))
    sys.exit(1)
time.sleep(300)
print(json.dumps({"why": "the node still runs five minutes after it was told to reboot"}))
sys.exit(1)
